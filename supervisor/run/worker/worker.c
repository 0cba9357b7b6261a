/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - the life of a worker: asked of the spawner, given code and inputs,
 * watched, ended, reaped. runs_queue.c starts a worker, runs.c cancels it. When
 * no worker can be cloned the run is told so. A worker that breaks the protocol
 * or is late is killed, and the exit decides the outcome.
 */
#include "supervisor/run/worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/quantity.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "proto/json/json_pack.h"
#include "supervisor/egress/egress.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/limits.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/run/health/interpreters.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/run/outcome.h"
#include "supervisor/run/warm/warm.h"
#include "supervisor/run/worker/worker_private.h"
#include "supervisor/run/threads/output_parse.h"
#include "supervisor/run/warm/residents.h"
#include "supervisor/runtime/runtime.h"

#define FRAMES_PER_WAKE 16 /* most frames read at once, of up to 64 KiB each */
#define LINGER_MS 1000	   /* time from a worker's last message to its exit */
#define END_MS 2000	   /* time for a shim to end its processes, and tell */
#define AGAIN_MS 100	   /* pause between two SIGTERMs; see ask_again() */

/* ---- ending a worker ---- */

static void after_ms(struct event *ev, int64_t ms)
{
	event_add(ev, CLOCK_TIMEVAL(ms));
}

static void worker_kill(struct worker *w, int sig)
{
	if (sig == SIGKILL) {
		w->killed = true; /* if not cloned yet, kill once cloned */
		/* the shim ends the program, and tells what was printed; without a
		   cgroup only the shim, which waits for the program's processes,
		   knows their CPU time */
		if (runtimes[w->run->template->runtime]->has_shim &&
		    !w->ending) {
			w->ending = true;
			sig = SIGQUIT;
			after_ms(w->deadline, END_MS);
		}
	}
	spawned_signal(w->spawned, sig);
}

static void worker_free(struct worker *w)
{
	w->run->job.worker = NULL;
	fair_queue_cancel(&w->turn);
	event_free(w->readable);
	event_free(w->writable);
	event_free(w->deadline);
	if (w->cpu != NULL)
		event_free(w->cpu);
	spawned_free(w->spawned);
	worker_artifact_drop(w);
	worker_files_free(w->files);
	free(w->artifact.name);
	free(w->artifact.mime_type);
	tool_error_fini(&w->tool_error);
	worker_question_fini(w);
	worker_printed_drop(w);
	buf_fini(&w->result);
	memory_give(&w->run->requestor->memory, w->result_held);
	free(w);
}

int worker_violation_of(struct worker *w, const char *offence,
			struct json_object *details)
{
	json_add(details, "offence:s", offence);
	run_set_error(w->run, "PROTOCOL_VIOLATION", details,
		      "the worker broke its protocol: %s", offence);
	log_warn("worker", "run=%s requestor=%s pid=%d violation=\"%s\"",
		 w->run->id, w->run->requestor->name,
		 (int)w->spawned->child.pid, offence);
	worker_kill(w, SIGKILL);
	return -EPROTO;
}

int worker_violation(struct worker *w, const char *offence)
{
	return worker_violation_of(w, offence, json_object_new_object());
}

/* Set RUN_TIMEOUT, with the time wished for if the run got less. */
static void tell_timeout(struct run *r)
{
	char had[QUANTITY_SIZE], wished[QUANTITY_SIZE];
	bool cut = r->limits.wished_ms > r->limits.timeout_ms;

	quantity(had, r->limits.timeout_ms, "ms");
	quantity(wished, r->limits.wished_ms, "ms");
	run_set_error(r, "RUN_TIMEOUT",
		      limits_details(r, LIMIT_TIMEOUT, r->limits.timeout_ms),
		      "the run did not end within the %s that it had%s%s%s",
		      had, cut ? "; " : "", cut ? wished : "",
		      cut ? " were asked for, which is more than it may have"
			  : "");
}

/* Send SIGTERM; a resident is told which limit is the reason. */
static void ask_process_to_end(const struct worker *w)
{
	const union sigval why = {.sival_int = w->interrupted};

	if (!w->interrupted || !spawned_is_alive(w->spawned) ||
	    sigqueue(w->spawned->child.pid, SIGTERM, why) != 0)
		spawned_signal(w->spawned, SIGTERM);
}

/*
 * Ask W to end, and have on_deadline() ask again until the grace is over: a
 * pending SIGTERM of the program's own keeps the supervisor's from arriving.
 * False: the grace is over.
 */
