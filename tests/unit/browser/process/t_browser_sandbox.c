/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compromised broker of the browser in its cage, and a compromised resolver of names:
 * the acts of an attacker, each with the right outcome.
 */
#include "browser/process/browser_sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define KILLED 1000 /* by SIGSYS */
#define CAGELESS 1001
#define FILE_OF_OURS "t_browser_sandbox.state"

static pid_t sibling; /* a further process of the test's user */
static int port;      /* of a listener of ours */
static char state[4096];

static int result(long rc)
{
	return rc < 0 ? errno : 0;
}

/* Define the act NAME, one call. */
#define ACT(name, call)                                                        \
	static int name(void)                                                  \
	{                                                                      \
		return result(call);                                           \
	}                                                                      \
	static int name(void)

/* ---- files ---- */

ACT(open_state, open(state, O_RDONLY));
ACT(open_state_at, syscall(SYS_openat, AT_FDCWD, state, O_WRONLY));
ACT(open_passwd, open("/etc/passwd", O_RDONLY));
ACT(open_resolv, open("/etc/nsswitch.conf", O_RDONLY));

static int open_proc(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)sibling);
	return result(open(path, O_RDONLY));
}

ACT(make_file, open("/etc/t_cage", O_CREAT | O_WRONLY, 0600));
ACT(make_folder, mkdir("t_browser_sandbox.folder", 0700));
ACT(remove_file, unlink(state));
ACT(rename_file, rename(state, "t_browser_sandbox.other"));
ACT(list_home, open("/root", O_RDONLY | O_DIRECTORY));

/* ---- processes ---- */

ACT(signal_other, kill(sibling, SIGTERM));
ACT(stop_starter, syscall(SYS_tgkill, sibling, sibling, SIGSTOP));
ACT(trace, ptrace(PTRACE_ATTACH, sibling, NULL, NULL));

static int read_memory(void)
{
	char byte;
	struct iovec own = {&byte, 1}, other = {&byte, 1};

	return result(
	    syscall(SYS_process_vm_readv, sibling, &own, 1L, &other, 1L, 0L));
}

ACT(take_descriptor, syscall(SYS_pidfd_open, sibling, 0));

static int run_a_program(void)
{
	char *argv[] = {(char *)"true", NULL};

	execv("/bin/true", argv);
	return errno;
}

static int fork_one(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return result(pid);
}

ACT(new_namespace, unshare(CLONE_NEWUSER));

static int clone_namespace(void)
{
	long pid =
	    syscall(SYS_clone, (long)(CLONE_NEWUSER | SIGCHLD), 0L, 0L, 0L, 0L);

	if (pid == 0)
		_exit(0);
	return result(pid);
}

ACT(mount_one, mount("none", "/tmp", "tmpfs", 0, NULL));

static int raise_limits(void)
{
	struct rlimit r = {4096, 4096};

	return result(setrlimit(RLIMIT_NOFILE, &r));
}

/* ---- sockets ---- */

static int connect_tcp(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return errno;
	return connect(fd, (void *)&to, sizeof(to)) == 0 || errno == EINPROGRESS
		   ? 0
		   : errno;
}

static int listen_tcp(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? errno : result(bind(fd, (void *)&any, sizeof(any)));
}

