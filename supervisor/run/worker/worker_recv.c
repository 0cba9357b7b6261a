/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_recv.c - handles a worker's messages: which are legal now, how many a
 * second, and their effects on the run. worker.c passes every frame. -EPROTO
 * ends the worker with PROTOCOL_VIOLATION and the offence, also for a FAIL with
 * a code that only the supervisor may give.
 */
#include "supervisor/run/worker/worker_private.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "ipc/msg.h"
#include "proto/json/json.h"
#include "proto/mcp/mcp.h"
#include "supervisor/run/limits.h"
#include "supervisor/run/run_log.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/output_parse.h"
#include "supervisor/run/outcome.h"
#include "supervisor/runtime/runtime.h"

static int on_ready(struct worker *w, const struct msg *m)
{
	(void)m;
	w->phase = PHASE_TALKING;
	worker_drop_inputs(w);
	return 0;
}

/*
 * W, which waited, reports the CPU time used before its run. A resident's report
 * that it waits may cross with the next RUN, and says nothing then.
 */
static int on_waiting(struct worker *w, const struct msg *m)
{
	if (w->run->job.resident != NULL && w->run->notebook.cell > 1)
		return 0;
	if (!w->spawned->waited)
		return worker_violation(w, "a message out of turn");
	w->spawned->start_cpu_ms = m->waiting.cpu_ms;
	return 0;
}

static struct timeval timeval_of(uint64_t us)
{
	return (struct timeval){.tv_sec = (time_t)(us / 1000000),
				.tv_usec = (suseconds_t)(us % 1000000)};
}

/* Believe W's claims of the memory now and of the most, up to the limit. */
static void take_kept_bytes(struct worker *w, uint64_t bytes)
{
	uint64_t limit = (uint64_t)w->run->limits.memory_bytes;
	uint64_t most = (uint64_t)w->said.ru_maxrss * 1024;

	w->kept_bytes = bytes < limit ? bytes : limit;
	if (most < w->kept_bytes)
		most = w->kept_bytes;
	/* 0 would say that the use of the run is unknown */
	w->said.ru_maxrss = (long)((most < limit ? most : limit) / 1024) + 1;
}

/* W's program waits for the next run: the process is not W's any more. */
static int on_kept(struct worker *w, const struct msg *m)
{
	struct run_notebook *n = &w->run->notebook;

	if (w->run->job.resident == NULL)
		return worker_violation(w, "a message out of turn");
	n->ended = true;
	n->kept = m->kept.kept != 0;
	if (m->kept.why.n > 0)
		n->why = xstrndup(m->kept.why.p, m->kept.why.n);
	w->said.ru_utime = timeval_of(m->kept.cpu_ms * 1000);
	take_kept_bytes(w, m->kept.memory_bytes);
	w->stays = true;
	return 0;
}

/* W's shim reports the CPU time of all processes that it has seen. */
static int on_used(struct worker *w, const struct msg *m)
{
	if (!runtimes[w->run->template->runtime]->has_shim)
		return worker_violation(w, "a message out of turn");
	if (m->used.cpu_ms > w->used_ms)
		w->used_ms = m->used.cpu_ms;
	return 0;
}

static int on_progress(struct worker *w, const struct msg *m)
{
	struct run *r = w->run;
	uint64_t total = m->progress.total;
	uint64_t done =
	    total != 0 && m->progress.done > total ? total : m->progress.done;

	if (r->progress.told && done < r->progress.done)
		return 0; /* progress never falls */
	r->progress.told = true;
	r->progress.done = done;
	r->progress.total = total;
	if (m->progress.message.n > 0) {
		free(r->progress.message);
		r->progress.message =
		    xstrndup(m->progress.message.p, m->progress.message.n);
	}
	r->updated_ms = clock_wall_ms();
	run_tell(r, &(struct run_notice){.kind = NOTICE_PROGRESS});
	return 0;
}

