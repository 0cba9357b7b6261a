/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_input.c - a run's questions: the asked client, and questions which move, are held,
 * withdrawn and dropped. The test plays sessions and worker.
 */
#include "proto/json/json_pack.h"
#include <json-c/printbuf.h>

#include "supervisor/cluster/remote_questions.h"
#include "supervisor/cluster/proxied_request.h"
#include "tests/unit/supervisor/mcp/input/input_fixture.h"
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

/* REQ waits for the run, a task, by tasks/result. */
static struct request *waits_task(struct client *c, const char *stream)
{
	char params[80];
	struct request *request;

	snprintf(params, sizeof(params), "{\"taskId\":\"%s\"}", it.r->id);
	request = call_of(c, stream, params);
	tasks_result(request);
	return request;
}

static void expire(struct run *r)
{
	r->task.expires_ms = 1;
}

/* ---- plain calls ---- */

static void plain(void)
{
	struct client a;

	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1, QUESTION);
	is_str(noted(), "{A.1: elicitation/create}",
	       "a plain call's question goes by its route");
	accepts(&a);
	is_str(heard(), ACCEPTED,
	       "the answer of a plain call goes to the worker");
	accepts(&a);
	is_str(heard(), "(none)", "a second answer is ignored");
	ask(2, QUESTION);
	says(&a, "\"error\":{\"code\":-5,\"message\":\"no\"}");
	is_str(heard(),
	       "(2 not {\"code\":\"INPUT_FAILED\",\"message\":\"the client "
	       "answered with an error\",\"details\":{\"code\":-5,\"message\":"
	       "\"no\"}})",
	       "an error of the client goes to the worker");
	a.backlogged = true;
	ask(3, QUESTION);
	ok(strstr(heard(), "(3 not {\"code\":\"INPUT_FAILED\"") != NULL,
	   "a client which does not read gets no question");
	client_end(&a);
	ask(4, QUESTION);
	ok(strstr(heard(), "(4 not {\"code\":\"ELICITATION_NOT_SUPPORTED\"") !=
	       NULL,
	   "without a waiting call a plain question fails");
	stop();
}

static void dropped(void)
{
	struct client a;
	struct msg drop = {.type = MSG_DROP, .drop = {1}};

	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1, QUESTION);
	noted();
	hear(&drop);
	is_str(noted(),
	       "{A.1: forget: the template waits for no answer any more}",
	       "a question that is dropped is taken back from its client");
	noted();
	accepts(&a);
	ok(strstr(heard(), "(1 not {\"code\":\"DROPPED\"") != NULL,
	   "the late answer to a dropped question is ignored");
	ask(2, QUESTION);
	ask(3, QUESTION);
	drop.drop.seq = 2;
	noted();
	hear(&drop);
	is_str(noted(),
	       "{A.1: forget: the template waits for no answer any more}",
	       "a drop of one of several questions withdraws one");
	noted();
	run_tell(it.r, &(struct run_notice){.kind = NOTICE_RELEASED});
	is_str(noted(), "{A.1: forget: the run has ended}",
	       "the end of the run withdraws the remaining questions");
	client_end(&a);
	stop();
}

static void leaves(void)
{
	struct client a, b;
	struct request *first, *second;

	client_begin(&a, "A");
	client_begin(&b, "B");
	start(false);
	first = waits(&a, "1");
	second = waits(&b, "2");
	ask(1, QUESTION);
	is_str(noted(), "{A.1: elicitation/create}",
	       "the longest waiting call gets the question");
	request_drop(first, false);
	is_str(noted(),
	       "{A.1: forget: the request that it belongs to is over}"
	       "{B.2: elicitation/create}",
	       "when that call is over the next one is asked");
	accepts(&a);
	is_str(heard(), "(none)", "the answer of the former client is ignored");
	request_drop(second, false);
	ok(strstr(heard(),
		  "(1 not {\"code\":\"INPUT_FAILED\",\"message\":\"the "
		  "client that was asked is gone\"") != NULL,
	   "a question without a client left has failed");
	client_end(&a);
	stop();
	client_end(&b);
}

/* Ways for a run with a question to end or nearly end. */
static void killed(void)
{
	it.w->killed = true;
}
static void silent(void)
{
	it.w->silent = true;
}
static void cancelling(void)
{
	run_apply(it.r, EV_CANCEL);
}

static void failed(void)
{
	it.r->job.worker = NULL;
	run_apply(it.r, EV_FAIL);
}

