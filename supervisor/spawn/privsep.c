/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privsep.c - the child process that keeps root's rights, and the supervisor's
 * requests to the child: start a zygote or a helper program, open a log, make a
 * cgroup. The child serves only the paths given at the child's start: another
 * path is -EPERM. Without the child a request is -ENOTCONN, without an answer
 * -ETIMEDOUT; a later answer is dropped.
 */
#include "supervisor/spawn/privsep.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "ipc/zygote_proto.h"
#include "base/os/fdpass.h"
#include "base/os/no_core.h"
#include "base/os/sys.h"
#include "supervisor/spawn/privs.h"
#include "supervisor/spawn/ids/uid_range.h"
#include "supervisor/runtime/runtime.h"

#define ARGS_MAX 2048
#define REQUEST_FD 3	/* the only descriptor of privsep */
#define ANSWER_MS 20000 /* the usual timeout of an answer */
#define OWING_MS                                                               \
	500 /* while an earlier answer is missing, since the loop waits, too */

enum what {
	START_ZYGOTE,
	TAKE_LOG, /* for the next request */
	START_HELPER,
	OPEN_LOG,
	OPEN_AUDIT,
	UNLINK_SOCKET,
	GIVE_STATE,
	MAKE_RUN, /* make a cgroup */
};

/* A packet, with a descriptor for START_ZYGOTE, TAKE_LOG, START_HELPER. */
struct request {
	uint32_t number; /* repeated in the answer */
	uint32_t what;
	uint32_t slot, tree;	     /* of MAKE_RUN */
	uint32_t leaf;		     /* of START_HELPER: enum cgroup_leaf */
	char args[PRIVSEP_ARGS_MAX]; /* of START_ZYGOTE, START_HELPER */
};

struct answer {
	uint32_t number;
	int32_t is;
};

static struct {
	struct privsep_paths paths;
	pid_t pid;
	int fd;
	uint32_t asked, answered; /* numbers of the last ones */
	/* at privsep: log of the next helper program */
	int log;
} privsep = {.fd = -1, .log = -1};

pid_t privsep_pid(void)
{
	return privsep.pid;
}

bool privsep_workers_are_others(void)
{
	return geteuid() == 0 || privsep.pid != 0;
}

/* ---- privsep's side ---- */

