/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest.c - measures the sandbox of Lua workers: zygote.c clones a worker, which
 * checks each layer and then makes system calls that the filter must deny. Without an
 * answer of the worker the result is -errno, and the zygote reports no sandbox.
 */
#include "worker/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "ipc/zygote_proto.h"
#include "sandbox/caps.h"
#include "sandbox/fds.h"
#include "sandbox/landlock.h"
#include "sandbox/rlimits.h"
#include "worker/clone.h"

#define ANSWER_MS 5000 /* far longer than necessary */
#define TEST_CPU_MS 1000
#define TEST_MEMORY_BYTES (16u << 20)

_Static_assert(SANDBOX_RUN_FD == ZYGOTE_PROTO_RUN_FD,
	       "one run, one descriptor");
_Static_assert(SANDBOX_RUN_FD == ZYGOTE_PROTO_CONTROL_FD,
	       "the filter names just one");

static pid_t other_process; /* the supervisor */
/* in the worker: the worker's parameters */
static const struct sandbox_worker *tried;
static volatile sig_atomic_t trapped;

/* Part one: checks before the filter. */

bool selftest_no_new_privs(const struct sandbox *sb)
{
	(void)sb;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static bool no_caps(const struct sandbox *sb)
{
	(void)sb;
	return caps_are_none() && setresuid(0, 0, 0) != 0 && chroot("/") != 0 &&
	       sethostname("", 0) != 0;
}

/* ns.c compared the inode of the namespace before and after. */
static bool own_userns(const struct sandbox *sb)
{
	return sb->err[SANDBOX_USERNS] == 0;
}

/* In a new network namespace not even loopback is up. */
static bool own_netns(const struct sandbox *sb)
{
	struct sockaddr_in lo = {.sin_family = AF_INET,
				 .sin_port = htons(9),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	bool reached;
	int fd;

	close(STDIN_FILENO); /* RLIMIT_NOFILE allows no fifth descriptor */
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	reached =
	    fd >= 0 && connect(fd, (struct sockaddr *)&lo, sizeof(lo)) == 0;
	sys_close(fd);
	return sb->err[SANDBOX_NETNS] == 0 && !reached;
}

static bool own_ipcns(const struct sandbox *sb)
{
	struct shm_info info = {0};

	if (shmctl(0, SHM_INFO, (struct shmid_ds *)&info) >= 0 &&
	    info.used_ids > 0)
		return false;
	return sb->err[SANDBOX_IPCNS] == 0;
}

bool selftest_own_utsns(const struct sandbox *sb)
{
	struct utsname u;

	return sb->err[SANDBOX_UTSNS] == 0 && uname(&u) == 0 &&
	       strcmp(u.nodename, SANDBOX_UTS_NAME) == 0;
}

static bool own_mntns(const struct sandbox *sb)
{
	return sb->err[SANDBOX_MNTNS] == 0 &&
	       mount("none", "/", "tmpfs", 0, NULL) != 0;
}

static bool empty_root(const struct sandbox *sb)
{
	static const char *const usual[] = {"/etc", "/usr",  "/bin", "/proc",
					    "/dev", "/home", "/tmp"};
	struct statvfs fs;
	struct stat st;

	(void)sb;
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (stat(usual[i], &st) == 0 || errno != ENOENT)
			return false;
	if (mkdir("/made", 0700) == 0 || stat("/", &st) != 0 ||
	    statvfs("/", &fs) != 0)
		return false;
	if (st.st_nlink == 0)
		return true; /* a deleted folder stays empty */
	return (fs.f_flag & ST_RDONLY) != 0 && fs.f_files == 1;
}

static bool own_uid(const struct sandbox *sb)
{
	uid_t want = sb->first_id + tried->slot, r, e, s;

	return sb->own_ids && getresuid(&r, &e, &s) == 0 && r == want &&
	       e == want && s == want && getgid() == want &&
	       getgroups(0, NULL) == 0;
}

/* Landlock alone denies bind(2) for TCP, since bind(2) needs no capability. */
static bool tcp_denied(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	bool denied;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return true;
	denied = bind(fd, (struct sockaddr *)&any, sizeof(any)) != 0 &&
		 errno == EACCES;
	close(fd);
	return denied;
}

static bool landlocked(const struct sandbox *sb)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY);

	sys_close(fd);
	if (fd >= 0 || errno != EACCES)
		return false;
	if (sb->landlock_abi >= LANDLOCK_ABI_NET && !tcp_denied())
		return false;
	return sb->landlock_abi < LANDLOCK_ABI_SCOPE ||
	       kill(other_process, 0) != 0;
}

