#include "supervisor/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "ipc/crew.h"

#define ARGS_MAX 256
#define ORDER_FD 3 /* the keeper's only descriptor */
#define ANSWER_S 20 /* a fork and an exec; milliseconds are usual */

static struct {
	pid_t pid;
	int fd;
} keeper = {.fd = -1};

pid_t launch_keeper(void)
{
	return keeper.pid;
}

/* ---- by ourselves ---- */

static int spawn_actions(posix_spawn_file_actions_t *fa, int control)
{
	int rc = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDWR, 0);

	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, 0, 1);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, 0, 2);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(fa, control, CREW_CONTROL_FD);
	rc = rc ? rc
		: posix_spawn_file_actions_addclosefrom_np(fa, CREW_CONTROL_FD + 1);
	return -rc;
}

static int spawn(const char *path, char *const argv[], int control, pid_t *pid)
{
	char *envp[] = {NULL};
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = spawn_actions(&fa, control);
	if (rc == 0)
		rc = -posix_spawn(pid, path, &fa, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

/* ---- the keeper's side ---- */

/* An order is argv, each string with its NUL, and one descriptor. */
struct order {
	char args[LAUNCH_ARGS_MAX];
	size_t len;
	int control; /* -1: none came */
};

/* False: we have nobody to serve any more. */
static bool read_order(struct order *o)
{
	_Alignas(struct cmsghdr) char space[CMSG_LEN(sizeof(int))];
	struct iovec iov = {.iov_base = o->args, .iov_len = sizeof(o->args)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	ssize_t n = recvmsg(ORDER_FD, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	if (n <= 0)
		return false;
	o->len = (size_t)n;
	o->control = -1;
	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&o->control, CMSG_DATA(c), sizeof(int));
	return (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
}

static bool split(const struct order *o, char **argv)
{
	size_t n = 0;

	if (o->control < 0 || o->args[o->len - 1] != '\0')
		return false;
	for (size_t at = 0; at < o->len && n < ARGS_MAX;
	     at += strlen(o->args + at) + 1)
		argv[n++] = (char *)o->args + at;
	argv[n] = NULL;
	return n > 0 && n < ARGS_MAX;
}

/* In the child: nothing of ours but CONTROL. */
_Noreturn static void become_zygote(const char *path, char **argv, int control)
{
	char *envp[] = {NULL};
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	dup2(control, CREW_CONTROL_FD);
	close_range(CREW_CONTROL_FD + 1, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(path, argv, envp);
	_exit(127);
}

/* A child of the server's, not of ours, which sees its end. */
static int start(const char *path, const struct order *o)
{
	char *argv[ARGS_MAX + 1];
	long pid;

	if (!split(o, argv))
		return -EINVAL;
	pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		become_zygote(path, argv, o->control);
	return pid < 0 ? -errno : (int)pid;
}

/* No client's or worker's byte ever comes here. */
_Noreturn static void keep(const char *path, int fd)
{
	static struct order o;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* it ends with its socket */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	prctl(PR_SET_NAME, "paddockd:keeper");
	prctl(PR_SET_DUMPABLE, 0);
	dup2(fd, ORDER_FD);
	close_range(ORDER_FD + 1, ~0u, 0);
	while (read_order(&o)) {
		int32_t answer = start(path, &o);

		if (o.control >= 0)
			close(o.control);
		if (send(ORDER_FD, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* ---- ours ---- */

int launch_keep(const char *path)
{
	struct timeval tv = {.tv_sec = ANSWER_S};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	keeper.pid = fork();
	if (keeper.pid == 0)
		keep(path, ends[1]);
	close(ends[1]);
	if (keeper.pid < 0) {
		keeper.pid = 0;
		close(ends[0]);
		return -errno;
	}
	keeper.fd = ends[0];
	setsockopt(keeper.fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return 0;
}

void launch_release(void)
{
	if (keeper.fd >= 0)
		close(keeper.fd);
	keeper.fd = -1;
}

static int send_order(char *const argv[], int control)
{
	static char args[LAUNCH_ARGS_MAX];
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {.iov_base = args};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	for (size_t i = 0; argv[i] != NULL; i++) {
		size_t n = strlen(argv[i]) + 1;

		if (n > sizeof(args) - iov.iov_len)
			return -E2BIG;
		memcpy(args + iov.iov_len, argv[i], n);
		iov.iov_len += n;
	}
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &control, sizeof(int));
	return sendmsg(keeper.fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int launch_zygote(const char *path, char *const argv[], int control, pid_t *pid)
{
	int32_t answer;
	ssize_t n;
	int rc;

	if (keeper.pid == 0)
		return spawn(path, argv, control, pid);
	rc = send_order(argv, control);
	if (rc < 0)
		return rc;
	do
		n = recv(keeper.fd, &answer, sizeof(answer), 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(answer))
		return n < 0 ? -errno : -EPIPE; /* it was stopped, or killed */
	*pid = answer;
	return answer > 0 ? 0 : answer;
}
