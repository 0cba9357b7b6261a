/* The real paddock-worker, with us as its supervisor. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/crew.h"
#include "tests/tap.h"

#define PATIENCE_MS 20000 /* only a failing test waits that long */
#define NOBODY 65534
#define CROWD 64 /* workers at once */
#define CPU_MS 10000
#define MEMORY_BYTES (16u << 20)
#define EXIT_BROKEN 69
#define FDS_FREE 20 /* descriptors below are set up for the worker */

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

#define NS_GUARDS                                                              \
	(CREW_GUARD_USERNS | CREW_GUARD_NETNS | CREW_GUARD_IPCNS |             \
	 CREW_GUARD_UTSNS | CREW_GUARD_MNTNS)

/* What holds on any kernel with seccomp, whoever we are. */
#define ALWAYS                                                                 \
	(CREW_GUARD_SECCOMP | CREW_GUARD_NNP | CREW_GUARD_RLIMITS |            \
	 CREW_GUARD_CLOSED | CREW_GUARD_EMPTY_ENV | CREW_GUARD_UNDUMPABLE |    \
	 CREW_GUARD_PDEATHSIG)

/* A call that the machine refuses, or pretends to have done (errno 0). */
struct refusal {
	int nr;
	int err;
	unsigned int flags; /* only with one of these in argument 0; 0: ever */
};

#define REFUSALS_MAX 8

struct zygote {
	pid_t pid;
	int control;
};

struct worker {
	pid_t pid;
	int run;
};

static int binary = -1; /* paddock-worker, open */

static const char *worker_path(void)
{
	const char *path = getenv("PADDOCK_WORKER");

	return path != NULL ? path : "build/paddock-worker";
}

static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

static void refuse(const struct refusal *r)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	for (; r->nr > 0; r++) {
		if (r->flags == 0)
			seccomp_rule_add(ctx, SCMP_ACT_ERRNO(r->err), r->nr, 0);
		for (unsigned int bit = 1; bit != 0; bit <<= 1)
			if ((r->flags & bit) != 0)
				seccomp_rule_add(
				    ctx, SCMP_ACT_ERRNO(r->err), r->nr, 1,
				    SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit));
	}
	if (seccomp_load(ctx) != 0)
		_exit(99);
	seccomp_release(ctx);
}

/* As the supervisor does: an empty environment, null, and the control fd. */
_Noreturn static void exec_worker(int control, uid_t uid,
				  const struct refusal *r)
{
	char *argv[] = {(char *)"paddock-worker", NULL}, *envp[] = {NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	control = fcntl(control, F_DUPFD_CLOEXEC, FDS_FREE);
	for (int fd = 0; fd < CREW_CONTROL_FD; fd++)
		dup2(null, fd);
	dup2(control, CREW_CONTROL_FD);
	if (uid != 0 &&
	    (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 ||
	     setresuid(uid, uid, uid) != 0))
		_exit(98);
	if (r != NULL)
		refuse(r);
	syscall(SYS_execveat, binary, "", argv, envp, AT_EMPTY_PATH);
	_exit(97);
}

/* UID 0: as whoever we are. */
static void start(struct zygote *z, uid_t uid, const struct refusal *r)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		die("socketpair");
	z->pid = fork();
	if (z->pid < 0)
		die("fork");
	if (z->pid == 0)
		exec_worker(ends[1], uid, r);
	close(ends[1]);
	z->control = ends[0];
}

/* One packet; -1: none in time; 0: the peer is gone. */
static ssize_t take(int fd, void *buf, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return -1;
	return recv(fd, buf, size, 0);
}

static struct crew_note take_note(const struct zygote *z)
{
	struct crew_note note = {0};

	if (take(z->control, &note, sizeof(note)) != sizeof(note))
		note = (struct crew_note){0};
	return note;
}

/* How PID ended; it gets PATIENCE_MS. -1 if it did not. */
static int reap(pid_t pid, struct rusage *ru)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0),
			   .events = POLLIN};
	int status = -1;

	if (poll(&p, 1, PATIENCE_MS) != 1)
		kill(pid, SIGKILL);
	else if (wait4(pid, &status, 0, ru) != pid)
		status = -1;
	if (status == -1)
		waitpid(pid, NULL, 0);
	close(p.fd);
	return status;
}