static bool limited(const struct sandbox *sb)
{
	size_t much = rlimits_address_space(sb, tried);
	void *p = mmap(NULL, much, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED) {
		munmap(p, much);
		return false;
	}
	return rlimits_hold(sb, tried);
}

static bool is_closed(const struct sandbox *sb)
{
	(void)sb;
	return fds_are_closed();
}

static bool empty_env(const struct sandbox *sb)
{
	(void)sb;
	/* lua_job_prepare() sets the time zone */
	return environ == NULL || *environ == NULL ||
	       (strcmp(environ[0], "TZ=UTC0") == 0 && environ[1] == NULL);
}

static bool undumpable(const struct sandbox *sb)
{
	(void)sb;
	return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;
}

static bool dies_with_parent(const struct sandbox *sb)
{
	int sig = 0;

	(void)sb;
	return prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0) == 0 && sig == SIGKILL;
}

/* The order matters: is_closed() counts descriptors, own_netns() closes a descriptor. */
static const struct {
	enum sandbox_layer layer;
	bool (*holds)(const struct sandbox *sb);
} facts[] = {
    {SANDBOX_CLOSED, is_closed},
    {SANDBOX_NNP, selftest_no_new_privs},
    {SANDBOX_UNDUMPABLE, undumpable},
    {SANDBOX_PDEATHSIG, dies_with_parent},
    {SANDBOX_EMPTY_ENV, empty_env},
    {SANDBOX_UID, own_uid},
    {SANDBOX_RLIMITS, limited},
    {SANDBOX_USERNS, own_userns},
    {SANDBOX_NETNS, own_netns},
    {SANDBOX_IPCNS, own_ipcns},
    {SANDBOX_UTSNS, selftest_own_utsns},
    {SANDBOX_MNTNS, own_mntns},
    {SANDBOX_ROOT, empty_root},
    {SANDBOX_LANDLOCK, landlocked},
    {SANDBOX_CAPS, no_caps},
};

/* Part two: system calls that only the filter denies. */

#define TRAPS SELFTEST_TRAPS
#define P(x) ((long)(x))
#define RX (PROT_READ | PROT_EXEC)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static struct sockaddr_in addr = {.sin_family = AF_INET};
static struct __user_cap_header_struct cap_head = {
    .version = _LINUX_CAPABILITY_VERSION_3};
static struct __user_cap_data_struct cap_data[2];
static char byte[1];
static char *no_args[1];

