/* SPDX-License-Identifier: Apache-2.0 */
/* The other steps of the cage, each alone, in children. */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/caps.h"
#include "sandbox/fds.h"
#include "sandbox/filter.h"
#include "sandbox/uids.h"
#include "sandbox/landlock.h"
#include "sandbox/rlimits.h"
#include "sandbox/sandbox_program.h"
#include "tests/unit/sandbox/sandbox_fixture.h"

static long word = 7;

static const struct sandbox bare = {.bare_bytes = 64u << 20, .slots = 256};

static int spin(bool timers)
{
	struct sandbox_worker w = {.cpu_ms = 20, .memory_bytes = 1u << 20};
	scmp_filter_ctx ctx;

	if (!timers) {
		ctx = seccomp_init(SCMP_ACT_ALLOW);
		seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS),
				 SCMP_SYS(timer_create), 0);
		if (seccomp_load(ctx) != 0)
			return 99;
		seccomp_release(ctx);
	}
	signal(SIGXCPU, on_sigsys);
	if (rlimits_worker(&bare, &w) != 0)
		return 98;
	for (;;)
		word++;
}

static int spin_by_timer(void)
{
	return spin(true);
}

static int spin_by_itimer(void)
{
	return spin(false);
}

/* Ignore SIGXCPU: the hard limit must kill. */
static int spin_on(void)
{
	struct sandbox_worker w = {.cpu_ms = 1, .memory_bytes = 1u << 20};

	signal(SIGXCPU, SIG_IGN);
	if (rlimits_worker(&bare, &w) != 0)
		return 98;
	for (;;)
		word++;
}

static int eat_memory(void)
{
	struct sandbox_worker w = {.cpu_ms = 5000, .memory_bytes = 8u << 20};
	size_t fits = 8u << 20;
	size_t much = 1u << 30;

	if (rlimits_worker(&bare, &w) != 0)
		return 1;
	if (mmap(NULL, much, RW, ANON, -1, 0) != MAP_FAILED || errno != ENOMEM)
		return 2;
	return mmap(NULL, fits, RW, ANON, -1, 0) != MAP_FAILED ? 0 : 3;
}

static int endless_memory(void)
{
	struct sandbox_worker w = {.cpu_ms = UINT64_MAX / 2,
				   .memory_bytes = UINT64_MAX};

	return rlimits_worker(&bare, &w) == 0 ? 0 : 1;
}

static int open_and_fork(void)
{
	struct sandbox_worker w = {.cpu_ms = 5000, .memory_bytes = 8u << 20};

	fds_close_from(3);
	dup2(2, S);
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return 1;
	if (rlimits_worker(&bare, &w) != 0)
		return 2;
	if (dup(2) >= 0 || errno != EMFILE)
		return 3;
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) != -1 || errno != EAGAIN)
		return 4;
	return 0;
}

static int notice_limits(void)
{
	struct sandbox_worker w = {.cpu_ms = 5000, .memory_bytes = 8u << 20};
	struct sandbox sb = bare;

	if (rlimits_hold(&sb, &w))
		return 1;
	if (rlimits_zygote(&sb) != 0 || rlimits_worker(&sb, &w) != 0)
		return 2;
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return 3;
	return rlimits_hold(&sb, &w) ? 0 : 4;
}

TEST(limits)
{
	is_int(in_child(spin_by_timer), EXIT_TRAPPED,
	       "CPU time ends in SIGXCPU");
	is_int(in_child(spin_by_itimer), EXIT_TRAPPED,
	       "CPU time ends in SIGXCPU without POSIX timers");
	is_int(in_child(spin_on), -SIGKILL,
	       "a process ignoring SIGXCPU is killed");
	is_int(in_child(eat_memory), 0, "the ordered memory fits, and no more");
	is_int(in_child(endless_memory), 0, "endless limits are limits too");
	is_int(in_child(open_and_fork), 0, "no file and no process more");
	is_int(in_child(notice_limits), 0, "limits_hold() sees the difference");
}

static int shuffle(void)
{
	int ends[2], null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		return 1;
	if (fds_are_closed())
		return 2;
	if (fds_worker(ends[1]) != 0)
		return 3;
	if (!fds_are_closed())
		return 4;
	if (fcntl(S, F_DUPFD, 100) != 100 || fds_are_closed())
		return 5;
	close(100);
	close(2);
	dup2(S, 2);
	return fds_are_closed() ? 6 : 0; /* 2 is not null */
}