/* The control's end ends the zygote. */
static int stop(struct zygote *z)
{
	close(z->control);
	return reap(z->pid, NULL);
}

static void order_worker(const struct zygote *z, const struct crew_order *order,
			 const int *fds, size_t n)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {
	    0};
	struct iovec iov = {.iov_base = (void *)order,
			    .iov_len = sizeof(*order)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (n > 0) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	if (sendmsg(z->control, &msg, MSG_NOSIGNAL) < 0)
		die("sendmsg");
}

static struct crew_order order_for(unsigned int slot)
{
	return (struct crew_order){.type = CREW_SPAWN,
				   .seq = 1000 + slot,
				   .slot = slot,
				   .cpu_ms = CPU_MS,
				   .memory_bytes = MEMORY_BYTES};
}

static struct crew_note spawn(const struct zygote *z, unsigned int slot,
			      struct worker *w)
{
	struct crew_order order = order_for(slot);
	struct crew_note note;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		die("socketpair");
	order_worker(z, &order, &ends[1], 1);
	close(ends[1]);
	note = take_note(z);
	w->run = ends[0];
	w->pid = note.pid;
	return note;
}

/* Let go of W; how it ended. */
static int finish(struct worker *w, struct rusage *ru)
{
	close(w->run);
	return reap(w->pid, ru);
}

static bool is_ready(const struct worker *w)
{
	char frame[65536];

	return take(w->run, frame, sizeof(frame)) > 0;
}

/* The value of KEY in PID's status, in one of two buffers. */
static const char *status_of(pid_t pid, const char *key)
{
	static char values[2][128], line[256];
	static int turn;
	char path[64], *value = values[turn ^= 1];
	FILE *f;

	value[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		size_t n = strlen(key);

		if (strncmp(line, key, n) != 0 || line[n] != ':')
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(value, sizeof(values[0]), "%s",
			 line + n + 1 + strspn(line + n + 1, "\t "));
	}
	if (f != NULL)
		fclose(f);
	return value;
}

static bool can(int flag)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(unshare(flag) == 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	return status == 0;
}

static bool have_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

/* What this machine should give to root (or else to an ordinary user). */
static uint32_t expected(bool root)
{
	uint32_t want = ALWAYS;

	if (can(CLONE_NEWUSER))
		want |= NS_GUARDS | CREW_GUARD_ROOT | CREW_GUARD_CAPS;
	if (root)
		want |= CREW_GUARD_UID | CREW_GUARD_ROOT | CREW_GUARD_CAPS;
	if (have_landlock())
		want |= CREW_GUARD_LANDLOCK;
	return want;
}

/* Each guard that is missing, and no other, is named. */
static void test_report(const char *who, uid_t uid, const struct refusal *r,
			uint32_t want, const char *named)
{
	struct zygote z;
	struct worker w;
	struct crew_note note;

	start(&z, uid, r);
	note = take_note(&z);
	is_int(note.type, CREW_REPORT, "%s: there is a report", who);
	is_int(note.guards, want, "%s: the guards that hold", who);
	ok(strstr(note.text, named) != NULL, "%s: the report says '%s'", who,
	   named);
	printf("# %s: 0x%x %s\n", who, note.guards, note.text);
	ok((note.landlock_abi > 0) == ((want & CREW_GUARD_LANDLOCK) != 0),
	   "%s: the Landlock ABI", who);
	ok((note.uid_base >= 0) == ((want & CREW_GUARD_UID) != 0),
	   "%s: a uid base where workers have uids", who);

	is_int(spawn(&z, 0, &w).err, 0, "%s: a worker is born", who);
	ok(is_ready(&w), "%s: and is ready", who);
	is_str(status_of(w.pid, "Seccomp"), "2", "%s: filtered", who);
	is_str(status_of(w.pid, "NoNewPrivs"), "1", "%s: no new rights", who);
	is_str(status_of(w.pid, "CapPrm"), "0000000000000000",
	       "%s: no capability", who);
	is_int(finish(&w, NULL) & 0x7f, 0, "%s: a worker let go of exits", who);
	is_int(stop(&z), 0, "%s: and so does the zygote", who);
}