static void over(void)
{
	static const struct {
		const char *what;
		void (*how)(void);
	} ways[] = {{"whose worker was killed", killed},
		    {"whose worker closed its socket", silent},
		    {"that is being cancelled", cancelling},
		    {"that has ended", failed}};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct client a, b;
		struct request *first;

		client_begin(&a, "A");
		client_begin(&b, "B");
		start(false);
		first = waits(&a, "1");
		waits(&b, "2");
		ask(1, QUESTION);
		noted();
		ways[i].how();
		a.deaf = true;
		run_tell_waiter(it.r, WAITER_UNREAD, first);
		is_str(noted(), "", "a question of a run %s does not move",
		       ways[i].what);
		request_drop(first, false);
		is_str(
		    noted(),
		    "{A.1: forget: the request that it belongs to is over}",
		    "a question of an ending run is not offered to another call");
		run_tell(it.r, &(struct run_notice){.kind = NOTICE_RELEASED});
		is_str(
		    noted(), "",
		    "no client is told to forget the question of an ended run");
		client_end(&a);
		client_end(&b);
		it.r->job.worker = it.w;
		stop();
	}
}

static void too_much(void)
{
	struct client a;
	char *params = xcalloc(1, 3 << 20);
	struct json_object *o = json_object_new_object();
	const struct worker_question big[] = {
	    {.seq = 1, .kind = WORKER_QUESTION_ELICIT, .params = o},
	    {.seq = 2, .kind = WORKER_QUESTION_ELICIT, .params = o},
	    {.seq = 3, .kind = WORKER_QUESTION_ELICIT, .params = o}};

	memset(params, 'x', (3 << 20) - 1);
	json_object_object_add(o, "message", json_object_new_string(params));
	json_object_object_add(
	    o, "requestedSchema",
	    json_tokener_parse("{\"type\":\"object\",\"properties\":{}}"));
	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	for (uint32_t i = 1; i <= 3; i++)
		ask(i, QUESTION);
	run_tell(it.r, &(struct run_notice){
			   /* drops the references held by the fixture */
			   .kind = NOTICE_RELEASED});
	noted();
	input_ask(&ctx, it.r, &big[0]);
	is_str(noted(), "{A.1: elicitation/create}",
	       "a question of 3 MiB passes");
	input_ask(&ctx, it.r, &big[1]);
	ok(strstr(heard(),
		  "(2 not {\"code\":\"INPUT_FAILED\",\"message\":\"over 4 "
		  "MiB") != NULL,
	   "two questions of 3 MiB at once are refused");
	accepts(&a);
	is_str(heard(), ACCEPTED,
	       "the refusal of a question leaves the first alone");
	input_ask(&ctx, it.r, &big[2]);
	is_str(noted(), "{A.1: elicitation/create}",
	       "the answer of a question makes room for another");
	client_end(&a);
	stop();
	json_object_put(o);
	free(params);
}

static void in_time(void)
{
	struct client a;

	client_begin(&a, "A");
	start(false);
	waits(&a, "1");
	ask(1,
	    "{\"message\":\"m\",\"timeoutMs\":1,\"requestedSchema\":{\"type\":"
	    "\"object\",\"properties\":{}}}");
	noted();
	event_base_loop(it.base, EVLOOP_ONCE);
	is_str(noted(), "{A.1: forget: no answer came in time}",
	       "a question that is not answered in time is taken back");
	read_one();
	ok(strstr(noted(), "(1 not {\"code\":\"INPUT_TIMEOUT\"") != NULL,
	   "the template is told of an expired question");
	client_end(&a);
	stop();
}

/* ---- tasks ---- */

static void task(void)
{
	struct client a, b;
	struct request *wait;

	client_begin(&a, "A");
	client_begin(&b, "B");
	a.has_push_stream = true;
	start(true);
	ask(1, QUESTION);
	is_str(noted(), "",
	       "a task's question waits until its client knows it");
	task_notify_start(&a.session, it.r, NULL);
	input_task_told(&ctx, it.r);
	noted();
	session_push_opened(&a.session);
	is_str(noted(), "",
	       "a task's question waits until the client knows the task");
	input_task_known(it.r);
	is_str(
	    noted(), "{A.-: elicitation/create}",
	    "the maker of a known task is asked on a stream without a request");
	wait = waits_task(&b, "1");
	is_str(noted(), "", "a waiting request is not asked beside the maker");
	a.has_push_stream = false;
	session_reader_lost(&a.session, NULL);
	is_str(noted(),
	       "{A.-: forget: who waits now is asked instead}"
	       "{B.1: elicitation/create}",
	       "the client that waits is asked when the maker is gone");
	request_drop(wait, false);
	a.has_push_stream = true;
	session_push_opened(&a.session);
	noted();
	a.has_push_stream = false;
	session_reader_lost(&a.session, NULL);
	is_str(noted(), "", "without another client a question stays");
	wait = waits_task(&b, "2");
	is_str(noted(),
	       "{A.-: forget: who waits now is asked instead}"
	       "{B.2: elicitation/create}",
	       "a question moves from an unread route to a waiting request");
	request_drop(wait, false);
	is_str(noted(), "{B.2: forget: the request that it belongs to is over}",
	       "a question is withdrawn when the request ends");
	a.has_push_stream = true;
	session_push_opened(&a.session);
	is_str(noted(), "{A.-: elicitation/create}",
	       "the maker is asked again when there is a stream");
	a.has_push_stream = false;
	waits_task(&b, "3");
	noted();
	b.deaf = true;
	session_reader_lost(&b.session, (void *)(uintptr_t) "3");
	is_str(noted(), "", "a question without a reader stays");
	a.has_push_stream = true;
	client_end(&b);
	is_str(noted(), "{A.-: elicitation/create}",
	       "a question of a closed client goes to the maker");
	accepts(&a);
	is_str(heard(), ACCEPTED, "the maker's answer goes to the worker");
	client_end(&a);
	stop();
}