static const struct selftest_act acts[] = {
    {"open /", SYS_openat, EACCES, {AT_FDCWD, P("/"), O_RDONLY}},
    {"open /etc/passwd", SYS_openat, EACCES, {AT_FDCWD, P("/etc/passwd"), 0}},
    {"ioctl", SYS_ioctl, ENOTTY, {SANDBOX_RUN_FD, 0x5412, P(byte)}},
    {"socket inet", SYS_socket, TRAPS, {AF_INET, SOCK_STREAM, 0}},
    {"socket unix", SYS_socket, TRAPS, {AF_UNIX, SOCK_STREAM, 0}},
    {"connect", SYS_connect, TRAPS, {SANDBOX_RUN_FD, P(&addr), sizeof(addr)}},
    {"bind", SYS_bind, TRAPS, {SANDBOX_RUN_FD, P(&addr), sizeof(addr)}},
    {"recvmsg", SYS_recvmsg, TRAPS, {SANDBOX_RUN_FD, 0, MSG_DONTWAIT}},
    {"sendmsg", SYS_sendmsg, TRAPS, {SANDBOX_RUN_FD, 0, MSG_DONTWAIT}},
    {"write to 2", SYS_write, TRAPS, {2, P(byte), 1}},
    {"read from 0", SYS_read, TRAPS, {0, P(byte), 1}},
    {"dup", SYS_dup, TRAPS, {SANDBOX_RUN_FD}},
    {"fork", SYS_clone, TRAPS, {SIGCHLD}},
    {"clone", SYS_clone, TRAPS, {CLONE_PARENT | SIGCHLD}},
    {"execve",
     SYS_execve,
     TRAPS,
     {P("/proc/self/exe"), P(no_args), P(no_args)}},
    {"kill", SYS_kill, TRAPS, {-1, 0}},
    {"tgkill", SYS_tgkill, TRAPS, {1, 1, 0}},
    {"ptrace", SYS_ptrace, TRAPS, {PTRACE_TRACEME}},
    {"process_vm_readv", SYS_process_vm_readv, TRAPS, {1, 0, 0, 0, 0, 0}},
    {"mount", SYS_mount, TRAPS, {P("none"), P("/"), P("tmpfs"), 0, 0}},
    {"umount", SYS_umount2, TRAPS, {P("/"), MNT_DETACH}},
    {"chroot", SYS_chroot, TRAPS, {P("/")}},
    {"chdir", SYS_chdir, TRAPS, {P("/")}},
    {"unshare", SYS_unshare, TRAPS, {CLONE_NEWUSER}},
    {"setns", SYS_setns, TRAPS, {SANDBOX_RUN_FD, 0}},
    {"setuid", SYS_setresuid, TRAPS, {0, 0, 0}},
    {"setgid", SYS_setresgid, TRAPS, {0, 0, 0}},
    {"capset", SYS_capset, TRAPS, {P(&cap_head), P(cap_data)}},
    {"set dumpable", SYS_prctl, TRAPS, {PR_SET_DUMPABLE, 1}},
    {"clear pdeathsig", SYS_prctl, TRAPS, {PR_SET_PDEATHSIG, 0}},
    {"prlimit64", SYS_prlimit64, TRAPS, {0, 0, 0, 0}},
    {"timer_create", SYS_timer_create, TRAPS, {0, 0, 0}},
    {"timer_settime", SYS_timer_settime, TRAPS, {0, 0, 0, 0}},
    {"setitimer", SYS_setitimer, TRAPS, {ITIMER_PROF, 0, 0}},
    {"rt_sigaction", SYS_rt_sigaction, TRAPS, {SIGXCPU, 0, 0, 8}},
    {"rt_sigprocmask", SYS_rt_sigprocmask, TRAPS, {0, 0, 0, 8}},
    {"seccomp", SYS_seccomp, TRAPS, {1, 0, 0}},
    {"mmap exec", SYS_mmap, TRAPS, {0, 4096, RX, ANON, -1, 0}},
    {"mmap shared",
     SYS_mmap,
     TRAPS,
     {0, 4096, 1, MAP_SHARED | MAP_ANONYMOUS, -1}},
    {"mprotect exec", SYS_mprotect, TRAPS, {0, 4096, RX}},
    {"memfd_create", SYS_memfd_create, TRAPS, {P("x"), 0}},
    {"io_uring_setup", SYS_io_uring_setup, TRAPS, {1, 0}},
    {"bpf", SYS_bpf, TRAPS, {0, 0, 0}},
    {"perf_event_open", SYS_perf_event_open, TRAPS, {0, 0, -1, -1, 0}},
    {"userfaultfd", SYS_userfaultfd, TRAPS, {0}},
    {"keyctl", SYS_keyctl, TRAPS, {0, -3, 0}},
    {"splice", SYS_splice, TRAPS, {0, 0, SANDBOX_RUN_FD, 0, 1, 0}},
    {"pidfd_open", SYS_pidfd_open, TRAPS, {1, 0}},
    {"open_by_handle_at", SYS_open_by_handle_at, TRAPS, {0, 0, 0}},
    {"another's clock", SYS_clock_gettime, TRAPS, {-16 & ~7, P(byte)}},
};

/* The kernel skips the denied call and continues behind the call. */
static void on_sigsys(int sig)
{
	(void)sig;
	trapped = 1;
}

/*
 * Is ACT denied? The filter of a container may deny the call first, with EPERM instead of
 * ENOSYS.
 */
