/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c - one worker's life: asked of the spawner, given its code and inputs,
 * watched, ended, reaped. runs_queue.c starts it, runs.c cancels it. When none can
 * be cloned the run is told that it was not started. A worker that breaks the
 * protocol or is late is killed, and its exit decides the outcome.
 */
#include "supervisor/worker/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/quantity.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "proto/json/json_pack.h"
#include "supervisor/inputs/run_files.h"
#include "supervisor/run/limits.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/worker/programs.h"
#include "supervisor/run/outcome.h"
#include "supervisor/worker/worker_private.h"
#include "supervisor/templates/template_load.h"
#include "supervisor/threads/output_parse.h"

#define FRAMES_PER_WAKE 16 /* of up to 64 KiB each */
#define LINGER_MS 1000	   /* from a worker's last word to its exit */

/* ---- ending it ---- */

static void worker_kill(struct worker *w, int sig)
{
	if (w->child.pid > 0)
		kill(w->child.pid, sig);
	if (sig == SIGKILL)
		w->killed =
		    true; /* and again once it is cloned, if that is to come */
}

static void worker_free(struct worker *w)
{
	w->run->worker = NULL;
	fair_queue_cancel(&w->turn);
	event_free(w->readable);
	event_free(w->writable);
	event_free(w->deadline);
	close(w->fd);
	worker_unreserve(w);
	worker_files_free(w->files);
	artifact_file_free(w->blob);
	free(w->artifact.name);
	free(w->artifact.mime_type);
	tool_error_fini(&w->tool_error);
	worker_question_fini(w);
	buf_fini(&w->result);
	free(w);
}

int worker_violation_of(struct worker *w, const char *offence,
			struct json_object *details)
{
	json_add(details, "offence:s", offence);
	run_set_error(w->run, "PROTOCOL_VIOLATION", details,
		      "the worker broke its protocol: %s", offence);
	log_warn("worker", "run=%s requestor=%s pid=%d violation=\"%s\"",
		 w->run->id, w->run->requestor->name, (int)w->child.pid,
		 offence);
	worker_kill(w, SIGKILL);
	return -EPROTO;
}

int worker_violation(struct worker *w, const char *offence)
{
	return worker_violation_of(w, offence, json_object_new_object());
}

static void after_ms(struct event *ev, int64_t ms)
{
	event_add(ev, CLOCK_TIMEVAL(ms));
}

/* The caller may have asked for more than it got. */
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

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;

	(void)fd, (void)what;
	if (r->state == RUN_CANCELLING || w->phase == PHASE_DONE)
		; /* how it ends is settled */
	else if (w->silent)
		worker_violation(w, "it closed its socket and lived on");
	else
		tell_timeout(r);
	worker_kill(w, SIGKILL);
	if (w->child.pid == 0)
		spawner_overdue(w->env->ctx->spawner, &w->child);
}

void worker_recv_last(struct worker *w)
{
	after_ms(w->deadline, LINGER_MS);
}

void worker_cancel(struct run *r)
{
	worker_kill(r->worker, SIGTERM);
	after_ms(r->worker->deadline, r->limits.cancel_grace_ms);
}

bool worker_stop(struct run *r)
{
	struct worker *w = r->worker;

	if (r->template->runtime != RUNTIME_LUA || w->child.pid <= 0)
		return false;
	worker_kill(w, SIGSTOP);
	event_del(w->deadline);
	return true;
}

/* W is told how long no time was to pass. */
static void resume(const struct worker *w, int64_t rested_ms)
{
	const union sigval ms = {.sival_int = (int)rested_ms};

	if (w->child.pid > 0 && sigqueue(w->child.pid, SIGCONT, ms) < 0)
		kill(w->child.pid, SIGCONT); /* no room for what is with it */
}

void worker_continue(struct run *r, int64_t rested_ms)
{
	struct worker *w = r->worker;
	int64_t left = run_left_ms(r);

	if (w == NULL)
		return;
	resume(w, rested_ms);
	if (r->state == RUN_RUNNING || r->state == RUN_AWAITING_INPUT)
		after_ms(w->deadline, left > 0 ? left : 0);
}

void worker_end(struct run *r)
{
	worker_kill(r->worker, SIGKILL);
}

bool worker_is_alive(const struct run *r)
{
	const struct worker *w = r->worker;

	return w != NULL && w->child.pid > 0 && !w->killed;
}

/* ---- what goes to it ---- */

int worker_send(struct worker *w, const struct msg *m)
{
	uint8_t frame[CHAN_FRAME_MAX];

	return chan_send(w->fd, frame, msg_put(frame, m));
}

static struct str str_of(const char *s)
{
	return (struct str){s, strlen(s)};
}

static size_t body_len(const struct worker *w)
{
	const struct run *r = w->run;

	return w->files != NULL ? worker_files_body(w->files)
				: r->template->code_len + r->inputs_len;
}