static bool ask_again(struct worker *w)
{
	int64_t left_ms = w->grace_end_ms - clock_mono_ms();

	if (left_ms <= 0 || w->killed || w->phase == PHASE_DONE || w->silent)
		return false;
	ask_process_to_end(w);
	after_ms(w->deadline, left_ms < AGAIN_MS ? left_ms : AGAIN_MS);
	return true;
}

bool worker_interrupt(struct worker *w, enum zygote_proto_why why,
		      void (*tell)(struct run *r))
{
	struct run *r = w->run;

	if (r->job.resident == NULL || w->interrupted || w->killed ||
	    w->silent || w->phase == PHASE_DONE || r->state == RUN_CANCELLING ||
	    !spawned_is_alive(w->spawned))
		return false;
	tell(r);
	w->interrupted = why;
	w->grace_end_ms = clock_mono_ms() + r->limits.cancel_grace_ms;
	return ask_again(w);
}

/* W's run has ended, and W's process stays for the next run. */
static void leave_process(struct worker *w)
{
	struct exit_facts e = {.use = w->said, .group = CGROUP_USE_UNKNOWN};
	const struct worker_env *env = w->env;
	struct run *r = w->run;

	if (w->spawned->held)
		cgroup_run_look(w->spawned->child.slot, &e.group);
	worker_cpu_add_unwaited(w, &e.use);
	if (worker_stays_alone(w))
		worker_cpu_charge(w, &e.use);
	e.have_result = w->have_result;
	if (w->have_result && buf_len(&w->result) > 0)
		e.output = buf_take(&w->result, &e.output_len);
	worker_printed_tell(w);
	egress_child_watch(w->spawned->egress, NULL, NULL);
	residents_rest(env->ctx->residents, r, w->spawned,
		       (uint64_t)w->said.ru_maxrss * 1024);
	w->spawned = NULL;
	worker_free(w);
	env->on_over(env->arg, r, &e);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;
	int64_t left_ms;

	(void)fd, (void)what;
	if (w->stays) {
		leave_process(w);
		return;
	}
	if (ask_again(w) || worker_interrupt(w, WHY_TIMEOUT, tell_timeout))
		return;
	if (r->state == RUN_CANCELLING || w->phase == PHASE_DONE)
		; /* the outcome is settled */
	else if (w->silent)
		w->lived_on = true;
	else
		tell_timeout(r);
	worker_kill(w, SIGKILL);
	if (spawned_is_alive(w->spawned))
		return;
	left_ms = spawner_overdue(w->env->ctx->spawner, &w->spawned->child);
	if (left_ms > 0)
		after_ms(w->deadline, left_ms);
}

void worker_recv_last(struct worker *w)
{
	after_ms(w->deadline, LINGER_MS);
}

void worker_cancel(struct run *r)
{
	struct worker *w = r->job.worker;

	w->grace_end_ms = clock_mono_ms() + r->limits.cancel_grace_ms;
	if (!ask_again(w)) {
		worker_kill(w, SIGTERM);
		after_ms(w->deadline, 0);
	}
}

bool worker_stop(struct run *r)
{
	struct worker *w = r->job.worker;

	if (runtimes[r->template->runtime]->has_shim ||
	    !spawned_is_alive(w->spawned))
		return false;
	worker_kill(w, SIGSTOP);
	event_del(w->deadline);
	return true;
}

void worker_continue(struct run *r, int64_t rested_ms)
{
	const union sigval ms = {.sival_int = (int)rested_ms};
	struct worker *w = r->job.worker;
	int64_t left = run_left_ms(r);

	if (w == NULL)
		return;
	/* the worker is told how long its clock rested, if the signal has room */
	if (spawned_is_alive(w->spawned) &&
	    sigqueue(w->spawned->child.pid, SIGCONT, ms) < 0)
		spawned_signal(w->spawned, SIGCONT);
	if (r->state == RUN_RUNNING || r->state == RUN_AWAITING_INPUT)
		after_ms(w->deadline, left > 0 ? left : 0);
}

void worker_end(struct run *r)
{
	worker_kill(r->job.worker, SIGKILL);
}

bool worker_is_alive(const struct run *r)
{
	const struct worker *w = r->job.worker;

	return w != NULL && spawned_is_alive(w->spawned) && !w->killed;
}

/* ---- messages ---- */

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd, (void)what;
	if (w->run_whole)
		worker_question_flush(w);
	else
		worker_send_body(w);
}

