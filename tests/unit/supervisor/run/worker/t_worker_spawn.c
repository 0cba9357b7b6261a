/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_worker_spawn.c - a decision about a run before the worker was there is done once
 * the worker is there; and the state of a run whose worker has given the result and
 * still lives. The program, exec'd as "paddock-worker", is the zygote: its workers wait
 * for a signal, and at SIGUSR1 give a result.
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
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "ipc/zygote_proto.h"
#include "base/os/fdpass.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/run/outcome.h"
#include "supervisor/run/worker/worker_private.h"
#include "tests/unit/tap.h"

/* ---- the zygote ---- */

#define SAID_MS 77 /* the CPU time in the worker's report */
#define SAID_KB 7  /* the memory in the worker's report */

static int run_fd; /* of the next worker */

static void give_result(int sig)
{
	static unsigned char frame[CHAN_FRAME_MAX];
	const struct msg m = {.type = MSG_RESULT,
			      .result = {.user_us = SAID_MS * 1000,
					 .max_rss_kb = SAID_KB,
					 .total = 2,
					 .head = {"{}", 2}}};

	(void)sig;
	chan_send(run_fd, frame, msg_put(frame, &m));
}

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

	signal(SIGUSR1, give_result);
	send(ZYGOTE_PROTO_CONTROL_FD, &report, sizeof(report), MSG_NOSIGNAL);
	while (fdpass_recv(ZYGOTE_PROTO_CONTROL_FD, &o, sizeof(o), &run_fd,
			   NULL) == sizeof(o)) {
		struct zygote_proto_event n = {.type = ZYGOTE_PROTO_SPAWNED,
					       .seq = o.seq};

		/* the clone keeps the socket open */
		n.pid = clone_for_parent();
		close(run_fd);
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
static struct {		  /* for a worker which gave a result */
	bool takes_early; /* does the result end the run? */
	int leavings, gones;
	int64_t said_ms, said_kb;
	bool alive, was_told;
	long gone_kb;
} left;
static void on_report(void *arg, enum runtime_kind kind,
		      const struct zygote_proto_event *n)
{
	(void)arg, (void)kind, (void)n;
	reports++;
}

static void on_broken(void *arg, enum runtime_kind kind, const char *errmsg)
{
	(void)arg, (void)kind, (void)errmsg;
}

static void on_over(void *arg, struct run *r, const struct exit_facts *e)
{
	(void)arg, (void)r;
	overs++;
	ended_by = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
}

static bool on_leaving(void *arg, struct run *r, const struct exit_facts *e)
{
	(void)arg;
	left.leavings++;
	left.alive = worker_is_alive(r);
	left.was_told = e->have_result && r->output.value != NULL;
	left.said_ms =
	    e->use.ru_utime.tv_sec * 1000 + e->use.ru_utime.tv_usec / 1000;
	left.said_kb = e->use.ru_maxrss;
	if (left.takes_early)
		run_apply(r, EV_SUCCEED);
	return left.takes_early;
}

static void on_gone(void *arg, struct run *r, const struct exit_facts *e)
{
	(void)arg;
	left.gones++;
	left.gone_kb = e->use.ru_maxrss;
	ok(r->job.worker == NULL, "a run has no worker when that is gone");
}

static void on_child(evutil_socket_t sig, short what, void *arg)
{
	(void)sig, (void)what, (void)arg;
	spawner_reap(spawner);
}

/*
 * Order a worker for a run, call DECIDE before the worker is reported, and turn the
 * loop until the worker is spawned.
 */
static int end_of(void (*decide)(struct run *r))
{
	const struct config config = {.state_dir = (char *)(uintptr_t) "/none"};
	struct context ctx = {.base = base,
			      .config = &config,
			      .spawner = spawner,
			      .instance = "none"};
	struct worker_env env = {.ctx = &ctx,
				 .on_over = on_over,
				 .on_leaving = on_leaving,
				 .on_gone = on_gone};
	struct run *r = run_new(requestors_of_uid(&requestors, 7), template);

	r->limits.timeout_ms = 3600000;	  /* no timeout ends the run */
	r->limits.cancel_grace_ms = 2000; /* then SIGKILL comes by itself */
	r->limits.cpu_ms = 1000;
	r->limits.output_bytes = 100;
	r->limits.memory_bytes = 1 << 20;
	r->limits.messages_per_second = 100;
	run_apply(r, EV_START);
	overs = left.gones = left.leavings = 0;
	ended_by = -1;
	if (worker_start(&env, r, false) != 0)
		return -2;
	decide(r);
	while (overs + left.gones == 0)
		event_base_loop(base, EVLOOP_ONCE);
	run_free(r);
	return ended_by;
}

static void cancel(struct run *r)
{
	run_apply(r, EV_CANCEL);
	worker_cancel(r);
	ok(r->job.worker->spawned->child.pid == 0,
	   "a run is cancelled before its birth is told");
}

static void offend(struct run *r)
{
	worker_violation(r->job.worker, "the worker spoke before it was there");
	ok(r->job.worker->spawned->child.pid == 0,
	   "one that offends before that");
}

static void await_birth(const struct run *r)
{
	while (!spawned_is_alive(r->job.worker->spawned))
		event_base_loop(base, EVLOOP_ONCE);
}

static void give_and_end(struct run *r)
{
	struct worker *w = r->job.worker;

	await_birth(r);
	kill(w->spawned->child.pid, SIGUSR1);
	while (!w->have_result)
		event_base_loop(base, EVLOOP_ONCE);
	worker_end(r);
}

static void cancel_and_give(struct run *r)
{
	await_birth(r);
	run_apply(r, EV_CANCEL);
	give_and_end(r);
}

static void test_leaves(void)
{
	left.takes_early = true;
	is_int(
	    end_of(give_and_end), -1,
	    "a run that is over by its result is not over again by its exit");
	is_int(left.leavings, 1, "the end of a run by the result is told once");
	ok(left.alive && left.was_told,
	   "the end by the result is told while the worker lives");
	ok(left.said_ms == SAID_MS && left.said_kb == SAID_KB,
	   "the end by the result has the worker's figures");
	is_int(left.gones, 1, "the end of a worker is told once");
	ok(left.gone_kb > SAID_KB,
	   "the end of the worker has the kernel's figures");

	left.takes_early = false;
	is_int(end_of(give_and_end), SIGKILL,
	       "one that is not is over by that");
	ok(left.leavings == 1 && left.gones == 0, "alone");

	is_int(end_of(cancel_and_give), SIGKILL,
	       "one that is cancelled is over by its exit");
	is_int(left.leavings, 0, "whatever its worker gave before");
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
	       "a cancelled worker is asked to end when there");
	is_int(end_of(offend), SIGKILL,
	       "an offending worker is killed when there");
	test_leaves();
	spawner_stop(spawner);
	spawner_free(spawner);
	event_free(child);
	template_unref(template);
	requestors_fini(&requestors);
	event_base_free(base);
	return tap_done();
}
