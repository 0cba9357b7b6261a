/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_question.c - keeps a worker's questions until they have answers, and
 * sends the answers. worker_recv.c brings questions, input and browser code
 * answer. A question that breaks a bound ends the worker; an answer for which
 * no question waits is -ENOENT.
 */
#include "supervisor/run/worker/worker_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "base/send_again.h"
#include "base/mem.h"
#include "ipc/msg.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/lost_artifacts.h"

#define UNSENT_MAX (16u << 20) /* most unsent bytes of answers for one worker */

/* A question: in w->asked without an answer, then in w->answers. */
struct question {
	uint32_t seq; /* number of the question; 0: an ARTIFACT */
	enum worker_question_kind kind;
	char *tool;	/* the tool of a CALL */
	uint64_t total; /* size of the parameters */
	bool ok, begun; /* the answer, and whether sending has begun */
	char *text;
	size_t len, sent;
	/* bytes counted in the requestor's memory: parameters or answer */
	size_t held;
	TAILQ_ENTRY(question) link;
};

static const struct {
	const char *code;
	const char *nobody;
} refusals[WORKER_QUESTION_KINDS] = {
    [WORKER_QUESTION_ELICIT] =
	{"ELICITATION_NOT_SUPPORTED",
	 "nobody can be asked here: this server passes no "
	 "question on to a user"},
    [WORKER_QUESTION_SAMPLE] =
	{"SAMPLING_NOT_SUPPORTED",
	 "no model can be asked here: this server passes no "
	 "request on to a client's model"},
    [WORKER_QUESTION_ROOTS] =
	{"ROOTS_NOT_SUPPORTED",
	 "no client can be asked here: this server passes no "
	 "request on for a client's roots"},
    [WORKER_QUESTION_CALL] =
	{"CALL_NOT_ALLOWED",
	 "no such tool is configured on this server; the "
	 "operator can configure it, and the manifest's tools "
	 "must list it"},
};

/* ---- what a question takes ---- */

/*
 * Bytes of memory for a question of COST while it is open: an elicitation's
 * schema, when compiled, takes up to half as much as its text's tree.
 */
#define OPEN_COST(cost) ((cost) + (cost) / 2)
#define LITTLE_MAX 4096 /* bytes of an answer for which there always is room */
#define NO_ROOM                                                                \
	"this server keeps as much for this run's client as it has room for "  \
	"now; ask less, or again when others of its questions and calls have " \
	"been answered (who can raise that is the operator: server_memory in " \
	"[limits])"

/* Count BYTES for A in place of what was counted before. */
static void count_question(struct worker *w, struct question *a, size_t bytes)
{
	memory_change(&w->run->requestor->memory, a->held, bytes);
	a->held = bytes;
}

/* Likewise. False: there is no room, and nothing is counted. */
static bool hold_question(struct worker *w, struct question *a, size_t bytes)
{
	count_question(w, a, 0);
	if (!memory_take(&w->run->requestor->memory, bytes))
		return false;
	a->held = bytes;
	return true;
}

static void ask_free(struct worker *w, struct question *a)
{
	count_question(w, a, 0);
	free(a->tool);
	free(a->text);
	free(a);
}

/* ---- the run's state ---- */

/* Set the run's state by the questions asked; a cancelled run's state stays. */
static void settle_questions(struct worker *w)
{
	struct run *r = w->run;
	const struct question *a;
	bool awaits = false;

	/* of a CALL the called run, or a run below, may ask the clients */
	TAILQ_FOREACH(a, &w->asked, link)
		awaits |= a != w->asking &&
			  (a->kind != WORKER_QUESTION_CALL || w->called_asks);
	if (r->state == RUN_RUNNING && awaits)
		run_apply(r, EV_ASK);
	else if (r->state == RUN_AWAITING_INPUT && !awaits)
		run_apply(r, EV_ANSWER);
	else
		return;
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
}

void worker_await_called(struct run *r, bool awaits)
{
	struct worker *w = r->job.worker;

	if (w == NULL || w->called_asks == awaits)
		return;
	w->called_asks = awaits;
	settle_questions(w);
}

static void remove_all(struct worker *w, struct questions *list)
{
	struct question *a;

	while ((a = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, a, link);
		w->asks -= a->seq > 0;
		ask_free(w, a);
	}
}

void worker_question_drop(struct worker *w)
{
	remove_all(w, &w->asked);
	w->asking = NULL;
	buf_fini(&w->params);
	settle_questions(w);
}

void worker_question_fini(struct worker *w)
{
	remove_all(w, &w->asked);
	remove_all(w, &w->answers);
	buf_fini(&w->params);
}

/* ---- answers ---- */

/* A was sent: it no longer counts. */
static void sent(struct worker *w, struct question *a)
{
	TAILQ_REMOVE(&w->answers, a, link);
	w->unsent -= a->len;
	if (a->seq > 0)
		w->asks--;
	else if (w->phase == PHASE_ANSWER)
		w->phase = PHASE_TALKING;
	ask_free(w, a);
}