static void test_reports(void)
{
	static const struct refusal no_userns[] = {
	    {SCMP_SYS(unshare), EPERM, CLONE_NEWUSER},
	    {SCMP_SYS(clone), EPERM, CLONE_NEWUSER},
	    {0}};
	static const struct refusal container[] = {
	    {SCMP_SYS(unshare), EPERM, 0},    {SCMP_SYS(setns), EPERM, 0},
	    {SCMP_SYS(mount), EPERM, 0},      {SCMP_SYS(umount2), EPERM, 0},
	    {SCMP_SYS(pivot_root), EPERM, 0}, {0}};
	static const struct refusal no_landlock[] = {
	    {SYS_landlock_create_ruleset, ENOSYS, 0}, {0}};
	static const struct refusal no_mounts[] = {{SCMP_SYS(mount), EACCES, 0},
						   {0}};
	static const struct refusal no_timers[] = {
	    {SCMP_SYS(timer_create), ENOSYS, 0}, {0}};
	static const struct refusal feigned[] = {{SCMP_SYS(unshare), 0, 0},
						 {0}};
	static const struct refusal feigned_uid[] = {
	    {SCMP_SYS(setresuid), 0, 0}, {0}};
	bool root = geteuid() == 0;
	uint32_t all = expected(root), user = expected(false);
	uid_t nobody = root ? NOBODY : 0;

	test_report("user", nobody, NULL, user, "uid: EPERM (start as root");
	if (root)
		test_report("root", 0, NULL, all, "");
	test_report("user, no userns", nobody, no_userns,
		    user & ~(NS_GUARDS | CREW_GUARD_ROOT | CREW_GUARD_CAPS),
		    "userns, netns, ipcns, utsns, mntns: EPERM (allow user");
	if (!root) {
		skip("not root", "what only root can have taken away");
		return;
	}
	test_report("root, no userns", 0, no_userns, all & ~CREW_GUARD_USERNS,
		    "userns: EPERM (allow user namespaces");
	test_report("root, container", 0, container, all & ~NS_GUARDS,
		    "userns, netns, ipcns, utsns, mntns: EPERM (");
	test_report("root, no Landlock", 0, no_landlock,
		    all & ~CREW_GUARD_LANDLOCK,
		    "landlock: ENOSYS (needs Linux");
	test_report("root, no mounts", 0, no_mounts, all, "");
	test_report("root, no timers", 0, no_timers, all, "");
	test_report("root, unshare that does nothing", 0, feigned,
		    all & ~NS_GUARDS, "ENOTRECOVERABLE");
	test_report("root, setresuid that does nothing", 0, feigned_uid,
		    all & ~(CREW_GUARD_UID | CREW_GUARD_CAPS),
		    "uid: does not hold");
}

/* Without a filter there is no cage, and it says so. */
static void test_broken(const char *what, const struct refusal *r,
			const char *named)
{
	struct zygote z;
	struct crew_note note;
	int status;

	start(&z, 0, r);
	note = take_note(&z);
	status = stop(&z);
	is_int(note.type, CREW_BROKEN, "%s: the cage is broken", what);
	ok(strstr(note.text, named) != NULL, "%s: it says '%s'", what, named);
	printf("# %s\n", note.text);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BROKEN,
	   "%s: and exits with 69", what);
}

static void test_breakage(void)
{
	static const struct refusal no_seccomp[] = {
	    {SCMP_SYS(seccomp), EINVAL, SECCOMP_SET_MODE_FILTER}, {0}};
	static const struct refusal feigned[] = {
	    {SCMP_SYS(seccomp), 0, SECCOMP_SET_MODE_FILTER}, {0}};
	static const struct refusal no_limits[] = {
	    {SCMP_SYS(prlimit64), ENOSYS, 0}, {0}};

	test_broken("no seccomp", no_seccomp, "seccomp: EINVAL (needs Linux");
	test_broken("seccomp that does nothing", feigned, "not denied: open /");
	test_broken("no limits", no_limits, "rlimits");
}

