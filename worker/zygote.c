/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zygote.c - the process from which workers are cloned, started by main.c. A sandbox that
 * cannot be built is reported with the cause, and the zygote exits; a worker that cannot
 * be cloned is an error in the answer to the request.
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
#include "base/os/oom_victim.h"
#include "base/os/sys.h"
#include "sandbox/fds.h"
#include "sandbox/uids.h"
#include "sandbox/sandbox.h"
#include "worker/channel.h"
#include "worker/clone.h"
#include "worker/held_mounts.h"
#include "worker/memory.h"
#include "worker/selftest.h"
#include "worker/signals.h"

static const struct zygote_runtime *runtime;

void zygote_tell(const struct zygote_proto_event *event)
{
	/* when the supervisor is gone, the next read reports so */
	(void)!send(ZYGOTE_PROTO_CONTROL_FD, event, sizeof(*event),
		    MSG_NOSIGNAL);
}

int zygote_broken(const char *what, int rc, const char *detail)
{
	struct zygote_proto_event event = {.type = ZYGOTE_PROTO_BROKEN,
					   .err = -rc};

	snprintf(event.text, sizeof(event.text), "%s: %s%s%s%s", what,
		 rc != 0 ? errname(-rc) : "does not hold",
		 detail[0] != '\0' ? " (" : "", detail,
		 detail[0] != '\0' ? ")" : "");
	zygote_tell(&event);
	return ZYGOTE_EXIT_UNAVAILABLE;
}

/* Keep nothing of the parent's: no terminal, signals or descriptors. */
static int detach(void)
{
	sigset_t all;

	(void)no_core(); /* from the start */
	(void)oom_victim();
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* a shell may have ignored signals */
	memory_forget_cpu();
	setsid(); /* fails for a group leader, which has a session already */
	umask(077);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	return fds_close_from(ZYGOTE_PROTO_CONTROL_FD + 1);
}

static void report(const struct sandbox *sb, const struct selftest *found)
{
	bool own_uids = (found->held & SANDBOX_BIT(SANDBOX_UID)) != 0;
	struct zygote_proto_event event = {.type = ZYGOTE_PROTO_REPORT,
					   .layers = found->held,
					   .landlock_abi = sb->landlock_abi,
					   .uid_base =
					       own_uids ? sb->uid_base : -1};
	size_t len;

	sandbox_explain(sb, found->held, event.text, sizeof(event.text));
	len = strlen(event.text);
	if (found->bare)
		snprintf(event.text + len, sizeof(event.text) - len, "%s%s",
			 len > 0 ? "; " : "",
			 "locks: refused to programs (a read-only "
			 "overlayfs of /usr, without mounts in it, would "
			 "give them inodes of their own)");
	zygote_tell(&event);
}

/* Build an empty root, and a filter for the zygote, too. 0, or exit status. */
static int build_empty(struct sandbox *sb, unsigned int host_ids,
		       struct selftest *found)
{
	pid_t supervisor = getppid();
	int rc = sandbox_build(sb, ZYGOTE_PROTO_SLOTS, host_ids);
	if (rc != 0)
		return zygote_broken("seccomp", rc,
				     sandbox_layer_remedy(SANDBOX_SECCOMP, rc));
	rc = pdeathsig_set(ZYGOTE_PROTO_CONTROL_FD);
	if (rc != 0)
		return zygote_broken("pdeathsig", rc, "");
	rc = selftest_run(sb, supervisor, memory_share_text, found);
	if (rc != 0)
		return zygote_broken("self-test", rc, found->text);
	if ((found->held & SANDBOX_BIT(SANDBOX_SECCOMP)) == 0)
		return zygote_broken("seccomp", found->err, found->text);
	rc = sandbox_settle(sb);
	return rc == 0
		   ? 0
		   : zygote_broken("seccomp", rc,
				   sandbox_layer_remedy(SANDBOX_SECCOMP, rc));
}

/*
 * Receive the next request, with the descriptor or -1. 1; or 0 when the supervisor is
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

static void serve_run(const struct sandbox *sb, const struct sandbox_worker *w)
{
	signals_set_cpu_ms(w->cpu_ms);
	if (w->network)
		channel_stream_begin();
	if (sandbox_seal(sb, w) != 0)
		_exit(ZYGOTE_PROTO_EXIT_UNCAGED + SANDBOX_SECCOMP);
	runtime->serve();
}

static pid_t spawn_clone(const struct sandbox *sb,
			 const struct zygote_proto_spawn *s, int fd)
{
	const struct zygote_proto_request *request = &s->request;
	struct sandbox_worker w = {.run_fd = fd,
				   .slot = request->slot,
				   .cpu_ms = request->cpu_ms,
				   .memory_bytes = request->memory_bytes,
				   .network = request->network != 0};

	/* a limit of 0 would disarm the timer */
	if (request->type != ZYGOTE_PROTO_SPAWN || fd < 0 ||
	    request->slot >= sb->slots || request->cpu_ms == 0)
		return -EINVAL;
	return runtime->spawn != NULL
		   ? runtime->spawn(sb, &w, s)
		   : clone_worker(sb, &w, CLONE_OF_SUPERVISOR, serve_run);
}

/*
 * Serve until the supervisor is gone. Each request writes only to the memory below
 * ORDER's files.
 */
static void serve_orders(void *room, void *arg)
{
	struct zygote_proto_spawn *order = room;
	const struct sandbox *sb = arg;
	int fd = -1;
	pid_t pid;

	while (next_order(order, &fd) > 0) {
		if (order->request.type == ZYGOTE_PROTO_RELEASE) {
			held_mounts_release(order->request.slot,
					    order->request.seq);
		} else {
			pid = spawn_clone(sb, order, fd);
			zygote_tell(&(struct zygote_proto_event){
			    .type = ZYGOTE_PROTO_SPAWNED,
			    .seq = order->request.seq,
			    .pid = pid > 0 ? pid : -1,
			    .err = pid > 0 ? 0 : -pid});
		}
		sys_close(fd);
		/* no later worker may read the file names of an earlier worker */
		memset(order->files, 0,
		       order->request.n_files * sizeof(order->files[0]));
	}
}

int zygote_run(const struct zygote_runtime *what, unsigned int host_ids)
{
	struct selftest found;
	struct sandbox sb;
	int rc = detach();

	runtime = what;
	if (rc != 0)
		return zygote_broken("closed", rc, "");
	rc = runtime->prepare();
	if (rc != 0)
		return zygote_broken(runtime->spawn != NULL ? "shim" : "job",
				     rc, "the runtime could not be prepared");
	rc = runtime->build != NULL ? runtime->build(&sb, host_ids, &found)
				    : build_empty(&sb, host_ids, &found);
	if (rc != 0)
		return rc;
	report(&sb, &found);
	memory_pack_heap();
	memory_pack_stack(serve_orders, sizeof(struct zygote_proto_spawn),
			  sizeof(struct zygote_proto_request), &sb);
	return EXIT_SUCCESS;
}