/*
 * Send the answers. On a failure that does not pass the worker is dying, and its end
 * will be told.
 */
void worker_question_flush(struct worker *w)
{
	struct question *a;
	int rc = 0;

	while ((a = TAILQ_FIRST(&w->answers)) != NULL) {
		size_t left = a->len - a->sent;
		struct str s = {a->text + a->sent,
				left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX};
		struct msg head = {.type = MSG_ANSWER,
				   .answer = {a->seq, a->ok, a->len, s}};
		struct msg chunk = {.type = MSG_CHUNK, .chunk = {s}};

		rc = worker_send(w, a->begun ? &chunk : &head);
		if (rc < 0)
			break;
		a->begun = true;
		a->sent += s.n;
		if (a->sent == a->len)
			sent(w, a);
	}
	if (send_again_may(rc))
		SEND_AGAIN(w->writable, w->spawned->fd, rc);
}

/* Give A its answer, LEN bytes at TEXT (copied). */
static void send_later(struct worker *w, struct question *a, bool ok,
		       const char *text, size_t len)
{
	a->ok = ok;
	a->text = xstrndup(text, len);
	a->len = len;
	w->unsent += len;
	count_question(w, a, len);
	TAILQ_INSERT_TAIL(&w->answers, a, link);
	if (w->run_whole)
		worker_question_flush(w);
}

static void answer_artifact(struct run *r, bool ok, const char *text)
{
	struct worker *w = r->job.worker;
	size_t len = strlen(text);

	if (w->phase != PHASE_ANSWER)
		return; /* the worker died, or sent FAIL */
	send_later(w, xcalloc(1, sizeof(struct question)), ok, text,
		   len < MSG_TEXT_MAX ? len : MSG_TEXT_MAX);
}

void worker_answer_saved(struct run *r, const char *id)
{
	answer_artifact(r, true, id);
}

void worker_answer_refused(struct run *r, const struct run_artifact *a,
			   struct tool_error *errmsg)
{
	struct lost_artifact one = {.name = {a->name, strlen(a->name)},
				    .size = a->size,
				    .count = 1,
				    .told = true};
	char *text = xasprintf("%s %s", errmsg->code, errmsg->message);

	lost_artifacts_add(r, &one, errmsg);
	tool_error_fini(&r->job.worker->tool_error);
	r->job.worker->tool_error = *errmsg;
	*errmsg = (struct tool_error){0};
	answer_artifact(r, false, text);
	free(text);
}

static struct question *find_question(struct worker *w, uint32_t seq)
{
	struct question *a;

	TAILQ_FOREACH(a, &w->asked, link)
		if (a->seq == seq && a != w->asking)
			return a;
	return NULL;
}

bool worker_awaits(const struct run *r, uint32_t seq)
{
	struct worker *w = r->job.worker;

	return r->state == RUN_AWAITING_INPUT && w != NULL && !w->killed &&
	       !w->silent && find_question(w, seq) != NULL;
}

static const char too_large[] =
    "{\"code\":\"ANSWER_TOO_LARGE\",\"message\":\"the answer is over 4 MiB, or "
    "too many answers wait to be read; both bounds are fixed\"}";
static const char no_room[] =
    "{\"code\":\"QUOTA_EXCEEDED\",\"message\":\"" NO_ROOM "\"}";

int worker_answer_question(struct run *r, uint32_t seq, bool ok,
			   const char *json, size_t len)
{
	struct worker *w = r->job.worker;
	struct question *a = w == NULL ? NULL : find_question(w, seq);
	const char *error = NULL;

	if (a == NULL)
		return -ENOENT;
	if (len > MSG_ANSWER_MAX || len > UNSENT_MAX - w->unsent)
		error = too_large;
	else if (!hold_question(w, a, len) && len > LITTLE_MAX)
		error = no_room;
	if (error != NULL) {
		ok = false;
		json = error;
		len = strlen(error);
	}
	log_debug("worker", "run=%s ask=%u ok=%d bytes=%zu", r->id, seq, ok,
		  len);
	TAILQ_REMOVE(&w->asked, a, link);
	send_later(w, a, ok, json, len);
	settle_questions(w);
	return 0;
}

int worker_fail_question(struct run *r, uint32_t seq, const char *code,
			 const char *message)
{
	struct json_object *e = json_pack("code:s message:s", code, message);
	const char *text;
	size_t len;
	int rc;

	text = json_text(e, &len);
	rc = worker_answer_question(r, seq, false, text, len);
	json_object_put(e);
	return rc;
}

int worker_refuse_question(struct run *r, const struct worker_question *ask,
			   const char *errmsg)
{
	return worker_fail_question(
	    r, ask->seq, refusals[ask->kind].code,
	    errmsg != NULL ? errmsg : refusals[ask->kind].nobody);
}

/* ---- questions ---- */

