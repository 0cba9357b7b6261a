/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_child.c - from a fork of the shim to the program, for shim.c. Each failure before
 * execve(2) is reported to the shim over a socket, and the shim names the failed step in
 * the run's FAIL.
 */
#include "worker/program/shim_private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"
#include "base/os/system_paths.h"
#include "sandbox/fds.h"
#include "worker/network/network.h"
#include "worker/text.h"

#define ARGS_MAX 64	/* the maximum in a manifest */
#define OWN_VARIABLES 7 /* the last only for some programs */
#define SYNC_FD 5	/* the child's end of the socket for the start */
#define EXIT_UNSTARTED 127
#define START_LOOK_NS 100000000 /* between checks without an event */

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6 */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

/*
 * LISTENER: shim and child have the listener. OWN: the child has a separate table of
 * descriptors. The other stages failed.
 */
enum { STAGE_LISTENER, STAGE_OWN, STAGE_CAGE, STAGE_EXEC };

/* A message of the child. */
struct start {
	int stage;
	int err;
	int listener;
};

_Noreturn static void report_failure(int sync, int stage, int err)
{
	struct start f = {.stage = stage, .err = err};

	(void)!write(sync, &f, sizeof(f));
	_exit(EXIT_UNSTARTED);
}

/*
 * Until now the shim shared the table of descriptors with the child: so the shim gets the
 * listener, which the filter forbids to send. From now on the child has a separate table,
 * with the program's descriptors alone.
 */
static int take_descriptors(const int ends[5], int sync)
{
	if (close_range(~0u, ~0u, CLOSE_RANGE_UNSHARE) != 0)
		return -errno;
	for (int i = 0; i < 5; i++)
		if (dup2(ends[i], i) < 0)
			return -errno;
	if (dup2(sync, SYNC_FD) < 0 || fcntl(SYNC_FD, F_SETFD, FD_CLOEXEC) != 0)
		return -errno;
	return fds_close_from(SYNC_FD + 1);
}

static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void make_argv(const struct shim *s, char *path, char *argv[])
{
	char *p = (char *)s->args.p, *end = p + s->args.n;
	size_t n = 0;

	argv[n++] = path;
	while (p < end && n <= ARGS_MAX) {
		argv[n++] = p;
		p += strlen(p) + 1;
	}
	argv[n] = NULL;
}

/*
 * Folders for Python, after the machine's: the package's, if any, and paddock's own.
 * Node.js finds node_modules without a variable.
 */
static char *python_path(void)
{
	return access(ROOTFS_TEMPLATE "/site-packages", F_OK) == 0
		   ? (char *)"PYTHONPATH=" ROOTFS_TEMPLATE
			     "/site-packages:" ROOTFS_MODULES "/python"
		   : (char *)"PYTHONPATH=" ROOTFS_MODULES "/python";
}

/* The path of the entry; an absolute entry is a program of the machine. */
static void path_of(const struct shim *s, char *path, size_t size)
{
	snprintf(path, size, "%s%s",
		 s->entry[0] == '/' ? "" : ROOTFS_TEMPLATE "/", s->entry);
}

_Noreturn static void exec_program(const struct shim *s, const int ends[5],
				   int sync)
{
	char path[sizeof(ROOTFS_TEMPLATE) + sizeof(s->entry)];
	char id[sizeof("PADDOCK_RUN_ID=") + sizeof(s->run_id)];
	char *argv[ARGS_MAX + 2];
	/* a program that may start ahead of runs gets the id by a line */
	bool by_name = !s->prepared && !s->run.id_by_line;
	char *envp[OWN_VARIABLES + NETWORK_VARIABLES + 1] = {
	    (char *)"PADDOCK_TEMPLATE_DIR=" ROOTFS_TEMPLATE,
	    (char *)"PATH=" SYSTEM_PATHS_ENV ":" ROOTFS_MODULES "/bin",
	    (char *)"HOME=" ROOTFS_WORK,
	    (char *)"TMPDIR=/tmp",
	    (char *)"LANG=C.UTF-8",
	    python_path()};
	size_t n = OWN_VARIABLES - 1;
	struct start started = {.stage = STAGE_LISTENER};
	const struct start own = {.stage = STAGE_OWN};
	int rc;

	reset_signals();
	setsid();
	umask(022);
	path_of(s, path, sizeof(path));
	snprintf(id, sizeof(id), "PADDOCK_RUN_ID=%s", s->run_id);
	make_argv(s, path, argv);
	if (by_name)
		envp[n++] = id;
	network_variables(envp + n);
	/* the program keeps files in out/; without space, out/ is made later */
	if (chdir(ROOTFS_WORK) != 0 ||
	    (mkdir("out", 0755) != 0 && errno != ENOSPC))
		report_failure(sync, STAGE_CAGE, errno);
	started.listener = sandbox_leave_to_program(s->sb, s->p);
	if (started.listener < 0)
		report_failure(sync, STAGE_CAGE, -started.listener);
	if (write(sync, &started, sizeof(started)) != sizeof(started))
		_exit(EXIT_UNSTARTED);
	rc = take_descriptors(ends, sync);
	if (rc < 0)
		report_failure(sync, STAGE_CAGE, -rc);
	rc = sandbox_bound_files(s->p);
	if (rc < 0)
		report_failure(SYNC_FD, STAGE_CAGE, -rc);
	if (write(SYNC_FD, &own, sizeof(own)) != sizeof(own))
		_exit(EXIT_UNSTARTED);
	execve(path, argv, envp);
	report_failure(SYNC_FD, STAGE_EXEC, errno);
}