static bool denied(const struct selftest_act *act)
{
	const long *a = act->arg;
	long rc;

	trapped = 0;
	errno = 0;
	rc = syscall(act->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (act->nr == SYS_clone && rc == 0 && !trapped)
		_exit(0); /* the child that must not exist */
	if (act->want == SELFTEST_TRAPS)
		return trapped != 0;
	return rc == -1 && trapped == 0 &&
	       (errno == act->want || (act->want == ENOSYS && errno == EPERM));
}

bool selftest_denied(const struct selftest_act *list, size_t n,
		     struct selftest *found)
{
	size_t len = 0, size = sizeof(found->text);

	for (size_t i = 0; i < n; i++) {
		if (denied(&list[i]))
			continue;
		if (len < size)
			len += (size_t)snprintf(
			    found->text + len, size - len, "%s%s",
			    len > 0 ? ", " : "not denied: ", list[i].name);
	}
	return len == 0;
}

/* In the tested worker: check and send the result. */
static void measure_cage(const struct sandbox *sb,
			 const struct sandbox_worker *w)
{
	struct sigaction sa = {.sa_handler = on_sigsys};
	struct selftest found = {0};
	int rc;

	tried = w;
	sigaction(SIGSYS, &sa, NULL);
	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		if (facts[i].holds(sb))
			found.held |= 1u << facts[i].layer;
	rc = sandbox_seal(sb, w);
	found.err = rc;
	if (rc != 0)
		snprintf(found.text, sizeof(found.text), "%s",
			 sandbox_layer_remedy(SANDBOX_SECCOMP, rc));
	else if (selftest_denied(acts, ARRAY_LEN(acts), &found))
		found.held |= 1u << SANDBOX_SECCOMP;
	send(SANDBOX_RUN_FD, &found, sizeof(found), MSG_NOSIGNAL);
	_exit(EXIT_SUCCESS);
}

/* Add an answer to FOUND, with a timeout. 0 or -errno. */
static int await_answer(int fd, struct selftest *found)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct selftest one;
	int n = poll(&p, 1, ANSWER_MS);

	if (n < 0)
		return -errno;
	if (n == 0)
		return -ETIMEDOUT;
	if (recv(fd, &one, sizeof(one), 0) != (ssize_t)sizeof(one))
		return -EPIPE;
	found->held |= one.held;
	found->bare |= one.bare;
	found->err = one.err;
	memcpy(found->text, one.text, sizeof(found->text));
	found->text[sizeof(found->text) - 1] = '\0';
	return 0;
}

int selftest_await(pid_t pid, const int ends[2], int answers,
		   struct selftest *found, int *status)
{
	int rc = pid < 0 ? pid : 0;

	close(ends[1]);
	for (int i = 0; i < answers && rc == 0; i++)
		rc = await_answer(ends[0], found);
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, status, 0);
	}
	return rc;
}

const char *selftest_lost_layer(int status)
{
	int layer = WIFEXITED(status)
			? WEXITSTATUS(status) - ZYGOTE_PROTO_EXIT_UNCAGED
			: -1;

	return layer >= 0 && layer < SANDBOX_LAYERS
		   ? sandbox_layer_name((enum sandbox_layer)layer)
		   : NULL;
}

int selftest_run(const struct sandbox *sb, pid_t supervisor,
		 void (*meanwhile)(void), struct selftest *found)
{
	struct sandbox_worker w = {.cpu_ms = TEST_CPU_MS,
				   .memory_bytes = TEST_MEMORY_BYTES};
	int ends[2], status = 0, rc;
	const char *layer;
	pid_t pid;

	*found = (struct selftest){0};
	other_process = supervisor;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	w.run_fd = ends[1];
	pid = clone_worker(sb, &w, CLONE_OF_ZYGOTE, measure_cage);
	meanwhile();
	rc = selftest_await(pid, ends, 1, found, &status);
	if (pid <= 0 || rc == 0)
		return rc;
	layer = selftest_lost_layer(status);
	if (WIFSIGNALED(status))
		snprintf(found->text, sizeof(found->text), "died of SIG%s",
			 sigabbrev_np(WTERMSIG(status)));
	else if (layer != NULL)
		snprintf(found->text, sizeof(found->text), "%s failed", layer);
	else
		snprintf(found->text, sizeof(found->text), "exit status %d",
			 WEXITSTATUS(status));
	return rc;
}
