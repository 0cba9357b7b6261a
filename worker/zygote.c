/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote.c - the process that workers are cloned from, started by main.c. A
 * sandbox that cannot be built is reported with its cause, and the zygote
 * exits; a worker that cannot be cloned is an answer to its request.
 */
#include "worker/zygote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/errname.h"
#include "base/os/fdpass.h"
#include "ipc/zygote_proto.h"
#include "base/os/no_core.h"
#include "sandbox/fds.h"
#include "sandbox/uids.h"
#include "sandbox/sandbox.h"
#include "worker/clone.h"
#include "worker/held_mounts.h"
#include "worker/memory.h"
#include "worker/selftest.h"
#include "worker/selftest_program.h"
#include "worker/signals.h"

static const struct zygote_runtime *runtime;
static struct rootfs rootfs;  /* of programs */
static unsigned int host_ids; /* as struct sandbox has them */

static void send_event(const struct zygote_proto_event *event)
{
	/* When the supervisor is gone, the next read says so. */
	(void)!send(ZYGOTE_PROTO_CONTROL_FD, event, sizeof(*event),
		    MSG_NOSIGNAL);
}

static int broken(const char *what, int rc, const char *detail)
{
	struct zygote_proto_event event = {.type = ZYGOTE_PROTO_BROKEN,
					   .err = -rc};

	snprintf(event.text, sizeof(event.text), "%s: %s%s%s%s", what,
		 rc != 0 ? errname(-rc) : "does not hold",
		 detail[0] != '\0' ? " (" : "", detail,
		 detail[0] != '\0' ? ")" : "");
	send_event(&event);
	return ZYGOTE_EXIT_UNAVAILABLE;
}

/* Keep nothing of our parent's: no terminal, no signals, no descriptors. */
static int detach(void)
{
	sigset_t all;

	(void)no_core(); /* from the start */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* a shell may have had some ignored */
	memory_forget_cpu();
	setsid(); /* fails for a group leader, which has a session already */
	umask(077);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	return fds_close_from(ZYGOTE_PROTO_CONTROL_FD + 1);
}

static void add_text(struct zygote_proto_event *event, const char *more)
{
	size_t len = strlen(event->text);

	snprintf(event->text + len, sizeof(event->text) - len, "%s%s",
		 len > 0 ? "; " : "", more);
}

static int report(const struct sandbox *sb, const struct selftest *found)
{
	bool own_uids = (found->held & SANDBOX_BIT(SANDBOX_UID)) != 0;
	struct zygote_proto_event event = {.type = ZYGOTE_PROTO_REPORT,
					   .layers = found->held,
					   .landlock_abi = sb->landlock_abi,
					   .uid_base =
					       own_uids ? sb->uid_base : -1};

	sandbox_explain(sb, found->held, event.text, sizeof(event.text));
	if (found->bare)
		add_text(&event,
			 "locks: refused to programs (a read-only "
			 "overlayfs of /usr, without mounts in it, would "
			 "give them inodes of their own)");
	send_event(&event);
	return 0;
}

/* Why P is not shown to programs, as a clause about it. */
static void explain(const struct rootfs_path *p, char *text, size_t size)
{
	if (p->errmsg != NULL)
		snprintf(text, size, "%.100s: %s", p->path, p->errmsg);
	else if (p->err == -ELOOP)
		snprintf(
		    text, size,
		    "%.400s leads through a symbolic link%s%.*s, and links "
		    "are not followed",
		    p->path, p->link > 0 ? ", " : "",
		    p->link < 400 ? (int)p->link : 0, p->path);
	else if (p->err == -ESTALE)
		snprintf(text, size,
			 "%s was another folder when programs were prepared "
			 "than when it was loaded",
			 p->path);
	else if (p->err == -EMEDIUMTYPE)
		snprintf(text, size, "%s is neither a file nor a folder",
			 p->path);
	else
		snprintf(text, size, "%s: %s", p->path, strerror(-p->err));
}

enum { OF_PACKAGES, OF_READS, OF_ARTIFACTS };

static void report_mount_failure(const struct rootfs_path *list, size_t n,
				 int of)
{
	for (size_t i = 0; i < n; i++) {
		struct zygote_proto_event event = {
		    .type = ZYGOTE_PROTO_MOUNT_FAILED,
		    .seq = (uint32_t)i,
		    .pid = of,
		    .err = -list[i].err,
		    .used = list[i].used,
		    .used_by_all = list[i].used_by_all};

		if (list[i].err == 0)
			continue;
		explain(&list[i], event.text, sizeof(event.text));
		send_event(&event);
	}
}