/* An artifact of its files cannot be read: what it was told is never whole. */
static void files_failed(struct worker *w, int err)
{
	run_set_error(w->run, "STORE_UNAVAILABLE", NULL,
		      "a file that the run is given cannot be read: %s",
		      store_says(err));
	worker_kill(w, SIGKILL);
}

/* The next piece of the body, which is the code and then the inputs. */
static struct str body_piece(struct worker *w)
{
	static char whole[MSG_CHUNK_MAX];
	const struct run *r = w->run;
	size_t code_len = r->template->code_len;
	size_t total = code_len + r->inputs_len;
	struct str s;

	if (w->files != NULL) {
		ssize_t n =
		    worker_files_piece(w->files, w->sent, whole, sizeof(whole));

		if (n < 0)
			files_failed(w, (int)n);
		return (struct str){whole, n > 0 ? (size_t)n : 0};
	}
	if (total <= sizeof(whole)) { /* in one frame, as most are */
		if (code_len > 0)     /* a program's lies in its package */
			memcpy(whole, r->template->code, code_len);
		if (r->inputs_len > 0)
			memcpy(whole + code_len, r->inputs, r->inputs_len);
		return (struct str){whole, total};
	}
	if (w->sent < code_len)
		s = (struct str){r->template->code + w->sent,
				 code_len - w->sent};
	else
		s = (struct str){r->inputs + (w->sent - code_len),
				 total - w->sent};
	if (s.n > MSG_CHUNK_MAX)
		s.n = MSG_CHUNK_MAX;
	return s;
}

static int send_run(struct worker *w, struct str head)
{
	const struct run *r = w->run;
	struct msg m = {
	    .type = MSG_RUN,
	    .run = {.run_id = str_of(r->id),
		    .template_id = str_of(r->template->id),
		    .entry = str_of(r->template->entry),
		    .timeout_ms = (uint64_t)r->limits.timeout_ms,
		    .cancel_grace_ms = (uint64_t)r->limits.cancel_grace_ms,
		    .memory_bytes = (uint64_t)r->limits.memory_bytes,
		    .output_bytes = (uint64_t)r->limits.output_bytes,
		    .artifact_bytes = (uint64_t)r->limits.artifact_bytes,
		    .messages_per_second =
			(uint64_t)r->limits.messages_per_second,
		    .code_bytes = r->template->code_len,
		    .inputs_bytes =
			w->files != NULL ? r->files->inputs_len : r->inputs_len,
		    .files_bytes = worker_files_bytes(w->files),
		    .head = head}};

	return worker_send(w, &m);
}

/* Another worker may need the inputs until this one is known to live. */
void worker_drop_inputs(struct worker *w)
{
	struct run *r = w->run;

	if (w->phase == PHASE_BORN || !w->run_whole)
		return;
	free(r->inputs);
	r->inputs = NULL;
	r->inputs_len = 0;
	run_files_free(r->files);
	r->files = NULL;
}

/* As much as the socket takes; the rest when it is writable again. */
static void send_body(struct worker *w)
{
	int rc = 0;

	while (!w->run_sent || w->sent < body_len(w)) {
		struct str s = body_piece(w);
		struct msg chunk = {.type = MSG_CHUNK, .chunk = {s}};

		if (s.n == 0 && w->sent < body_len(w))
			return; /* it is killed */
		rc = w->run_sent ? worker_send(w, &chunk) : send_run(w, s);
		if (rc < 0)
			break;
		w->run_sent = true;
		w->sent += s.n;
	}
	if (rc == -EAGAIN) {
		event_add(w->writable, NULL);
		return;
	}
	/* any other failure: the worker is dying, and its end will be told */
	w->run_whole = true;
	worker_files_free(w->files);
	w->files = NULL;
	worker_drop_inputs(w);
	worker_question_flush(w);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct worker *w = arg;

	(void)fd, (void)what;
	if (w->run_whole)
		worker_question_flush(w);
	else
		send_body(w);
}

enum drained { DRAIN_MORE, DRAIN_DRY, DRAIN_END };

/* Up to MAX frames. DRY: none for now; END: there will be none. */
static enum drained drain(struct worker *w, int max)
{
	uint8_t frame[CHAN_FRAME_MAX];

	for (int i = 0; i < max; i++) {
		ssize_t n = chan_recv(w->fd, frame);

		if (n == -EMSGSIZE && w->phase == PHASE_DONE)
			continue; /* dropped, as all that comes then */
		if (n == -EMSGSIZE) {
			worker_violation(
			    w, "a frame that is empty or over 64 KiB");
			return DRAIN_END;
		}
		if (n <= 0)
			return n == -EAGAIN ? DRAIN_DRY : DRAIN_END;
		if (worker_recv(w, frame, (size_t)n) < 0)
			return DRAIN_END;
	}
	return DRAIN_MORE;
}

