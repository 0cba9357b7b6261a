/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chromium_launch.c - starts Chromium in namespaces of its own, for
 * chromium_starter.c. A failed step is reported by its name, with the error and
 * a remedy; nothing is left of the start.
 */
#include "browser/process/chromium_launch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "browser/process/chromium_rootfs.h"
#include "base/os/fdpass.h"
#include "base/os/no_core.h"

#define NAMESPACES                                                             \
	(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET |           \
	 CLONE_NEWIPC | CLONE_NEWUTS)
#define BACKLOG 512
#define SETUP_S 10
#define NICE 5 /* priority of Chromium */

/* PID 1's report: a failed step, or success with the listener. */
struct report {
	int err;
	char step[60];
};

struct child {
	const struct chromium_launch_plan *plan;
	int report;  /* the child's end of the socket */
	int in, out; /* Chromium's ends of the pipes */
	unsigned uid, gid;
};

/* ---- in the namespaces ---- */

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

static int map_ids(const struct child *c)
{
	char line[64];
	int rc;

	/* otherwise the files of /proc/self belong to root */
	rc = prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) == 0 ? 0 : -errno;
	if (rc == 0)
		rc = write_text("/proc/self/setgroups", "deny");
	snprintf(line, sizeof(line), "%u %u 1", c->uid, c->uid);
	if (rc == 0)
		rc = write_text("/proc/self/uid_map", line);
	snprintf(line, sizeof(line), "%u %u 1", c->gid, c->gid);
	if (rc == 0)
		rc = write_text("/proc/self/gid_map", line);
	return rc;
}

static _Noreturn void fail_launch(const struct child *c, const char *step,
				  int rc)
{
	struct report r = {.err = -rc};

	snprintf(r.step, sizeof(r.step), "%s", step);
	(void)fdpass_send(c->report, &r, sizeof(r), -1, 0);
	_exit(1);
}

static int enter_rootfs(const struct child *c)
{
	const char *step;
	int rc = chromium_rootfs_enter(c->plan->argv[0], &step);

	if (rc < 0)
		fail_launch(c, step, rc);
	return rc;
}

static int loopback(const struct child *c)
{
	struct ifreq ifr = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;

	(void)c;
	if (fd < 0)
		return -errno;
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr) == 0 ? 0 : -errno;
	close(fd);
	return rc;
}

/* Die with the starter, and keep no privileges that Chromium could use. */
static int drop_privileges(const struct child *c)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};
	struct pollfd p = {.fd = c->report};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_capset, &head, none) != 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || poll(&p, 1, 0) < 0)
		return -errno;
	return p.revents == 0 ? 0 : -ESRCH;
}

static int listen_all(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET,
				  .sin_port = htons(CHROMIUM_LAUNCH_PORT)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&any, sizeof(any)) != 0 ||
	    listen(fd, BACKLOG) != 0)
		return -errno;
	return fd;
}

/*
 * Limit the number of processes, and lower their priority below other work.
 * Since kernel 5.14 the count is per user namespace, so the limit is for
 * Chromium alone; before, it would count all processes of the user, so only PID
 * 1 limits.
 */
static void limit_processes(const struct child *c)
{
	/* a quarter above PID 1's limit, since PID 1 gives the reason */
	const rlim_t most = c->plan->limits.tasks + c->plan->limits.tasks / 4;
	const struct rlimit tasks = {most, most};
	struct utsname u;
	int major = 0, minor = 0;

	(void)no_core();
	/* NOLINTNEXTLINE(cert-err34-c): a bad number gives 0, an old kernel */
	if (uname(&u) == 0 && sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
	    (major > 5 || (major == 5 && minor >= 14)))
		setrlimit(RLIMIT_NPROC, &tasks);
	setpriority(PRIO_PROCESS, 0, NICE);
}