/* Hand on ASK, for which there is ROOM or not; ERRMSG is why there are no parameters. */
static void hand_on(struct worker *w, const struct worker_question *ask,
		    bool room, const char *errmsg)
{
	const struct worker_env *env = w->env;
	struct run *r = w->run;

	if (r->state == RUN_CANCELLING)
		worker_fail_question(r, ask->seq, "RUN_CANCELED",
				     "the run is being cancelled");
	else if (ask->params == NULL)
		worker_fail_question(r, ask->seq, "INVALID_PARAMETER", errmsg);
	else if (!room)
		worker_fail_question(r, ask->seq, "QUOTA_EXCEEDED", NO_ROOM);
	else if (env->on_ask == NULL)
		worker_refuse_question(r, ask, NULL);
	else {
		settle_questions(w);
		env->on_ask(env->ctx, r, ask);
	}
}

static int whole(struct worker *w)
{
	struct question *a = w->asking;
	char *tool = a->tool; /* an answer frees A before this returns */
	struct worker_question ask = {
	    .seq = a->seq, .kind = a->kind, .tool = tool};
	struct json_error err;
	struct buf text = w->params;
	size_t cost;
	/* bounded, since the loop reads, measures and frees the tree */
	int rc = json_parse_cost(&ask.params, buf_data(&text), buf_len(&text),
				 MSG_ASK_VALUES_MAX, &cost, &err);
	bool room;

	w->params = (struct buf){0};
	w->asking = NULL;
	w->phase = PHASE_TALKING;
	if (rc != -EMSGSIZE && !err.unfit &&
	    (rc < 0 || !json_object_is_type(ask.params, json_type_object))) {
		json_object_put(ask.params);
		buf_fini(&text);
		return worker_violation(
		    w, "a question whose parameters are not a JSON object");
	}
	a->tool = NULL;
	/* of a CALL the text alone is kept, on its way to the tool */
	room = hold_question(
	    w, a, a->kind == WORKER_QUESTION_CALL ? a->total : OPEN_COST(cost));
	ask.cost = cost;
	ask.text = (struct str){buf_data(&text), buf_len(&text)};
	hand_on(w, &ask, room,
		rc == -EMSGSIZE ? "a question has at most 20000 values, in at "
				  "most as many levels as any JSON here"
				: json_error_reason(&err));
	json_object_put(ask.params);
	buf_fini(&text);
	free(tool);
	return 0;
}

int worker_question_chunk(struct worker *w, struct str s)
{
	uint64_t total = w->asking->total;

	if (s.n > total - buf_len(&w->params))
		return worker_violation(w, "parameters longer than they said");
	buf_add(&w->params, s.p, s.n);
	return buf_len(&w->params) == total ? whole(w) : 0;
}

int worker_question_dropped(struct worker *w, const struct msg *m)
{
	uint32_t seq = m->drop.seq;

	if (seq > w->last_seq)
		return worker_violation(w, "a DROP of what was not asked");
	if (find_question(w, seq) == NULL)
		return 0; /* the answer is on its way */
	if (w->env->on_drop != NULL)
		w->env->on_drop(w->env->ctx, w->run, seq);
	worker_fail_question(w->run, seq, "DROPPED", "it is awaited no more");
	return 0;
}

/* Begin a question. TOOL is taken. */
static int begin_question_of(struct worker *w, enum worker_question_kind kind,
			     uint32_t seq, uint64_t total, struct str head,
			     char *tool)
{
	struct question *a;

	if (seq <= w->last_seq || w->asks == MSG_ASKS_MAX) {
		free(tool);
		return worker_violation(
		    w, seq <= w->last_seq
			   ? "a question whose number is not above the last"
			   : "over 64 questions without an answer");
	}
	a = xcalloc(1, sizeof(*a));
	*a = (struct question){
	    .seq = seq, .kind = kind, .tool = tool, .total = total};
	TAILQ_INSERT_TAIL(&w->asked, a, link);
	w->asks++;
	w->last_seq = seq;
	w->asking = a;
	w->phase = PHASE_ASK;
	count_question(w, a, total); /* too many bytes refuse the next one */
	return worker_question_chunk(w, head);
}

int worker_question_call(struct worker *w, const struct msg *m)
{
	return begin_question_of(w, WORKER_QUESTION_CALL, m->call.seq,
				 m->call.total, m->call.head,
				 xstrndup(m->call.tool.p, m->call.tool.n));
}

int worker_question_input(struct worker *w, const struct msg *m)
{
	static const enum worker_question_kind kinds[MSG_INPUT_KINDS] = {
	    [MSG_INPUT_ELICIT] = WORKER_QUESTION_ELICIT,
	    [MSG_INPUT_SAMPLE] = WORKER_QUESTION_SAMPLE,
	    [MSG_INPUT_ROOTS] = WORKER_QUESTION_ROOTS,
	};

	return begin_question_of(w, kinds[m->input.kind], m->input.seq,
				 m->input.total, m->input.head, NULL);
}