static void test_crowd(struct zygote *z, int uid_base)
{
	struct worker w[CROWD];
	int born = 0, ready = 0, caged = 0, ours = 0, ended = 0, used = 0;
	char want[64];

	for (unsigned int i = 0; i < CROWD; i++)
		born += spawn(z, i, &w[i]).seq == 1000 + i && w[i].pid > 0;
	is_int(born, CROWD, "%d workers live at once", CROWD);
	for (unsigned int i = 0; i < CROWD; i++) {
		uid_t uid = uid_base < 0 ? geteuid() : (uid_t)uid_base + i;

		ready += is_ready(&w[i]);
		snprintf(want, sizeof(want), "%u\t%u\t%u\t%u", uid, uid, uid,
			 uid);
		caged += strcmp(status_of(w[i].pid, "Uid"), want) == 0;
		ours +=
		    strtol(status_of(w[i].pid, "PPid"), NULL, 10) == getpid();
	}
	is_int(ready, CROWD, "all of them are ready");
	is_int(caged, CROWD, "each under its own slot's uid");
	is_int(ours, CROWD, "we are their parent");
	for (unsigned int i = 0; i < CROWD; i++) {
		struct rusage ru = {0};

		ended += WIFEXITED(finish(&w[i], &ru));
		used += ru.ru_minflt > 0;
	}
	is_int(ended, CROWD, "all end when let go of");
	is_int(used, CROWD, "and what they used is told to us");
}

/* An order that makes no sense gets an answer, and its socket is closed. */
static void refused(struct zygote *z, const char *what,
		    const struct crew_order *order, size_t nfds)
{
	int ends[2], fds[2];
	struct crew_note note;
	char byte;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		die("socketpair");
	fds[0] = fds[1] = ends[1];
	order_worker(z, order, fds, nfds);
	close(ends[1]);
	note = take_note(z);
	is_int(note.type, CREW_SPAWNED, "%s: answered", what);
	is_int(note.err, EINVAL, "%s: EINVAL", what);
	is_int(note.seq, order->seq, "%s: by number", what);
	is_int(take(ends[0], &byte, 1), 0, "%s: its socket is closed", what);
	close(ends[0]);
}

static void test_orders(struct zygote *z)
{
	struct crew_order good = order_for(1), order;
	struct worker w;

	refused(z, "no socket", &good, 0);
	refused(z, "two sockets", &good, 2);
	order = good;
	order.type = 77;
	refused(z, "an unknown order", &order, 1);
	order = good;
	order.slot = CREW_SLOTS;
	refused(z, "a slot too many", &order, 1);
	order = good;
	order.cpu_ms = 0;
	refused(z, "no CPU time", &order, 1);
	is_int(spawn(z, CREW_SLOTS - 1, &w).err, 0, "the last slot is fine");
	ok(is_ready(&w), "and its worker ready");
	finish(&w, NULL);
}

static unsigned long long limit_of(pid_t pid, const char *name)
{
	char path[64], line[256];
	unsigned long long value = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtoull(line + strlen(name), NULL, 10);
	if (f != NULL)
		fclose(f);
	return value;
}

/* How many names are in DIR of PID; -1: we may not look. */
static int entries(pid_t pid, const char *dir)
{
	char path[64];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, dir);
	d = opendir(path);
	if (d == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		n +=
		    strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(d);
	return n;
}

/* Seen from outside. */
static void test_cage(struct zygote *z)
{
	struct worker w;

	spawn(z, 3, &w);
	if (!ok(is_ready(&w), "a worker to look at"))
		return;
	if (geteuid() == 0) {
		is_int(entries(w.pid, "fd"), 4, "it holds four descriptors");
		is_int(entries(w.pid, "root/"), 0, "its root is empty");
	} else {
		is_int(entries(w.pid, "fd"), -1, "not even we see its files");
	}
	is_str(status_of(w.pid, "SigBlk"), "0000000000000000",
	       "no signal is blocked");
	is_str(status_of(w.pid, "CapBnd"), "0000000000000000",
	       "its bounding set is empty");
	is_int(limit_of(w.pid, "Max cpu time"), CPU_MS / 1000 + 1,
	       "the kernel's CPU limit is a second over ours");
	ok(limit_of(w.pid, "Max address space") > MEMORY_BYTES &&
	       limit_of(w.pid, "Max address space") <
		   MEMORY_BYTES + (32u << 20),
	   "its address space is what was ordered and a little");
	is_int(limit_of(w.pid, "Max open files"), 4, "no file more");
	is_int(kill(z->pid, SIGTERM), 0, "SIGTERM to the zygote");
	finish(&w, NULL);
	spawn(z, 3, &w);
	ok(is_ready(&w), "does not reach who is born after it");
	kill(w.pid, SIGKILL);
	is_int(finish(&w, NULL), SIGKILL, "a worker can be killed");
}