static int close_slowly(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};

	setrlimit(RLIMIT_NOFILE, &few);
	seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(close_range), 0);
	if (seccomp_load(ctx) != 0)
		return 1;
	if (fcntl(0, F_DUPFD, 50) != 50 || fds_close_from(3) != 0)
		return 2;
	return fcntl(50, F_GETFD) < 0 ? 0 : 3;
}

TEST(fds)
{
	is_int(in_child(shuffle), 0, "a worker keeps null and its socket");
	is_int(in_child(close_slowly), 0,
	       "a worker keeps null and the socket without close_range()");
	is_int(fds_worker(-1), -EBADF, "no socket is an error");
}

static int orphaned(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
		return 1;
	if (pdeathsig_set(ends[1]) != 0)
		return 2;
	if (prctl(PR_GET_DUMPABLE) != 0)
		return 3;
	close(ends[0]);
	return pdeathsig_set(ends[1]) == -ESRCH ? 0 : 4;
}

static int powerless(void)
{
	struct sandbox sb = {0};

	if (caps_are_none())
		return 1;
	caps_lock(&sb);
	if (sb.err[SANDBOX_CAPS] != 0 || sb.err[SANDBOX_NNP] != 0)
		return 2;
	if (caps_keep(CAPS_KILL) != 0 || caps_are_none())
		return 3;
	if (setresuid(1, 1, 1) != 0 || setresuid(2, 2, 2) != 0)
		return 4; /* a change of uid must keep the kept capability */
	if (kill(getppid(), 0) != 0)
		return 5;
	if (caps_keep(0) != 0 || kill(getppid(), 0) == 0)
		return 6;
	if (caps_none() != 0 || !caps_are_none())
		return 7;
	return setresuid(1, 1, 1) != 0 ? 0 : 8;
}

static int landlocked(void)
{
	struct sandbox sb = {0};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (landlock_enter(&sb) != 0 || sb.landlock_abi < 1)
		return 1;
	if (open("/", O_RDONLY) >= 0 || errno != EACCES)
		return 2;
	if (open("/dev/null", O_WRONLY) >= 0 || errno != EACCES)
		return 3;
	return sb.landlock_abi < LANDLOCK_ABI_SCOPE || kill(getppid(), 0) != 0
		   ? 0
		   : 4;
}

/* Listen on a port of the loopback, which is written to *AT. */
static bool listens(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	return bind(fd, (struct sockaddr *)at, len) == 0 &&
	       listen(fd, 1) == 0 &&
	       getsockname(fd, (struct sockaddr *)at, &len) == 0;
}

static bool connects(const struct sockaddr_in *at)
{
	return connect(socket(AF_INET, SOCK_STREAM, 0),
		       (const struct sockaddr *)at, sizeof(*at)) == 0;
}

/* Landlock leaves a port, and files that exist. */
static int left_port(void)
{
	static const char *const read[] = {"/no/such/file", "/proc", NULL};
	struct sockaddr_in one, other;
	const struct landlock_leave none = {.read = read};
	struct landlock_leave port = {.read = read};

	if (!listens(&one) || !listens(&other))
		return 1;
	port.connect_port = ntohs(one.sin_port);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	errno = ENOENT; /* of an earlier failure */
	if (landlock_leave(&port) < LANDLOCK_ABI_NET)
		return 2;
	if (!connects(&one) || connects(&other))
		return 3;
	if (open("/proc/self/stat", O_RDONLY) < 0 || open("/", O_RDONLY) >= 0)
		return 4;
	if (landlock_leave(&none) < LANDLOCK_ABI_NET)
		return 5;
	return connects(&one) ? 6 : 0;
}

/*
 * Of a program without a cage: other processes of the program's user must be out of
 * reach.
 */
static int left_alone(void)
{
	struct sandbox sb = {.slots = 1};
	const struct sandbox_program p = {
	    .limits = {.processes = 8, .open_files = 64},
	    .w.memory_bytes = 64u << 20};

	landlock_find(&sb);
	if (filter_make(FILTER_PROGRAM, &sb.program_filter) != 0)
		return 1;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (kill(getppid(), 0) != 0)
		return 2;
	if (sandbox_leave_to_program(&sb, &p) < 0)
		return 3;
	if (open("/", O_RDONLY) < 0)
		return 4; /* files are the root's matter */
	return kill(getppid(), 0) != 0 && errno == EPERM ? 0 : 5;
}