/* Lua's: an empty root, and a filter for the zygote, too. 0, or exit status. */
static int build_lua(struct sandbox *sb, struct selftest *found)
{
	pid_t supervisor = getppid();
	int rc;

	rc = runtime->prepare();
	if (rc != 0)
		return broken("job", rc, "the runtime could not be prepared");
	rc = sandbox_build(sb, ZYGOTE_PROTO_SLOTS, host_ids);
	if (rc != 0)
		return broken("seccomp", rc,
			      sandbox_layer_remedy(SANDBOX_SECCOMP, rc));
	rc = pdeathsig_set(ZYGOTE_PROTO_CONTROL_FD);
	if (rc != 0)
		return broken("pdeathsig", rc, "");
	rc = selftest_run(sb, supervisor, memory_share_text, found);
	if (rc != 0)
		return broken("self-test", rc, found->text);
	if ((found->held & SANDBOX_BIT(SANDBOX_SECCOMP)) == 0)
		return broken("seccomp", found->err, found->text);
	rc = sandbox_settle(sb);
	return rc == 0 ? 0
		       : broken("seccomp", rc,
				sandbox_layer_remedy(SANDBOX_SECCOMP, rc));
}

/*
 * Programs': the host's root, read-only. The zygote keeps the right to mount,
 * and has no filter of its own, because every worker would inherit it.
 */
static int build_program(struct sandbox *sb, struct selftest *found)
{
	enum sandbox_layer failed;
	const char *at;
	int rc = runtime->prepare();

	if (rc != 0)
		return broken("shim", rc, "the runtime could not be prepared");
	rc = sandbox_build_program(sb, ZYGOTE_PROTO_SLOTS, host_ids, &rootfs,
				   &failed, &at);
	if (rc == -ENOSYS && failed == SANDBOX_ROOT)
		return broken(sandbox_layer_name(failed), rc,
			      "the host's files cannot be shown without "
			      "open_tree, move_mount and mount_setattr, which "
			      "needs Linux 5.12");
	if (rc != 0)
		return broken(sandbox_layer_name(failed), rc,
			      failed == SANDBOX_ROOT && at != NULL
				  ? at
				  : sandbox_layer_remedy(failed, rc));
	rc = pdeathsig_set(ZYGOTE_PROTO_CONTROL_FD);
	if (rc != 0)
		return broken("pdeathsig", rc, "");
	report_mount_failure(rootfs.packages, rootfs.n_packages, OF_PACKAGES);
	report_mount_failure(rootfs.reads, rootfs.n_reads, OF_READS);
	report_mount_failure(&rootfs.artifacts, 1, OF_ARTIFACTS);
	rc = selftest_program(sb, &rootfs, found);
	if (rc != 0)
		return broken("self-test", rc, found->text);
	if (found->text[0] != '\0')
		return broken("self-test", 0, found->text);
	return 0;
}

/*
 * The next request, and its descriptor or -1. 1; or 0 when the supervisor is
 * gone; a record that is no request has type 0.
 */
static int next_order(struct zygote_proto_spawn *s, int *fd)
{
	bool whole;
	ssize_t n =
	    fdpass_recv(ZYGOTE_PROTO_CONTROL_FD, s, sizeof(*s), fd, &whole);

	if (n <= 0)
		return 0;
	if (n < (ssize_t)sizeof(s->request) || !whole ||
	    s->request.n_files > SHOWN_FILES_MAX ||
	    (size_t)n != zygote_proto_spawn_len(&s->request)) {
		s->request.type = 0;
		s->request.n_files = 0;
	}
	for (uint32_t i = 0; i < s->request.n_files; i++) {
		s->files[i].path[sizeof(s->files[i].path) - 1] = '\0';
		s->files[i].name[sizeof(s->files[i].name) - 1] = '\0';
	}
	return 1;
}

static void serve_lua(const struct sandbox *sb, const struct sandbox_worker *w)
{
	signals_set_cpu_ms(w->cpu_ms);
	if (sandbox_seal(sb) != 0)
		_exit(ZYGOTE_PROTO_EXIT_UNCAGED + SANDBOX_SECCOMP);
	runtime->serve();
}