static void test_orphan_of_zygote(void)
{
	struct zygote z;
	struct worker w;

	start(&z, 0, NULL);
	take_note(&z);
	spawn(&z, 0, &w);
	ok(is_ready(&w), "a worker is ready");
	kill(z.pid, SIGKILL);
	is_int(stop(&z), SIGKILL, "its zygote is killed");
	is_int(kill(w.pid, 0), 0, "the worker lives on");
	ok(WIFEXITED(finish(&w, NULL)), "until it is let go of");
}

#define FAMILY 5 /* a zygote and its workers */

/* A supervisor with all that it started; tells their pids, then waits. */
_Noreturn static void supervise(int out)
{
	pid_t pids[FAMILY];
	struct zygote z;
	struct worker w[FAMILY - 1];

	start(&z, 0, NULL);
	take_note(&z);
	pids[0] = z.pid;
	for (unsigned int i = 0; i < FAMILY - 1; i++) {
		spawn(&z, i, &w[i]);
		pids[i + 1] = is_ready(&w[i]) ? w[i].pid : -1;
	}
	if (write(out, pids, sizeof(pids)) == sizeof(pids))
		pause();
	_exit(1);
}

static void test_dead_supervisor(void)
{
	pid_t pids[FAMILY] = {0}, supervisor;
	int out[2], killed = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(out, O_CLOEXEC) != 0)
		die("pipe");
	supervisor = fork();
	if (supervisor == 0)
		supervise(out[1]);
	close(out[1]);
	is_int(read(out[0], pids, sizeof(pids)), sizeof(pids),
	       "a supervisor with a zygote and %d workers", FAMILY - 1);
	close(out[0]);
	kill(supervisor, SIGKILL);
	waitpid(supervisor, NULL, 0);
	for (int i = 0; i < FAMILY; i++) {
		int status = pids[i] > 0 ? reap(pids[i], NULL) : -1;

		/* What sees its socket close before the signal just exits. */
		killed += status != -1;
	}
	is_int(killed, FAMILY, "all of them end when it is killed");
}

static int run_binary(const char *arg, char *text, size_t size)
{
	char command[512];
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command), "%s %s 2>&1 3<&-", worker_path(),
		 arg);
	f = popen(command, "re"); /* NOLINT: the words are ours */
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	return pclose(f);
}

static void test_arguments(void)
{
	char text[256];

	is_int(WEXITSTATUS(run_binary("--version", text, sizeof(text))), 0,
	       "--version");
	is_int(strncmp(text, "paddock-worker ", 15), 0, "says what it is");
	is_int(WEXITSTATUS(run_binary("", text, sizeof(text))), 2,
	       "by hand it is a usage error");
	ok(strstr(text, "only paddockd starts") != NULL, "that says why");
	is_int(WEXITSTATUS(run_binary("--wrong", text, sizeof(text))), 2,
	       "so is an unknown argument");
	ok(strstr(text, "--wrong") != NULL, "that is named");
}

int main(void)
{
	struct zygote z;
	struct crew_note note;

	binary = open(worker_path(), O_RDONLY | O_CLOEXEC);
	if (binary >= 0) /* out of the way of what exec_worker() sets up */
		binary = fcntl(binary, F_DUPFD_CLOEXEC, FDS_FREE);
	if (!ok(binary >= 0, "there is a worker to test at %s", worker_path()))
		return tap_done();
	test_arguments();
	test_reports();
	test_breakage();
	start(&z, 0, NULL);
	note = take_note(&z);
	test_crowd(&z, note.uid_base);
	test_orders(&z);
	test_cage(&z);
	is_int(stop(&z), 0, "a zygote without orders ends");
	test_orphan_of_zygote();
	test_dead_supervisor();
	is_int(waitpid(-1, NULL, WNOHANG), -1, "nobody is left behind");
	close(binary);
	return tap_done();
}