static int on_step(struct worker *w, const struct msg *m)
{
	const char *errmsg;

	if (run_steps_apply(&w->run->steps, &m->step, &errmsg) < 0)
		return worker_violation(w, errmsg);
	w->run->updated_ms = clock_wall_ms();
	run_tell(w->run, &(struct run_notice){.kind = NOTICE_PROGRESS});
	return 0;
}

static int on_log(struct worker *w, const struct msg *m)
{
	const char *level = mcp_level_name(m->log.level);
	struct run *r = w->run;
	int rc;

	log_debug("template", "run=%s level=%s msg=\"%.*s\"", r->id, level,
		  (int)m->log.text.n, m->log.text.p);
	rc = run_log_add(r, level, m->log.text);
	run_tell(r, &(struct run_notice){.kind = NOTICE_LOG,
					 .level = m->log.level,
					 .text = m->log.text.p,
					 .len = m->log.text.n});
	return rc;
}

static int bad_result(struct worker *w, const char *offence, const char *errmsg)
{
	struct run *r = w->run;

	json_object_put(r->output.value);
	r->output.value = NULL;
	if (!runtimes[r->template->runtime]->has_shim)
		return worker_violation(w, offence);
	outcome_bad_result(r, offence, errmsg);
	return 0;
}

static int result_done(struct worker *w)
{
	char errmsg[OUTPUT_PARSE_WHY_SIZE];
	struct json_error err = {0};
	struct run *r = w->run;
	const char *fault;

	w->phase = PHASE_DONE;
	worker_recv_last(w);
	r->output.is_reply = w->reply;
	w->have_result = rpc_async_is_large(buf_len(&w->result));
	if (w->have_result)
		return 0; /* large: read when the worker is gone */
	if (json_parse(&r->output.value, buf_data(&w->result),
		       buf_len(&w->result), &err) < 0) {
		output_parse_why_stray(errmsg, buf_data(&w->result),
				       buf_len(&w->result), &err);
		return bad_result(w, "a result that is not JSON", errmsg);
	}
	buf_fini(&w->result);
	fault = w->reply ? output_parse_reply_fault(r->output.value) : NULL;
	if (fault != NULL)
		return bad_result(w, fault, "");
	w->have_result = true;
	return 0;
}

static int result_bytes(struct worker *w, struct str s)
{
	if (s.n > w->body_total - w->body_got)
		return worker_violation(w, "a result is longer than it said");
	buf_add(&w->result, s.p, s.n);
	w->body_got += s.n;
	return w->body_got == w->body_total ? result_done(w) : 0;
}

/* Count a large result of W. False: there is no room, and W is killed. */
static bool hold_result(struct worker *w, size_t bytes)
{
	if (!rpc_async_is_large(bytes))
		return true;
	if (!memory_take(&w->run->requestor->memory, bytes)) {
		run_set_error(
		    w->run, "RESOURCE_LIMIT", NULL,
		    "the result is of %zu bytes, and this server keeps "
		    "as much for its caller as it has room for now; "
		    "await other answers, and try again (who can raise "
		    "that is the operator: server_memory in [limits])",
		    bytes);
		worker_end(w->run);
		return false;
	}
	w->result_held = bytes;
	return true;
}

static int on_result(struct worker *w, const struct msg *m)
{
	if (m->result.total > (uint64_t)w->run->limits.output_bytes)
		return worker_violation(w, "a result over its limit");
	worker_question_drop(w);
	if (!hold_result(w, m->result.total))
		return 0;
	w->phase = PHASE_RESULT;
	w->reply = m->result.kind == MSG_RESULT_REPLY;
	w->said.ru_utime = timeval_of(m->result.user_us);
	w->said.ru_stime = timeval_of(m->result.system_us);
	w->said.ru_maxrss = (long)m->result.max_rss_kb;
	w->body_total = m->result.total;
	w->body_got = 0;
	return result_bytes(w, m->result.head);
}