static _Noreturn void become_chromium(const struct child *c)
{
	static char *const env[] = {
	    (char *)"PATH=/usr/bin:/bin",
	    (char *)"HOME=/tmp",
	    (char *)"TMPDIR=/tmp",
	    (char *)"LANG=C.UTF-8",
	    (char *)"DBUS_SESSION_BUS_ADDRESS=disabled:",
	    NULL};
	int null = open("/dev/null", O_RDWR);

	/* moved up first: in may have out's final number, and out in's */
	int in = fcntl(c->in, F_DUPFD, 10), out = fcntl(c->out, F_DUPFD, 10);

	if (null < 0 || in < 0 || out < 0)
		_exit(126);
	limit_processes(c);
	umask(077);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	dup2(in, 3);
	dup2(out, 4);
	syscall(SYS_close_range, 5u, ~0u, 0u);
	execve(c->plan->argv[0], c->plan->argv, env);
	_exit(127);
}

static _Noreturn void init(const struct child *c)
{
	static const struct {
		const char *name;
		int (*take)(const struct child *c);
	} steps[] = {
	    {"map ids in a user namespace", map_ids},
	    {"make a view of the host's files", enter_rootfs},
	    {"raise its loopback", loopback},
	};
	struct report r = {0};
	sigset_t none;
	int rc = 0, fd;
	pid_t pid;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		rc = steps[i].take(c);
		if (rc < 0)
			fail_launch(c, steps[i].name, rc);
	}
	fd = listen_all();
	if (fd < 0)
		fail_launch(c, "listen for its connections", fd);
	rc = drop_privileges(c);
	if (rc < 0)
		fail_launch(c, "give up privileges", rc);
	pid = fork();
	if (pid < 0)
		fail_launch(c, "fork", -errno);
	if (pid == 0)
		become_chromium(c);
	(void)fdpass_send(c->report, &r, sizeof(r), fd, 0);
	/* PID 1 has no descriptor but the report socket */
	fd = dup2(c->report, 0);
	syscall(SYS_close_range, 1u, ~0u, 0u);
	chromium_init_run(fd, pid, &c->plan->limits);
}

/* ---- outside ---- */

/* Return the listener; -1: R has the failure. */
static int recv_report(int from, struct report *r)
{
	const struct timeval timeout = {.tv_sec = SETUP_S};
	ssize_t n;
	int fd;

	setsockopt(from, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	n = fdpass_recv(from, r, sizeof(*r), &fd, NULL);
	if (n != (ssize_t)sizeof(*r))
		*r = (struct report){.err = n < 0 ? (int)-n : EPIPE,
				     .step = "be set up"};
	return fd;
}

static int kill_launched(pid_t pid)
{
	int status;

	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	return -1;
}

static void close_fds(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int chromium_launch(struct chromium_launched *l,
		    const struct chromium_launch_plan *plan, char *errmsg,
		    size_t size)
{
	/* to[0], from[1] and pair[1] are the child's ends */
	int fds[6] = {-1, -1, -1, -1, -1, -1};
	int *to = fds, *from = fds + 2, *pair = fds + 4;
	struct report r = {0};
	struct child c;

	*l = (struct chromium_launched){
	    .pid = -1, .to = -1, .from = -1, .listener = -1, .watch = -1};
	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		r.err = errno;
		snprintf(r.step, sizeof(r.step), "make pipes");
		goto out;
	}
	c = (struct child){.plan = plan,
			   .report = pair[1],
			   .in = to[0],
			   .out = from[1],
			   .uid = geteuid(),
			   .gid = getegid()};
	l->pid = (pid_t)syscall(SYS_clone, (long)(NAMESPACES | SIGCHLD), 0L, 0L,
				0L, 0L);
	if (l->pid == 0) {
		close(pair[0]);
		init(&c);
	}
	if (l->pid < 0) {
		r.err = errno;
		snprintf(r.step, sizeof(r.step), "make namespaces");
		goto out;
	}
	close(pair[1]);
	pair[1] = -1;
	l->listener = recv_report(pair[0], &r);
	if (l->listener < 0)
		l->pid = kill_launched(l->pid);
out:
	if (l->pid > 0) {
		l->to = to[1];
		l->from = from[0];
		l->watch = pair[0];
		to[1] = from[0] = pair[0] = -1;
	} else {
		errmsg_set(errmsg, size,
			   "Chromium's world: cannot %s: %s; user namespaces "
			   "must be allowed to uid %u (sysctl "
			   "user.max_user_namespaces, a container's seccomp "
			   "profile)",
			   r.step, strerror(r.err), (unsigned)geteuid());
	}
	close_fds(fds, ARRAY_LEN(fds));
	return l->pid > 0 ? 0 : -r.err;
}