/* A tool that builds a package is executed, and executes nothing itself. */
static int built(void)
{
	struct sandbox sb = {.slots = 1};
	const struct sandbox_program p = {
	    .limits = {.processes = 8, .open_files = 64},
	    .w.memory_bytes = 64u << 20};
	const char *path = "/bin/true";

	if (filter_make(FILTER_BUILD, &sb.program_filter) != 0)
		return 2;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	errno = 0;
	if (sandbox_leave_to_build(&sb, &p, &path) != 0)
		return 3;
	execl("/bin/false", "false", (char *)NULL); /* ends with status 1 */
	if (errno != EPERM && errno != EACCES)
		return 4;
	execl(path, path, (char *)NULL);
	return 5;
}

/*
 * A key of the session which starts a zygote, by the function which builds the cage.
 */
static int keyed(int (*build)(struct sandbox *sb))
{
	static const char type[] = "user", name[] = "paddock-t-sandbox";
	struct sandbox sb;
	long ring, key;

	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0)
		return 1;
	ring = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID,
		       KEY_SPEC_SESSION_KEYRING, 0);
	key =
	    syscall(SYS_add_key, type, name, "x", 1, KEY_SPEC_SESSION_KEYRING);
	/* any holder of the session may read the key, under any later uid */
	if (ring < 0 || key < 0 ||
	    syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f3f3f) != 0 ||
	    syscall(SYS_keyctl, KEYCTL_SETPERM, ring, 0x3f3f3f3f) != 0 ||
	    syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, type,
		    name, 0) != key)
		return 2;
	if (build(&sb) != 0)
		return 3;
	if (syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, type,
		    name, 0) >= 0)
		return 4;
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID,
		       KEY_SPEC_SESSION_KEYRING, 0) != ring
		   ? 0
		   : 5;
}

static int build_lua(struct sandbox *sb)
{
	return sandbox_build(sb, 4, 0);
}

static int build_program(struct sandbox *sb)
{
	static struct rootfs none;
	enum sandbox_layer failed;
	const char *at;

	return sandbox_build_program(sb, 4, 0, &none, &failed, &at);
}

static int keyed_lua(void)
{
	return keyed(build_lua);
}

static int keyed_program(void)
{
	return keyed(build_program);
}

static bool is_limit(int resource, rlim_t max)
{
	struct rlimit l;

	return getrlimit(resource, &l) == 0 && l.rlim_cur == max &&
	       l.rlim_max == max;
}

/* The limits of a program's process, which the process cannot raise. */
static int limited(void)
{
	const struct sandbox_program p = {
	    .limits = {.processes = 8, .open_files = 20},
	    .w.cpu_ms = 3000,
	    .w.memory_bytes = 64u << 20};
	struct rlimit more = {21, 21};
	int fds = 0;

	if (rlimits_program(&p) != 0 || is_limit(RLIMIT_NOFILE, 20))
		return 1; /* open descriptors may still have higher numbers */
	if (rlimits_program_files(&p) != 0 || !is_limit(RLIMIT_NOFILE, 20))
		return 2;
	if (!is_limit(RLIMIT_SIGPENDING, RLIMITS_SIGNALS) ||
	    !is_limit(RLIMIT_NPROC, 10) || !is_limit(RLIMIT_CPU, 5) ||
	    !is_limit(RLIMIT_FSIZE, 64u << 20))
		return 3;
	if (getpriority(PRIO_PROCESS, 0) != 10)
		return 7;
	while (dup(0) >= 0)
		fds++;
	if (errno != EMFILE || fds > 20)
		return 4;
	/* root is not a program */
	if (geteuid() == 0 && setresuid(12345, 12345, 12345) != 0)
		return 5;
	return setrlimit(RLIMIT_NOFILE, &more) != 0 && errno == EPERM ? 0 : 6;
}

/* A process with low limits of its own keeps most: three of four signals. */
static int shares(void)
{
	struct rlimit before = {4000, 8000}, after;

	if (setrlimit(RLIMIT_SIGPENDING, &before) != 0 ||
	    rlimits_userns() != 0 || getrlimit(RLIMIT_SIGPENDING, &after) != 0)
		return 1;
	return after.rlim_max == 1000 ? 0 : 2;
}