enum drained { DRAIN_MORE, DRAIN_DRY, DRAIN_FULL, DRAIN_STAYS, DRAIN_END };

/*
 * Read up to MAX frames, or to W's last message. DRY: no frame now; FULL: W
 * takes no frame now; STAYS: the process waits for the next run; END: no frame
 * will come.
 */
static enum drained drain(struct worker *w, int max)
{
	uint8_t frame[CHAN_FRAME_MAX];
	bool done = w->phase == PHASE_DONE;

	for (int i = 0; i < max; i++) {
		ssize_t n = chan_recv(w->spawned->fd, frame);

		if (n == -EMSGSIZE && done)
			continue; /* dropped, as all after the last message */
		if (n == -EMSGSIZE) {
			worker_violation(
			    w, "a frame that is empty or over 64 KiB");
			return DRAIN_END;
		}
		if (n <= 0)
			return n == -EAGAIN ? DRAIN_DRY : DRAIN_END;
		if (worker_recv(w, frame, (size_t)n) < 0)
			return DRAIN_END;
		if (w->stays)
			return DRAIN_STAYS;
		if (!done && w->phase == PHASE_DONE &&
		    w->run->job.resident == NULL)
			return DRAIN_DRY;
		if (w->full)
			return DRAIN_FULL;
	}
	return DRAIN_MORE;
}

/* W may have died before reading RUN: then the run has not begun. */
static void see_unread(struct worker *w)
{
	if (w->spawned->waited && w->phase == PHASE_SPAWNED &&
	    chan_left_unread(w->spawned->fd))
		w->unread = true;
}

/* Subtract from USE the CPU time before the run, for which the run does not pay. */
static void exclude_start(const struct spawned *b, struct rusage *use)
{
	struct timeval *const parts[] = {&use->ru_utime, &use->ru_stime};
	uint64_t ms = b->start_cpu_ms < WARM_START_CPU_MS ? b->start_cpu_ms
							  : WARM_START_CPU_MS;
	int64_t left_us = b->waited ? (int64_t)ms * 1000 : b->charged_us;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		int64_t had =
		    (int64_t)parts[i]->tv_sec * 1000000 + parts[i]->tv_usec;
		int64_t cut = had < left_us ? had : left_us;

		left_us -= cut;
		had -= cut;
		parts[i]->tv_sec = had / 1000000;
		parts[i]->tv_usec = had % 1000000;
	}
}

/*
 * Report the outcome of a worker without a shim that gave a result and may only
 * exit, so that the row is written meanwhile. A program may still have met a
 * limit.
 */
static void leave_run_of(struct worker *w)
{
	struct exit_facts e = {
	    .use = w->said, .group = CGROUP_USE_UNKNOWN, .have_result = true};
	struct run *r = w->run;

	if (runtimes[r->template->runtime]->has_shim || !w->have_result ||
	    buf_len(&w->result) > 0 || !w->run_whole || w->killed ||
	    !spawned_is_alive(w->spawned) || r->state != RUN_RUNNING ||
	    r->error.code != NULL)
		return;
	exclude_start(w->spawned, &e.use);
	e.reply_failed =
	    r->output.is_reply && output_parse_reply_failed(r->output.value);
	w->over = w->env->on_leaving(w->env->arg, r, &e);
}

static void on_turn(void *arg)
{
	struct worker *w = arg;
	enum drained how;
	bool ended;

	see_unread(w);
	how = drain(w, FRAMES_PER_WAKE);
	ended = how == DRAIN_END;
	if (how == DRAIN_FULL) {
		event_del(w->readable);
		return;
	}
	if (how == DRAIN_STAYS) {
		event_del(w->readable);
		after_ms(w->deadline, 0); /* W is freed there, not in a turn */
		return;
	}
	if (!ended &&
	    (w->phase != PHASE_DONE || w->run->job.resident != NULL)) {
		event_add(w->readable, NULL);
		return;
	}
	event_del(w->readable);
	if (!ended) {
		leave_run_of(w); /* else the outcome waits for the exit */
		warm_result(w->env->ctx->warm);
		return;
	}
	w->silent = true;
	worker_recv_last(w);
}

/* Read W in the requestor's turn, when others want the loop. */
static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd, (void)what;
	if (w->env->ctx->turns == NULL) {
		on_turn(w);
		return;
	}
	fair_queue_submit(w->env->ctx->turns, &w->run->requestor->turns,
			  &w->turn);
	if (w->turn.lane != NULL)
		event_del(w->readable);
}