static void on_turn(void *arg)
{
	struct worker *w = arg;

	if (drain(w, FRAMES_PER_WAKE) != DRAIN_END) {
		event_add(w->readable, NULL);
		return;
	}
	event_del(w->readable); /* the outcome waits for its exit */
	w->silent = true;
	worker_recv_last(w);
}

/* What it says is its requestor's to wait for, when others want the loop. */
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

/* ---- start and end ---- */

/* A program's shim does nothing before it is told what: now it may be. */
static void hold(struct worker *w)
{
	struct run *r = w->run;
	int rc = w->child.pid > 0
		     ? programs_hold(r, w->child.slot, w->child.pid)
		     : -ENOTSUP;

	w->waits = false;
	w->held = rc == 0;
	if (rc == 0 || rc == -ENOTSUP) {
		send_body(w);
		return;
	}
	log_error("worker", "run=%s requestor=%s cgroup=failed err=\"%s\"",
		  r->id, r->requestor->name, strerror(-rc));
	run_set_error(r, "WORKER_CRASHED", NULL,
		      "its cgroup could not be made, so the worker was ended "
		      "before it ran anything; the server's log has more");
	worker_kill(w, SIGKILL);
}

static void on_born(struct spawner_child *child, int err)
{
	struct worker *w = CONTAINER(child, struct worker, child);
	const struct worker_env *env = w->env;
	struct run *r = w->run;

	if (err == 0) {
		log_debug("worker", "run=%s pid=%d slot=%u", r->id,
			  (int)child->pid, child->slot);
		if (w->waits)
			hold(w);
		if (w->killed || r->state == RUN_CANCELLING)
			worker_kill(w, w->killed ? SIGKILL : SIGTERM);
		return;
	}
	if (err == ESRCH && w->phase == PHASE_BORN)
		err = EAGAIN; /* the zygote died first: try another */
	else if (err == ESRCH)
		run_set_error(
		    r, "WORKER_CRASHED", NULL,
		    "the worker was lost, because the process that had "
		    "just made it was killed");
	worker_free(w);
	env->on_not_started(env->arg, r, -err);
}

static void on_reaped(struct spawner_child *child, int status,
		      const struct rusage *use)
{
	struct worker *w = CONTAINER(child, struct worker, child);
	struct exit_facts e = {
	    .status = status, .use = *use, .group = CGROUP_USE_UNKNOWN};
	const struct worker_env *env = w->env;
	struct run *r = w->run;

	w->child.pid = 0;
	if (w->held)
		cgroup_run_end(child->slot, &e.group);
	while (!w->silent && drain(w, FRAMES_PER_WAKE) == DRAIN_MORE)
		;
	e.have_result = w->have_result;
	if (w->have_result && buf_len(&w->result) > 0)
		e.output = buf_take(&w->result, &e.output_len);
	e.reply_failed = w->have_result && r->is_reply &&
			 output_parse_reply_failed(r->result);
	worker_free(w);
	env->on_over(env->arg, r, &e);
}

int worker_start(const struct worker_env *env, struct run *r)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	struct spawner_job job = programs_job(r);
	int ends[2];
	int rc = chan_pair(ends);

	if (rc < 0) {
		free(w);
		return rc;
	}
	w->child.on_born = on_born;
	w->child.on_exit = on_reaped;
	rc = worker_is_stale(r, env->ctx->spawner, &job) ? -ESTALE : 0;
	if (rc == 0 && r->files != NULL)
		rc = worker_files_open(&w->files, env->ctx->spawner,
				       env->ctx->config, r, &job);
	if (rc == 0)
		rc = spawner_spawn(env->ctx->spawner, &w->child, ends[1], &job);
	close(ends[1]);
	if (rc < 0) {
		close(ends[0]);
		worker_files_free(w->files);
		free(w);
		return rc;
	}
	w->env = env;
	w->run = r;
	w->fd = ends[0];
	TAILQ_INIT(&w->asked);
	TAILQ_INIT(&w->answers);
	w->turn = (struct fair_queue_turn){.take = on_turn, .arg = w};
	worker_recv_init(w);
	w->readable = event_new(env->ctx->base, w->fd, EV_READ | EV_PERSIST,
				on_readable, w);
	w->writable =
	    event_new(env->ctx->base, w->fd, EV_WRITE, on_writable, w);
	w->deadline = evtimer_new(env->ctx->base, on_deadline, w);
	event_add(w->readable, NULL);
	after_ms(w->deadline, r->limits.timeout_ms);
	r->worker = w;
	w->waits = job.kind == RUNTIME_PROGRAM;
	if (!w->waits)
		send_body(w);
	return 0;
}