/* Copy the interpreter in the #! line of the file at PATH to OUT; "": none. */
static void read_interpreter(const char *path, char out[256])
{
	char head[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head) - 1) : -1;
	const char *name = head + 2;

	sys_close(fd);
	out[0] = '\0';
	if (n < 3 || memcmp(head, "#!", 2) != 0)
		return;
	head[n] = '\0';
	name += strspn(name, " \t");
	n = (ssize_t)strcspn(name, " \t\n");
	n = (ssize_t)text_clean(out, 256 - 1, name, (size_t)n);
	out[n] = '\0';
	for (char *c = out; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7F)
			*c = '?'; /* for example the CR of CR LF */
}

/* execve(2) could not find the interpreter of PATH: describe the interpreter. */
static const char *no_interpreter(struct shim *s, const char *path)
{
	static char what[512];
	char name[256];

	read_interpreter(path, name);
	if (name[0] == '\0')
		return "the loader that it was linked for is not there";
	s->cure = "the server's operator can install that, or the template's "
		  "author name another one";
	if (name[strlen(name) - 1] == '?')
		s->cure = "the template's author has to save the file with LF "
			  "alone at the ends of lines";
	snprintf(what, sizeof(what), "%s, of its #! line, is not there%s", name,
		 name[strlen(name) - 1] == '?' ? " (the line ends with CR LF)"
					       : "");
	return what;
}

/* Describe the error ERR of execve(2), for a file that exists. */
static const char *not_executed(struct shim *s, int err)
{
	char path[sizeof(ROOTFS_TEMPLATE) + sizeof(s->entry)];

	static const struct {
		int err;
		const char *what;
	} causes[] = {{ENOEXEC,
		       "it is neither a program for this machine nor a script "
		       "with a #! line"},
		      {EACCES, "it, or its interpreter, may not be executed"}};

	path_of(s, path, sizeof(path));
	if (err == ENOENT)
		return no_interpreter(s, path);
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (causes[i].err == err)
			return causes[i].what;
	return "it could not be executed";
}

/* Wait for a message of the child, a call to count, or the end. True: ended. */
static bool await_child(struct shim *s, int sync)
{
	const struct timespec again = {.tv_nsec = START_LOOK_NS};
	struct pollfd p[] = {{.fd = sync, .events = POLLIN},
			     {.fd = s->pipes.listener, .events = POLLIN}};
	siginfo_t end = {0};
	sigset_t none;

	sigemptyset(&none); /* SIGCHLD interrupts */
	if (ppoll(p, ARRAY_LEN(p), &again, &none) > 0 &&
	    (p[1].revents & POLLIN) != 0)
		shim_recv_call(s);
	return waitid(P_PID, (id_t)s->pid, &end, WEXITED | WNOHANG | WNOWAIT) !=
		   0 ||
	       end.si_pid == s->pid;
}

/* Close the child's ends in the shim, so that the ends close with the child. */
static void close_theirs(int theirs[5], int *sync)
{
	for (int i = 0; i < 5; i++)
		sys_drop(&theirs[i]);
	sys_drop(sync);
}

/* Read messages of the child, until the child executes the program, or has ended. */
static int recv_start(struct shim *s, int sync[2], int theirs[5],
		      const char **what)
{
	struct start f;
	bool ended;
	ssize_t n;

	*what = "its cage could not be closed";
	for (;;) {
		ended = await_child(s, sync[0]);
		n = recv(sync[0], &f, sizeof(f), MSG_DONTWAIT);
		if (n == 0 || (n < 0 && ended))
			return s->pipes.listener >= 0 ? 0 : -EPIPE;
		if (n != (ssize_t)sizeof(f))
			continue;
		if (f.stage == STAGE_LISTENER)
			s->pipes.listener = f.listener;
		else if (f.stage == STAGE_OWN)
			close_theirs(theirs, &sync[1]);
		else
			break;
	}
	if (f.stage == STAGE_EXEC)
		*what = not_executed(s, f.err);
	return -f.err;
}

/*
 * Make five pipes: the shim's ends in MINE, the program's in THEIRS. A resident's
 * descriptors 3 and 4 are sockets, which no other process of the run can open by /proc.
 */
static int make_pipes(int mine[5], int theirs[5])
{
	static const bool to_program[5] = {[0] = true, [4] = true};
	int rc = 0;

	for (int i = 0; i < 5 && rc == 0; i++) {
		bool is_socket = i >= 3 && shim_stays();
		int ends[2];

		if ((is_socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC,
					    0, ends)
			       : pipe2(ends, O_CLOEXEC)) != 0)
			return -errno;
		mine[i] = ends[to_program[i] ? 1 : 0];
		theirs[i] = ends[to_program[i] ? 0 : 1];
		rc = fcntl(mine[i], F_SETFL, O_NONBLOCK) == 0 ? 0 : -errno;
	}
	return rc;
}

int shim_start(struct shim *s, const char **what)
{
	int mine[5] = {-1, -1, -1, -1, -1}, theirs[5] = {-1, -1, -1, -1, -1};
	int sync[2];
	int rc = make_pipes(mine, theirs);

	*what = "there is no pipe to be had";
	if (rc == 0 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sync) != 0)
		rc = -errno;
	if (rc != 0)
		return rc;
	/* A child that shares the descriptors, until execve(2) or exit. */
	s->pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL,
				NULL, NULL);
	if (s->pid == 0)
		exec_program(s, theirs, sync[1]);
	if (s->pid < 0)
		return -errno;
	s->pipes = (struct shim_pipes){.in = mine[0],
				       .out = mine[1],
				       .err = mine[2],
				       .lines = mine[3],
				       .answers = mine[4],
				       .listener = -1};
	rc = recv_start(s, sync, theirs, what);
	close_theirs(theirs, &sync[1]);
	close(sync[0]);
	/* caller and shim take turns, so one CPU is enough; Linux 6.6 */
	(void)ioctl(s->pipes.listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		    SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	return rc;
}