static pid_t spawn_lua(const struct sandbox *sb, const struct sandbox_worker *w,
		       const struct zygote_proto_spawn *s)
{
	(void)s;
	return clone_worker(sb, w, CLONE_OF_SUPERVISOR, serve_lua);
}

static pid_t spawn_program(const struct sandbox *sb,
			   const struct sandbox_worker *w,
			   const struct zygote_proto_spawn *s)
{
	const struct zygote_proto_request *request = &s->request;
	struct sandbox_program p = {.w = *w,
				    .package = request->package,
				    .reads = request->reads,
				    .limits = request->limits,
				    .grouped = request->grouped != 0,
				    .locks = request->locks != 0,
				    .in = request->in != 0,
				    .files = s->files,
				    .n_files = request->n_files};

	pid_t pid;

	if (request->package >= rootfs.n_packages ||
	    request->limits.processes == 0)
		return -EINVAL;
	if (rootfs.packages[request->package].err != 0)
		return rootfs.packages[request->package].err;
	if (request->hold != 0)
		p.hold_fd = held_mounts_open(request->slot, request->seq);
	pid =
	    clone_program(sb, &p, CLONE_OF_SUPERVISOR, runtime->serve_program);
	if (p.hold_fd > 0)
		close(p.hold_fd);
	return pid;
}

static const struct {
	int (*build)(struct sandbox *sb, struct selftest *found);
	pid_t (*spawn)(const struct sandbox *sb, const struct sandbox_worker *w,
		       const struct zygote_proto_spawn *s);
} kinds[] = {
    [RUNTIME_LUA] = {build_lua, spawn_lua},
    [RUNTIME_PROGRAM] = {build_program, spawn_program},
};

/* Build the sandbox, measure it, and report. 0, or exit status. */
static int prepare(struct sandbox *sb)
{
	struct selftest found;
	int rc = detach();

	if (rc != 0)
		return broken("closed", rc, "");
	rc = kinds[runtime->kind].build(sb, &found);
	return rc != 0 ? rc : report(sb, &found);
}

static pid_t spawn(const struct sandbox *sb, const struct zygote_proto_spawn *s,
		   int fd)
{
	const struct zygote_proto_request *request = &s->request;
	struct sandbox_worker w = {.run_fd = fd,
				   .slot = request->slot,
				   .cpu_ms = request->cpu_ms,
				   .memory_bytes = request->memory_bytes};

	/* A limit of 0 would disarm the timer. */
	if (request->type != ZYGOTE_PROTO_SPAWN || fd < 0 ||
	    request->slot >= sb->slots || request->cpu_ms == 0)
		return -EINVAL;
	return kinds[runtime->kind].spawn(sb, &w, s);
}

static void answer(const struct sandbox *sb, const struct zygote_proto_spawn *s,
		   int fd)
{
	pid_t pid = spawn(sb, s, fd);

	send_event(&(struct zygote_proto_event){.type = ZYGOTE_PROTO_SPAWNED,
						.seq = s->request.seq,
						.pid = pid > 0 ? pid : -1,
						.err = pid > 0 ? 0 : -pid});
}

/* Until the supervisor is gone. What is written for each lies below ORDER's files. */
static void serve(void *room, void *arg)
{
	struct zygote_proto_spawn *order = room;
	const struct sandbox *sb = arg;
	int fd = -1;

	while (next_order(order, &fd) > 0) {
		if (order->request.type == ZYGOTE_PROTO_RELEASE)
			held_mounts_release(order->request.slot,
					    order->request.seq);
		else
			answer(sb, order, fd);
		if (fd >= 0)
			close(fd);
		/* no later worker is to have the names of this one's */
		memset(order->files, 0,
		       order->request.n_files * sizeof(order->files[0]));
	}
}

int zygote_run(const struct zygote_runtime *what, unsigned int ids,
	       const struct rootfs *t)
{
	struct sandbox sb;
	int rc;

	runtime = what;
	rootfs = *t;
	host_ids = ids;
	rc = prepare(&sb);
	if (rc != 0)
		return rc;
	memory_pack_heap();
	memory_pack_stack(serve, sizeof(struct zygote_proto_spawn),
			  sizeof(struct zygote_proto_request), &sb);
	return EXIT_SUCCESS;
}