void worker_read_on(struct worker *w)
{
	w->full = false;
	if (w->phase != PHASE_DONE && !w->silent)
		event_add(w->readable, NULL);
}

/* ---- start and end ---- */

/* Put W's shim, which waits for RUN, into a cgroup, then send RUN. */
static void hold_reading(struct worker *w)
{
	struct run *r = w->run;
	int rc = spawned_is_alive(w->spawned) ? programs_hold(r, w->spawned)
					      : -ENOTSUP;

	w->waits = false;
	w->spawned->held |= rc == 0;
	if (rc == 0 || rc == -ENOTSUP) {
		worker_cpu_watch(w);
		worker_send_body(w);
		return;
	}
	log_error("worker", "run=%s requestor=%s cgroup=failed err=\"%s\"",
		  r->id, r->requestor->name, strerror(-rc));
	run_set_error(r, "WORKER_CRASHED", NULL,
		      "its cgroup could not be made, so the worker was ended "
		      "before it ran anything; the server's log has more");
	worker_kill(w, SIGKILL);
	/* is that so for every run? */
	interpreters_forget(w->env->ctx->interpreters);
	interpreters_try(w->env->ctx->interpreters);
}

static void log_pid(const struct worker *w)
{
	log_debug("worker", "run=%s pid=%d slot=%u", w->run->id,
		  (int)w->spawned->child.pid, w->spawned->child.slot);
}

static void on_spawned(struct spawned *spawned, int err)
{
	struct worker *w = spawned->owner;
	const struct worker_env *env = w->env;
	struct run *r = w->run;

	if (err == 0) {
		log_pid(w);
		if (w->waits)
			hold_reading(w);
		else if (worker_stays_alone(w))
			worker_cpu_watch(w);
		if (w->killed || r->state == RUN_CANCELLING)
			worker_kill(w, w->killed ? SIGKILL : SIGTERM);
		return;
	}
	if (err == ESRCH && w->phase == PHASE_SPAWNED)
		err = EAGAIN; /* the zygote died first: try another */
	else if (err == ESRCH)
		run_set_error(
		    r, "WORKER_CRASHED", NULL,
		    "the worker was lost, because the process that had "
		    "just made it was killed");
	residents_lost(env->ctx->residents, r, NULL);
	worker_free(w);
	env->on_not_started(env->arg, r, -err);
}

/*
 * Did W die while waiting, before the run began? Then the run may start anew. A
 * shim says READY when handing the run over.
 */
static bool is_unfit(const struct worker *w)
{
	bool begun =
	    !runtimes[w->run->template->runtime]->has_shim && !w->unread;

	return w->spawned->waited && !begun && w->phase == PHASE_SPAWNED &&
	       !w->killed && w->run->state == RUN_RUNNING &&
	       w->run->error.code == NULL;
}

static void start_another(struct worker *w, int status)
{
	const struct worker_env *env = w->env;
	struct run *r = w->run;
	int rc;

	warm_was_unfit(env->ctx->warm, w->spawned, warm_why(status));
	worker_free(w);
	rc = worker_start(env, r, true);
	if (rc < 0)
		env->on_not_started(env->arg, r, rc);
}

static const char *why_lost(const struct worker *w)
{
	const char *code = w->run->error.code;

	if (!worker_stays_alone(w))
		return "its program ended with a run, or did not end a run in "
		       "time";
	if (code != NULL && strcmp(code, "RESOURCE_LIMIT") == 0)
		return "a run needed more memory or CPU time than it may have, "
		       "and its worker ended with the run";
	return "its worker ended with a run, which crashed or could not be "
	       "interrupted in time";
}

static void tell_over(void *arg)
{
	struct worker *w = arg;
	const struct worker_env *env = w->env;
	struct run *r = w->run;
	struct exit_facts e = w->exit;

	worker_free(w);
	env->on_over(env->arg, r, &e);
}

