/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_worker_spawn.c - what was decided about a run before its worker was there
 * is done once it is. This program, exec'd as "paddock-worker", is the zygote:
 * its workers wait for a signal, and for nothing else.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "ipc/zygote_proto.h"
#include "base/os/fdpass.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/run/outcome.h"
#include "supervisor/worker/worker_private.h"
#include "tests/unit/tap.h"

/* ---- the zygote ---- */

static pid_t clone_for_parent(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL,
				   NULL, NULL, NULL);

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static int zygote(void)
{
	struct zygote_proto_event report = {.type = ZYGOTE_PROTO_REPORT,
					    .layers = 1};
	struct zygote_proto_request o;
	int fd;

	send(ZYGOTE_PROTO_CONTROL_FD, &report, sizeof(report), MSG_NOSIGNAL);
	while (fdpass_recv(ZYGOTE_PROTO_CONTROL_FD, &o, sizeof(o), &fd, NULL) ==
	       sizeof(o)) {
		struct zygote_proto_event n = {.type = ZYGOTE_PROTO_SPAWNED,
					       .seq = o.seq};

		n.pid = clone_for_parent(); /* which keeps its socket open */
		close(fd);
		send(ZYGOTE_PROTO_CONTROL_FD, &n, sizeof(n), MSG_NOSIGNAL);
	}
	return 0;
}

/* ---- the supervisor ---- */

static struct spawner *spawner;
static struct event_base *base;
static struct requestors requestors;
static struct template *template;
static int reports, overs, ended_by;
static void on_report(void *arg, enum runtime kind,
		      const struct zygote_proto_event *n)
{
	(void)arg, (void)kind, (void)n;
	reports++;
}

static void on_broken(void *arg, enum runtime kind, const char *errmsg)
{
	(void)arg, (void)kind, (void)errmsg;
}

static void on_over(void *arg, struct run *r, const struct exit_facts *e)
{
	(void)arg, (void)r;
	overs++;
	ended_by = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
}

static void on_child(evutil_socket_t sig, short what, void *arg)
{
	(void)sig, (void)what, (void)arg;
	spawner_reap(spawner);
}

/*
 * A run whose worker was asked for, and not told of; then DECIDE; then the
 * loop turns, so that it is born.
 */
static int end_of(void (*decide)(struct run *r))
{
	const struct config config = {.state_dir = (char *)(uintptr_t) "/none"};
	struct context ctx = {.base = base,
			      .config = &config,
			      .spawner = spawner,
			      .instance = "none"};
	struct worker_env env = {.ctx = &ctx, .on_over = on_over};
	struct run *r = run_new(requestors_of_uid(&requestors, 7), template);

	r->limits.timeout_ms = 3600000;	  /* nothing else ends it */
	r->limits.cancel_grace_ms = 2000; /* then SIGKILL comes, by itself */
	r->limits.cpu_ms = 1000;
	r->limits.memory_bytes = 1 << 20;
	r->limits.messages_per_second = 100;
	run_apply(r, EV_START);
	overs = 0;
	ended_by = -1;
	if (worker_start(&env, r) != 0)
		return -2;
	decide(r);
	while (overs == 0)
		event_base_loop(base, EVLOOP_ONCE);
	run_free(r);
	return ended_by;
}

static void cancel(struct run *r)
{
	run_apply(r, EV_CANCEL);
	worker_cancel(r);
	ok(r->worker->born->child.pid == 0,
	   "a run is cancelled before its birth is told");
}

static void offend(struct run *r)
{
	worker_violation(r->worker, "it spoke before it was there");
	ok(r->worker->born->child.pid == 0, "one that offends before that");
}

int main(int argc, char **argv)
{
	static const struct spawner_ops ops = {on_report, on_broken, NULL};
	struct event *child;
	char self[64];

	(void)argc;
	if (strcmp(argv[0], "paddock-worker") == 0)
		return zygote();
	log_set_level(LOG_LEVEL_ERROR);
	base = event_base_new();
	template = xcalloc(1, sizeof(*template));
	template->users = 1;
	template->id = xstrdup("t");
	template->version_text = xstrdup("1.0.0");
	template->entry = xstrdup("main.lua");
	template->code = xstrdup("return 1");
	template->code_len = strlen(template->code);
	child = evsignal_new(base, SIGCHLD, on_child, NULL);
	event_add(child, NULL);
	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	spawner = spawner_start(base, self, &ops, NULL);
	while (reports == 0)
		event_base_loop(base, EVLOOP_ONCE);
	is_int(end_of(cancel), SIGTERM,
	       "is asked to end as soon as it is there");
	is_int(end_of(offend), SIGKILL, "is killed then");
	spawner_stop(spawner);
	spawner_free(spawner);
	event_free(child);
	template_unref(template);
	requestors_fini(&requestors);
	event_base_free(base);
	return tap_done();
}