static int slots(void)
{
	struct sandbox sb = {.slots = 256};

	prctl(PR_SET_KEEPCAPS, 1);
	if (uids_zygote_direct(&sb) != -ENOENT || getuid() != 0)
		return 4; /* no user ids are kept for the cage */
	sb.host_ids = 60600;
	if (uids_zygote_direct(&sb) != 0 || !sb.own_ids)
		return 1;
	if (getuid() != (uid_t)sb.uid_base + 256 || getgid() != getuid())
		return 2;
	return sb.first_id == (unsigned int)sb.uid_base ? 0 : 3;
}

static void test_keys(void)
{
	if (syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING,
		    1) < 0 &&
	    errno == ENOSYS) {
		skip("no keyrings here",
		     "no key of the starter is in the cage");
		return;
	}
	is_int(in_child(keyed_lua), 0, "no key of the starter is in the cage");
	is_int(in_child(keyed_program), 0,
	       "no key of the starter is in the cage of programs");
}

TEST(steps)
{
	test_keys();
	is_int(in_child(limited), 0, "a program's limits are what was ordered");
	is_int(in_child(shares), 0, "the cage takes a part of who starts it");
	is_int(in_child(built), 0, "a build executes a single program");
	is_int(in_child(orphaned), 0,
	       "an orphan is told of the end of its parent");
	if (syscall(444 /* landlock_create_ruleset */, NULL, 0, 1) > 0)
		is_int(in_child(landlocked), 0, "Landlock denies all it can");
	else
		skip("no Landlock here", "Landlock denies all it can");
	if (syscall(444, NULL, 0, 1) >= LANDLOCK_ABI_NET)
		is_int(in_child(left_port), 0,
		       "Landlock leaves the port that it is told to leave");
	else
		skip("no ports of Landlock here",
		     "Landlock leaves the port that it is told to leave");
	if (syscall(444, NULL, 0, 1) >= LANDLOCK_ABI_SCOPE)
		is_int(in_child(left_alone), 0,
		       "a program signals nobody outside");
	else
		skip("no scopes of Landlock here",
		     "a program signals nobody outside");
	if (geteuid() != 0) {
		skip("not root", "capabilities");
		skip("not root", "ids");
		return;
	}
	is_int(in_child(powerless), 0, "capabilities: few, fewer, none");
	is_int(in_child(slots), 0, "the zygote's id follows the slots'");
}

TEST(explain)
{
	const uint32_t all = SANDBOX_BIT(SANDBOX_LAYERS) - 1;
	struct sandbox sb = {.layers = all, .landlock_abi = 7};
	char text[512], small[16];

	sandbox_explain(&sb, all, text, sizeof(text));
	is_str(text, "", "nothing is missing");
	sb.err[SANDBOX_LANDLOCK] = -ENOSYS;
	sandbox_explain(&sb, all & ~(1u << SANDBOX_LANDLOCK), text,
			sizeof(text));
	is_str(text,
	       "landlock: ENOSYS (needs Linux 5.13 with landlock in lsm=)",
	       "a missing step is explained with name, errno and remedy");
	sb.err[SANDBOX_NETNS] = sb.err[SANDBOX_IPCNS] = -EPERM;
	sb.err[SANDBOX_UTSNS] = -ENOSPC;
	sandbox_explain(&sb,
			all & ~(1u << SANDBOX_NETNS | 1u << SANDBOX_IPCNS |
				1u << SANDBOX_UTSNS),
			text, sizeof(text));
	ok(strstr(text, "netns, ipcns: EPERM (") == text,
	   "steps with one cause are named together");
	ok(strstr(text, "); utsns: ENOSPC (") != NULL,
	   "steps with other causes are named separately");
	sandbox_explain(&sb, all & ~(1u << SANDBOX_RLIMITS), text,
			sizeof(text));
	ok(strstr(text, "rlimits: does not hold (") == text,
	   "a built step which does not hold is named");
	sandbox_explain(&sb, 0, small, sizeof(small));
	is_int(strlen(small), sizeof(small) - 1, "a long text is cut");
	sb.landlock_abi = 3;
	sandbox_explain(&sb, all, text, sizeof(text));
	ok(strstr(text, "old ABI") != NULL, "an old Landlock is noted");
}

int main(void)
{
	struct rlimit none = {0};

	setrlimit(RLIMIT_CORE, &none);
	tap_run();
	return tap_done();
}