/*
 * Of two waiting clients one is asked; the other is asked if the first does not read.
 */
static void moves(void)
{
	struct client a, b;

	client_begin(&a, "A");
	client_begin(&b, "B");
	start(true);
	waits_task(&a, "1");
	ask(1, QUESTION);
	is_str(noted(), "{A.1: elicitation/create}",
	       "without its maker, who waits is asked");
	waits_task(&b, "2");
	b.deaf = true;
	session_reader_lost(&b.session, (void *)(uintptr_t) "2");
	is_str(noted(), "", "an unread cancellation is no matter");
	b.deaf = false;
	a.deaf = true;
	session_reader_lost(&a.session, (void *)(uintptr_t) "1");
	ok(strstr(noted(), "{B.2: elicitation/create}") != NULL,
	   "a question moves from an unread route to the other client");
	run_apply(it.r, EV_CANCEL);
	run_tell(it.r, &(struct run_notice){.kind = NOTICE_STATE});
	ok(strstr(noted(), "{B.2: forget: the run is being cancelled}") != NULL,
	   "a cancel withdraws the question");
	client_end(&a);
	client_end(&b);
	stop();
}

/* A refused question is news, which ends the feeds of expired tasks. */
static void crowd(void)
{
	struct client a;

	client_begin(&a, "A");
	start(true);
	task_notify_start(&a.session, it.r, NULL);
	input_task_told(&ctx, it.r);
	input_task_known(it.r);
	for (uint32_t i = 1; i <= 3; i++)
		ask(i, QUESTION);
	is_str(noted(), "", "without a stream all are held");
	expire(it.r);
	a.has_push_stream = a.backlogged = true;
	session_push_opened(&a.session);
	for (int i = 0; i < 4; i++)
		read_one();
	ok(strstr(noted(), "(none)") != NULL,
	   "many questions refused at once are each answered");
	is_int(it.r->state, RUN_RUNNING,
	       "the run goes on after refused questions");
	ok(it.r->task.feed == NULL, "the feed of the expired task has ended");
	client_end(&a);
	stop();
}

static void ended_task(void)
{
	struct client a;

	client_begin(&a, "A");
	start(true);
	it.r->job.worker = NULL;
	run_apply(it.r, EV_FAIL);
	input_task_told(&ctx, it.r);
	ok(it.r->job.input == NULL, "a task that has ended asks nothing");
	it.r->job.worker = it.w;
	client_end(&a);
	stop();
}

static int written; /* the number of conversions of the large object to text */

static int write_it(struct json_object *o, struct printbuf *out, int level,
		    int flags)
{
	(void)o, (void)level, (void)flags;
	written++;
	return printbuf_memset(out, -1, '0', 2 * CLUSTER_ANSWERS_MAX);
}

static int refused;

static void on_refused(struct request *req, int rc)
{
	(void)req;
	refused = rc;
}

/* A message may have 16 MiB; printing such an object would block the loop. */
static void weighed_first(void)
{
	struct client_terms nothing = {0};
	struct request c = {.terms = &nothing,
			    .msg.bytes = 2 * CLUSTER_ANSWERS_MAX};
	char *long_text = xcalloc(1, 2 * CLUSTER_ANSWERS_MAX);
	struct json_object *o;

	memset(long_text, '0', 2 * CLUSTER_ANSWERS_MAX - 1);
	o = json_object_new_string(long_text);
	json_object_set_serializer(o, write_it, NULL, NULL);
	o = json_pack("answers:o", o);
	start(false);
	ok(proxied_request_new(&c, it.r, 1, o) == NULL,
	   "large answers with a returning request are refused");
	remote_questions_answer(&c, it.r->id, o, on_refused);
	is_int(refused, -E2BIG, "large answers with a task update are refused");
	is_int(written, 0, "large answers are never printed");
	json_object_put(o);
	free(long_text);
	stop();
}

int main(void)
{
	set_up_server();
	plain();
	dropped();
	leaves();
	over();
	too_much();
	in_time();
	task();
	moves();
	crowd();
	ended_task();
	weighed_first();
	runs_free(ctx.runs);
	return done();
}