ACT(udp, socket(AF_INET, SOCK_DGRAM, 0));
ACT(raw, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
ACT(packet, socket(AF_PACKET, SOCK_RAW, 0));
ACT(vsock, socket(AF_VSOCK, SOCK_STREAM, 0));
ACT(local_socket, socket(AF_UNIX, SOCK_STREAM, 0));
ACT(netfilter, socket(AF_NETLINK, SOCK_RAW, 12 /* NETFILTER */));

/* ---- acts on the process itself ---- */

static int code(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
		   ? errno
		   : 0;
}

ACT(be_root, setuid(0));

static int io_uring(void)
{
	char params[120] = {0};

	return result(syscall(SYS_io_uring_setup, 1L, params));
}

ACT(bpf, syscall(SYS_bpf, 0L, NULL, 0L));
ACT(keyring, syscall(SYS_keyctl, 0L, -3L, 0L));
ACT(dumpable, prctl(PR_SET_DUMPABLE, 1));

static int allocate(void)
{
	void *p = malloc(1 << 20);

	free(p);
	return p == NULL;
}

static int resolve_a_name(void)
{
	struct addrinfo *list;

	return getaddrinfo("localhost", NULL, NULL, &list);
}

/* As broker and as resolver: 0, an errno, or KILLED. */
static const struct {
	const char *name;
	int (*act)(void);
	int broker, names;
} acts[] = {
    {"allocate", allocate, 0, 0},
    {"open a state", open_state, EPERM, EACCES},
    {"open it otherwise", open_state_at, EPERM, EACCES},
    {"open /etc/passwd", open_passwd, EPERM, 0},
    {"open how names are resolved", open_resolv, EPERM, 0},
    {"open another's environment", open_proc, EPERM, EACCES},
    {"list a home", list_home, EPERM, EACCES},
    {"make a file", make_file, EPERM, EACCES},
    {"make a folder", make_folder, KILLED, ENOSYS},
    {"remove a file", remove_file, KILLED, ENOSYS},
    {"rename a file", rename_file, KILLED, ENOSYS},
    {"signal another", signal_other, KILLED, EPERM},
    {"stop a thread of another", stop_starter, KILLED, ENOSYS},
    {"trace another", trace, KILLED, ENOSYS},
    {"read another's memory", read_memory, KILLED, ENOSYS},
    {"open another as a descriptor", take_descriptor, KILLED, ENOSYS},
    {"run a program", run_a_program, KILLED, ENOSYS},
    {"fork", fork_one, KILLED, 0},
    {"make a namespace", new_namespace, KILLED, ENOSYS},
    {"be spawned into one", clone_namespace, KILLED, ENOSYS},
    {"mount", mount_one, KILLED, ENOSYS},
    {"raise a limit", raise_limits, KILLED, ENOSYS},
    {"connect over TCP", connect_tcp, 0, EACCES},
    {"listen for TCP", listen_tcp, KILLED, EACCES},
    {"open a UDP socket", udp, KILLED, 0},
    {"open a raw socket", raw, KILLED, -1},
    {"open a packet socket", packet, KILLED, ENOSYS},
    {"open a socket to a hypervisor", vsock, KILLED, ENOSYS},
    {"open a local socket", local_socket, KILLED, 0},
    {"talk to the packet filter", netfilter, KILLED, ENOSYS},
    {"write code", code, KILLED, 0},
    {"become root", be_root, KILLED, ENOSYS},
    {"set up io_uring", io_uring, KILLED, ENOSYS},
    {"load BPF", bpf, KILLED, ENOSYS},
    {"take a keyring", keyring, KILLED, ENOSYS},
    {"be dumped", dumpable, KILLED, ENOSYS},
    {"resolve a name", resolve_a_name, -1, 0},
};

static int enter(bool names)
{
	const char *step;
	struct browser_sandbox c;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return names ? browser_sandbox_enter_names()
		     : browser_sandbox_enter(&c, &step);
}

static int outcome(bool names, int (*act)(void))
{
	int ends[2], status, came = CAGELESS;
	pid_t pid;

	if (pipe(ends) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		if (enter(names) == 0)
			came = act();
		(void)!write(ends[1], &came, sizeof(came));
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], &came, sizeof(came)) != sizeof(came))
		came = 0;
	close(ends[0]);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? KILLED
								 : came;
}

static void listen_here(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET,
				  .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(any);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(fd, (void *)&any, sizeof(any)) != 0 || listen(fd, 64) != 0 ||
	    getsockname(fd, (void *)&any, &len) != 0)
		abort();
	port = ntohs(any.sin_port);
}

static void make_state(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(state, sizeof(state), "%s/" FILE_OF_OURS,
		 dir != NULL ? dir : "/tmp");
	fd = open(state, O_CREAT | O_WRONLY | O_TRUNC, 0666);
	if (fd < 0)
		abort();
	close(fd);
}

static void test_kind(bool names)
{
	for (size_t i = 0; i < ARRAY_LEN(acts); i++) {
		int want = names ? acts[i].names : acts[i].broker;

		if (want >= 0)
			is_int(outcome(names, acts[i].act), want, "%s: %s",
			       names ? "the resolver" : "the broker",
			       acts[i].name);
	}
}

static void test_measure(void)
{
	int ends[2];
	struct browser_sandbox c = {0};
	const char *step;
	pid_t pid;

	if (pipe(ends) != 0)
		abort();
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		(void)!browser_sandbox_enter(&c, &step);
		(void)!write(ends[1], &c, sizeof(c));
		_exit(0);
	}
	if (read(ends[0], &c, sizeof(c)) != sizeof(c))
		abort();
	waitpid(pid, NULL, 0);
	ok(c.seccomp && c.limits, "the filter and limits are seen to hold");
	ok(c.landlock > 0, "Landlock is seen to hold (%d)", c.landlock);
	is_int(c.uid, geteuid(), "the measured uid is the process's");
}

int main(void)
{
	sibling = fork();
	if (sibling == 0) {
		for (;;)
			pause();
	}
	listen_here();
	make_state();
	test_measure();
	test_kind(false);
	test_kind(true);
	ok(waitpid(sibling, NULL, WNOHANG) == 0, "the other process lives");
	ok(access(state, R_OK | W_OK) == 0, "the state folder is still there");
	kill(sibling, SIGKILL);
	waitpid(sibling, NULL, 0);
	unlink(state);
	return tap_done();
}