static void on_reaped(struct spawned *spawned, int status,
		      const struct rusage *use)
{
	struct worker *w = spawned->owner;
	struct exit_facts e = {
	    .status = status, .use = *use, .group = CGROUP_USE_UNKNOWN};
	const struct worker_env *env = w->env;
	struct run *r = w->run;

	if (spawned->held)
		cgroup_run_end(spawned->child.slot, &e.group);
	see_unread(w);
	worker_artifact_drop(w); /* no reader waits for the answer */
	w->full = false;
	while (!w->silent && drain(w, FRAMES_PER_WAKE) == DRAIN_MORE)
		;
	if (is_unfit(w)) {
		start_another(w, status);
		return;
	}
	if (spawned->waited)
		warm_began(env->ctx->warm, spawned);
	/* did our SIGKILL end W? Else W was exiting already, which takes a while
	   when much memory is freed */
	if (w->lived_on && !w->have_result && e.group.oom_kills <= 0 &&
	    WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		worker_violation(w, "it closed its socket and lived on");
	residents_lost(env->ctx->residents, r, why_lost(w));
	exclude_start(spawned, &e.use);
	worker_cpu_add_unwaited(w, &e.use);
	if (w->over) {
		worker_free(w);
		env->on_gone(env->arg, r, &e);
		return;
	}
	e.have_result = w->have_result;
	if (w->have_result && buf_len(&w->result) > 0)
		e.output = buf_take(&w->result, &e.output_len);
	e.reply_failed = w->have_result && r->output.is_reply &&
			 output_parse_reply_failed(r->output.value);
	worker_printed_tell(w);
	w->exit = e;
	w->silent = true;
	event_del(w->deadline);
	if (!egress_child_end(spawned->egress, tell_over, w))
		tell_over(w);
}

/* Get a worker that waited for a run like R, or ask for one. NULL and *RC. */
static struct spawned *get_spawned(const struct worker_env *env, struct run *r,
				   struct spawner_job *job, struct worker *w,
				   bool fresh, int *rc)
{
	static const struct spawned_ops ops = {on_spawned, on_reaped};
	struct context *ctx = env->ctx;
	struct json_object *network = grants_network(r->template, ctx->config);
	struct spawned *b = NULL;

	job->network = json_length(network) > 0;
	*rc = runtimes[job->kind]->sees_host &&
		      worker_is_stale(r, ctx->spawner, job)
		  ? -ESTALE
		  : 0;
	if (*rc == 0 && r->files != NULL)
		*rc = worker_files_open(&w->files, ctx->spawner, ctx->config, r,
					job);
	if (*rc < 0) {
		json_object_put(network);
		return NULL;
	}
	/* a child of paddock-egress is a requestor's, so none waits for a run */
	if (r->job.resident != NULL)
		b = residents_take(ctx->residents, r, job, network, &ops, w,
				   rc);
	else if (!fresh && !job->network)
		b = warm_take(ctx->warm, r->requestor, r->template, job, &ops,
			      w);
	if (b == NULL && *rc == 0)
		b = job->network ? worker_network_spawn(ctx, w, r, job, &ops,
							network, rc)
				 : spawned_ask(ctx->spawner, job, &ops, w, rc);
	json_object_put(network);
	if (b == NULL) {
		residents_lost(ctx->residents, r, NULL);
		warm_give_way(ctx->warm);
	}
	return b;
}

int worker_start(const struct worker_env *env, struct run *r, bool fresh)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	struct spawner_job job = programs_job(r);
	int rc;

	w->spawned = get_spawned(env, r, &job, w, fresh, &rc);
	if (w->spawned == NULL) {
		worker_files_free(w->files);
		free(w);
		return rc;
	}
	w->env = env;
	w->run = r;
	egress_child_watch(w->spawned->egress, &worker_network_ops, w);
	TAILQ_INIT(&w->asked);
	TAILQ_INIT(&w->answers);
	w->turn = (struct fair_queue_turn){.take = on_turn, .arg = w};
	w->tokens = worker_burst(r); /* the bucket is full */
	w->tokens_ms = clock_mono_ms();
	w->readable = event_new(env->ctx->base, w->spawned->fd,
				EV_READ | EV_PERSIST, on_readable, w);
	w->writable =
	    event_new(env->ctx->base, w->spawned->fd, EV_WRITE, on_writable, w);
	w->deadline = evtimer_new(env->ctx->base, on_deadline, w);
	event_add(w->readable, NULL);
	after_ms(w->deadline, r->limits.timeout_ms);
	r->job.worker = w;
	w->waits = runtimes[job.kind]->has_shim;
	if (spawned_is_alive(w->spawned)) /* true of a worker that waited */
		log_pid(w);
	if (w->waits && spawned_is_alive(w->spawned))
		hold_reading(w);
	else if (!w->waits)
		worker_send_body(w);
	if (spawned_is_alive(w->spawned) && worker_stays_alone(w))
		worker_cpu_watch(w);
	return 0;
}