static int on_chunk(struct worker *w, const struct msg *m)
{
	switch (w->phase) {
	case PHASE_ARTIFACT:
		return worker_artifact_bytes(w, m->chunk.data);
	case PHASE_ASK:
		return worker_question_chunk(w, m->chunk.data);
	default:
		return result_bytes(w, m->chunk.data);
	}
}

/* May W report CODE of itself? Other codes are the supervisor's. */
static bool may_claim(const struct worker *w, struct str code)
{
	const struct run *r = w->run;
	const char *met = w->tool_error.code;

	static const struct {
		const char *code;
		bool of_program; /* a program's end is not its worker's */
	} codes[] = {
	    {"EXECUTION_ERROR", false}, {"STEP_EXECUTION_FAILED", false},
	    {"RESOURCE_LIMIT", false},	{"SANDBOX_VIOLATION", false},
	    {"RUN_CANCELED", false},	{"OUTPUT_INVALID", false},
	    {"WORKER_CRASHED", true},	{"ARTIFACT_EXPIRED", true}};

	if (met != NULL && strlen(met) == code.n &&
	    memcmp(met, code.p, code.n) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		if (strlen(codes[i].code) == code.n &&
		    memcmp(codes[i].code, code.p, code.n) == 0)
			return !codes[i].of_program ||
			       runtimes[r->template->runtime]->has_shim;
	return false;
}

static int on_fail(struct worker *w, const struct msg *m)
{
	struct json_object *details = NULL;
	char code[72];

	if (!may_claim(w, m->fail.error_code))
		return worker_violation(
		    w, "a FAIL whose code is not a worker's to give");
	if (m->fail.details.n > 0 &&
	    (json_parse(&details, m->fail.details.p, m->fail.details.n, NULL) <
		 0 ||
	     !json_object_is_type(details, json_type_object))) {
		json_object_put(details);
		return worker_violation(
		    w, "a FAIL whose details are not an object");
	}
	snprintf(code, sizeof(code), "%.*s", (int)m->fail.error_code.n,
		 m->fail.error_code.p);
	if (strcmp(code, "RESOURCE_LIMIT") == 0) {
		if (details != NULL)
			limits_correct(w->run, details);
		else /* the limit met last */
			details = json_object_get(w->tool_error.details);
	}
	if (strcmp(code, "RUN_CANCELED") == 0 &&
	    w->run->state != RUN_CANCELLING)
		outcome_signal(w->run, SIGTERM); /* SIGTERM came from outside */
	run_set_error(w->run, code, details, "%.*s", (int)m->fail.message.n,
		      m->fail.message.p);
	worker_question_drop(w);
	w->phase = PHASE_DONE;
	worker_recv_last(w);
	return 0;
}

static int on_printed(struct worker *w, const struct msg *m)
{
	if (!runtimes[w->run->template->runtime]->has_shim)
		return worker_violation(w, "a message out of turn");
	return worker_printed_add(w, &m->printed)
		   ? 0
		   : worker_violation(w, "a PRINTED beyond its bounds");
}

/* W is being killed: only what was printed still counts. */
static int recv_last_words(struct worker *w, const void *frame, size_t len)
{
	const char *errmsg;
	struct msg m;

	if (msg_get(&m, frame, len, &errmsg) == 0 && m.type == MSG_PRINTED &&
	    runtimes[w->run->template->runtime]->has_shim)
		(void)worker_printed_add(w, &m.printed);
	return 0;
}

#define IN(phase) (1u << (phase))
#define UNTIL_DONE                                                             \
	(IN(PHASE_SPAWNED) | IN(PHASE_TALKING) | IN(PHASE_ARTIFACT) |          \
	 IN(PHASE_ANSWER) | IN(PHASE_RESULT) | IN(PHASE_ASK))

/*
 * The phases in which each message is legal; FAIL and PRINTED before it may break
 * off a body (a signal's report).
 */
static const struct {
	unsigned phases;
	int (*apply)(struct worker *w, const struct msg *m);
} legal[] = {
    [MSG_CHUNK] = {IN(PHASE_ARTIFACT) | IN(PHASE_RESULT) | IN(PHASE_ASK),
		   on_chunk},
    [MSG_READY] = {IN(PHASE_SPAWNED), on_ready},
    [MSG_WAITING] = {IN(PHASE_SPAWNED), on_waiting},
    [MSG_USED] = {IN(PHASE_TALKING) | IN(PHASE_ANSWER), on_used},
    [MSG_PROGRESS] = {IN(PHASE_TALKING) | IN(PHASE_ANSWER), on_progress},
    [MSG_STEP] = {IN(PHASE_TALKING) | IN(PHASE_ANSWER), on_step},
    [MSG_LOG] = {IN(PHASE_TALKING) | IN(PHASE_ANSWER), on_log},
    [MSG_ARTIFACT] = {IN(PHASE_TALKING), worker_artifact},
    [MSG_LOST] = {IN(PHASE_TALKING), worker_lost},
    [MSG_RESULT] = {IN(PHASE_TALKING), on_result},
    [MSG_PRINTED] = {UNTIL_DONE, on_printed},
    [MSG_FAIL] = {UNTIL_DONE, on_fail},
    [MSG_CALL] = {IN(PHASE_TALKING), worker_question_call},
    [MSG_INPUT] = {IN(PHASE_TALKING), worker_question_input},
    [MSG_DROP] = {IN(PHASE_TALKING), worker_question_dropped},
};

static bool too_fast(struct worker *w, const struct msg *m)
{
	int64_t rate = w->run->limits.messages_per_second;
	double cost = (double)msg_cost(m, (uint64_t)rate);
	int64_t now = clock_mono_ms();

	w->tokens += (double)(now - w->tokens_ms) * (double)rate / 1000;
	if (w->tokens > worker_burst(w->run))
		w->tokens = worker_burst(w->run);
	w->tokens_ms = now;
	if (w->tokens < cost)
		return true;
	w->tokens -= cost;
	return false;
}

static int flood(struct worker *w)
{
	struct json_object *d = limits_details(w->run, LIMIT_MESSAGES, -1);
	char *offence = xasprintf(
	    "a flood of messages: over messages_per_second, which allows %lld "
	    "and %.0f at once; who can raise that is %s",
	    (long long)w->run->limits.messages_per_second, worker_burst(w->run),
	    json_member_str(d, "whoCanRaise"));
	int rc = worker_violation_of(w, offence, d);

	free(offence);
	return rc;
}

int worker_recv(struct worker *w, const void *frame, size_t len)
{
	const char *errmsg;
	struct msg m;

	if (w->run->error.code != NULL && w->killed)
		return recv_last_words(w, frame, len);
	if (w->phase == PHASE_DONE && !w->stays &&
	    w->run->job.resident != NULL) {
		if (msg_get(&m, frame, len, &errmsg) < 0)
			return worker_violation(w, errmsg);
		return m.type == MSG_KEPT
			   ? on_kept(w, &m)
			   : worker_violation(w, "a message out of turn");
	}
	if (w->phase == PHASE_DONE) {
		if (!w->late)
			log_warn("worker", "run=%s requestor=%s late=dropped",
				 w->run->id, w->run->requestor->name);
		w->late = true;
		return 0;
	}
	if (msg_get(&m, frame, len, &errmsg) < 0)
		return worker_violation(w, errmsg);
	w->run->use.messages += m.type != MSG_USED; /* the shim's own */
	if (w->phase == PHASE_SPAWNED && m.type != MSG_READY &&
	    m.type != MSG_FAIL && m.type != MSG_WAITING &&
	    m.type != MSG_PRINTED)
		on_ready(w, &m); /* RUN was read, without a READY */
	if (m.type >= ARRAY_LEN(legal) || legal[m.type].apply == NULL ||
	    (legal[m.type].phases & IN(w->phase)) == 0)
		return worker_violation(w, "a message out of turn");
	if (too_fast(w, &m))
		return flood(w);
	return legal[m.type].apply(w, &m);
}