/* In the child: close all of privsep's descriptors but CONTROL, and ERR unless < 0. */
static void keep_only(int control, int err)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	(void)no_core(); /* no core even of the start */
	dup2(null, 0);
	dup2(null, 1);
	dup2(err >= 0 ? err : null, 2);
	dup2(control, ZYGOTE_PROTO_CONTROL_FD);
	close_range(ZYGOTE_PROTO_CONTROL_FD + 1, ~0u, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void become_zygote(char **argv, int control)
{
	char *envp[] = {NULL};

	keep_only(control, -1);
	/* the request does not choose the ids of the zygote */
	execve(privsep.paths.worker, uid_range_argv(argv), envp);
	_exit(127);
}

/*
 * paddock-browser reads content of pages, so no other process has the same uid.
 * paddock-egress gives each of its children a uid, and keeps no other right of root.
 */
_Noreturn static void become_helper(uint32_t leaf, char **argv, int control)
{
	static char usual[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *envp[] = {usual, NULL};
	bool browser = leaf == CGROUP_BROWSER;
	uid_t id = uid_range_browser();

	keep_only(control, privsep.log);
	if (setgroups(0, NULL) != 0)
		_exit(126);
	if (browser && (id == 0 || setresgid(id, id, id) != 0 ||
			setresuid(id, id, id) != 0))
		_exit(126);
	execve(browser ? privsep.paths.browser : privsep.paths.egress, argv,
	       envp);
	_exit(127);
}

/* The arguments of paddock-egress name files, which are read with root's rights. */
static bool may_start_egress(char *const argv[])
{
	const struct privsep_paths *p = &privsep.paths;

	if (p->egress == NULL || argv[0] == NULL)
		return false;
	return p->may_start_egress != NULL ? p->may_start_egress(p->arg, argv)
					   : argv[1] == NULL;
}

static bool may_start_helper(uint32_t leaf, char *const argv[])
{
	if (uid_range_browser() == 0)
		return false;
	return leaf == CGROUP_BROWSER  ? privsep.paths.browser != NULL
	       : leaf == CGROUP_EGRESS ? may_start_egress(argv)
				       : false;
}

/* Start a child of the server (CLONE_PARENT), which reaps the child. */
static int start_by_keeper(struct request *o, size_t len, int control)
{
	bool helper = o->what == START_HELPER;
	enum runtime_kind kind = 0;
	char *argv[ARGS_MAX + 1];
	size_t n = 0;
	pid_t pid;

	if (control < 0 || len == 0 || o->args[len - 1] != '\0')
		return -EINVAL;
	for (size_t at = 0; at < len; at += strlen(o->args + at) + 1) {
		if (n == ARGS_MAX)
			return -E2BIG;
		argv[n++] = o->args + at;
	}
	argv[n] = NULL;
	if (helper ? !may_start_helper(o->leaf, argv)
		   : !privsep.paths.may_start(privsep.paths.arg, argv))
		return -EPERM;
	if (!helper) /* as worker/main.c reads the kind */
		(void)runtime_find(argv[1], &kind);
	/* the browser's requestor checks at once whether the browser is in the cgroup */
	pid = helper ? cgroup_clone((enum cgroup_leaf)o->leaf,
				    CLONE_PARENT | CLONE_VFORK)
		     : cgroup_clone((enum cgroup_leaf)kind, CLONE_PARENT);
	if (pid == 0 && helper)
		become_helper(o->leaf, argv, control);
	if (pid == 0)
		become_zygote(argv, control);
	return pid;
}

/* Open PATH, and give PATH to the serving user, who may then read PATH. */
static int open_for_them(const char *path, int *fd)
{
	if (path == NULL)
		return -ENOENT;
	*fd = privs_open_log(path);
	return *fd < 0 ? *fd : 0;
}

static int give_state(void)
{
	char errmsg[512];
	int rc = privs_give_state(privsep.paths.state, errmsg, sizeof(errmsg));

	if (rc < 0)
		log_error("server", "why=\"%s\"", errmsg);
	return rc;
}

/* Execute a request: the answer, with a descriptor in *FD where the answer has one. */
static int obey(struct request *o, size_t len, int control, int *fd)
{
	switch ((enum what)o->what) {
	case START_ZYGOTE:
	case START_HELPER:
		return start_by_keeper(o, len, control);
	case TAKE_LOG:
		sys_close(privsep.log);
		/* above the numbers that a child assigns */
		privsep.log =
		    control < 0 ? -1 : fcntl(control, F_DUPFD_CLOEXEC, 16);
		return privsep.log < 0 ? -EINVAL : 0;
	case OPEN_LOG:
		return open_for_them(privsep.paths.log, fd);
	case OPEN_AUDIT:
		return open_for_them(privsep.paths.audit, fd);
	case UNLINK_SOCKET:
		return privsep.paths.socket != NULL
			   ? privs_unlink_socket(privsep.paths.socket)
			   : -ENOENT;
	case GIVE_STATE:
		return give_state();
	case MAKE_RUN:
		*fd = cgroup_make_run(o->slot, (enum cgroup_tree)o->tree);
		return *fd < 0 ? *fd : 0;
	}
	return -EINVAL;
}

_Noreturn static void serve_keeper(int sock)
{
	static struct request o;
	sigset_t all;
	ssize_t n;
	int control;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* privsep ends with the socket */
	prctl(PR_SET_NAME, "paddock-keeper");
	log_hold(false); /* log lines of privsep go to stderr at once */
	prctl(PR_SET_DUMPABLE, 0);
	dup2(sock, REQUEST_FD);
	close_range(REQUEST_FD + 1, ~0u, 0);
	while ((n = fdpass_recv(REQUEST_FD, &o, sizeof(o), &control, NULL)) >
	       0) {
		size_t head = offsetof(struct request, args);
		int fd = -1;
		struct answer answer = {.is = -EINVAL};

		if ((size_t)n >= head) {
			answer.number = o.number;
			answer.is = obey(&o, (size_t)n - head, control, &fd);
		}
		if (fdpass_send(REQUEST_FD, &answer, sizeof(answer), fd, 0) < 0)
			break;
		sys_close(control);
		sys_close(fd);
	}
	cgroup_remove();
	_exit(0);
}

int privsep_start(const struct privsep_paths *paths)
{
	struct privsep_paths *p = &privsep.paths;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	*p = *paths;
	p->worker = xstrdup_opt(p->worker);
	p->browser = xstrdup_opt(p->browser);
	p->egress = xstrdup_opt(p->egress);
	p->socket = xstrdup_opt(p->socket);
	p->state = xstrdup_opt(p->state);
	p->log = xstrdup_opt(p->log);
	p->audit = xstrdup_opt(p->audit);
	privsep.pid = fork();
	if (privsep.pid == 0)
		serve_keeper(ends[1]);
	close(ends[1]);
	if (privsep.pid < 0) {
		privsep.pid = 0;
		close(ends[0]);
		return -EAGAIN;
	}
	privsep.fd = ends[0];
	return 0;
}

void privsep_release(void)
{
	sys_drop(&privsep.fd);
}

/* ---- the supervisor's side ---- */

/* Receive the answer to request NUMBER, and drop late answers to earlier requests. */
static int hear_answer(uint32_t number, int *fd)
{
	struct answer a;
	ssize_t n;

	while ((n = fdpass_recv(privsep.fd, &a, sizeof(a), fd, NULL)) ==
	       sizeof(a)) {
		privsep.answered = a.number;
		if (a.number == number)
			return a.is;
		log_warn("privsep", "answer=%u late=yes", a.number);
		sys_drop(fd);
	}
	if (n == -EAGAIN)
		return -ETIMEDOUT;
	return n < 0 ? (int)n : -EPIPE; /* privsep was stopped or killed */
}

static int tell_and_hear(struct request *o, size_t len, int control, int *fd)
{
	int ms =
	    privsep.paths.answer_ms > 0 ? privsep.paths.answer_ms : ANSWER_MS;
	const struct timeval *tv;
	int rc;

	*fd = -1;
	if (privsep.fd < 0)
		return -ENOTCONN;
	if (privsep.answered != privsep.asked && ms > OWING_MS)
		ms = OWING_MS;
	tv = CLOCK_TIMEVAL(ms);
	setsockopt(privsep.fd, SOL_SOCKET, SO_RCVTIMEO, tv, sizeof(*tv));
	setsockopt(privsep.fd, SOL_SOCKET, SO_SNDTIMEO, tv, sizeof(*tv));
	o->number = privsep.asked + 1;
	rc = fdpass_send(privsep.fd, o, offsetof(struct request, args) + len,
			 control, 0);
	if (rc < 0)
		return rc == -EAGAIN ? -ETIMEDOUT : rc;
	privsep.asked++;
	return hear_answer(o->number, fd);
}

/* Drop late answers. Has privsep ended? */
static bool take_late(void)
{
	struct answer a;
	ssize_t n;
	int fd;

	while ((n = recv(privsep.fd, &a, sizeof(a), MSG_PEEK | MSG_DONTWAIT)) ==
	       sizeof(a)) {
		if (fdpass_recv(privsep.fd, &a, sizeof(a), &fd, NULL) > 0)
			privsep.answered = a.number;
		sys_close(fd);
	}
	return n == 0;
}

const char *privsep_trouble(void)
{
	if (privsep.pid == 0 || privsep.fd < 0)
		return NULL;
	if (take_late())
		return "the process that keeps root's rights has ended, so "
		       "programs have no new cgroups, and no zygote or browser "
		       "can be started again";
	return privsep.answered == privsep.asked
		   ? NULL
		   : "the process that keeps root's rights does not answer, "
		     "and programs wait for their cgroups";
}

/* Send O with LEN bytes of args. The answer, or -errno. */
static int ask_keeper(struct request *o, size_t len, int control, int *fd)
{
	int rc;

	loop_guard_allow("a process of ours alone, and given up on in a while");
	rc = tell_and_hear(o, len, control, fd);
	loop_guard_forbid();
	return rc;
}

static int exec_by(enum what what, uint32_t leaf, char *const argv[],
		   int control, pid_t *pid)
{
	static struct request o;
	size_t len = 0;
	int fd, rc;

	for (size_t i = 0; argv[i] != NULL; i++) {
		size_t n = strlen(argv[i]) + 1;

		if (n > sizeof(o.args) - len)
			return -E2BIG;
		memcpy(o.args + len, argv[i], n);
		len += n;
	}
	o.what = what;
	o.leaf = leaf;
	rc = ask_keeper(&o, len, control, &fd);
	if (rc <= 0)
		return rc < 0 ? rc : -EPROTO;
	*pid = rc;
	return 0;
}

int privsep_exec(char *const argv[], int control, pid_t *pid)
{
	return exec_by(START_ZYGOTE, 0, argv, control, pid);
}

int privsep_exec_helper(enum cgroup_leaf leaf, char *const argv[], int control,
			int log, pid_t *pid)
{
	struct request o = {.what = TAKE_LOG};
	int fd, rc = ask_keeper(&o, 0, log, &fd);

	return rc < 0 ? rc : exec_by(START_HELPER, leaf, argv, control, pid);
}

static bool is_same_path(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

int privsep_open_log(const char *path)
{
	bool audit = is_same_path(path, privsep.paths.audit);
	struct request o = {.what = audit ? OPEN_AUDIT : OPEN_LOG};
	int fd = -1, rc;

	if (!audit && !is_same_path(path, privsep.paths.log))
		return -EPERM;
	rc = ask_keeper(&o, 0, -1, &fd);
	return rc < 0 ? rc : fd;
}

int privsep_unlink_socket(const char *path)
{
	struct request o = {.what = UNLINK_SOCKET};
	int fd;

	return is_same_path(path, privsep.paths.socket)
		   ? ask_keeper(&o, 0, -1, &fd)
		   : -EPERM;
}

int privsep_give_state(void)
{
	struct request o = {.what = GIVE_STATE};
	int fd;

	return ask_keeper(&o, 0, -1, &fd);
}

int privsep_make_run(uint32_t slot, enum cgroup_tree tree)
{
	struct request o = {.what = MAKE_RUN, .slot = slot, .tree = tree};
	int fd = -1;
	int rc = ask_keeper(&o, 0, -1, &fd);

	return rc < 0 ? rc : fd;
}
