/* SPDX-License-Identifier: Apache-2.0 */
/* Workers which send many, fast, or long messages. */
#include "tests/unit/supervisor/run/worker/worker_fixture.h"

static char bulk[MSG_ANSWER_MAX + 1];

TEST(counts)
{
	int rc = 0;

	begin();
	for (uint32_t i = 1; rc == 0 && i <= MSG_ASKS_MAX; i++)
		rc = ask(i, "{}");
	is_int(rc, 0, "64 may wait");
	reply(7, "1");
	is_int(ask(65, "{}"), 0,
	       "a 65th question is taken when another was answered");
	is_int(ask(66, "{}"), -EPROTO,
	       "a 65th question without an answer is refused");
	end();

	begin();
	memset(bulk, ' ', sizeof(bulk));
	bulk[0] = '1';
	for (uint32_t i = 1; i <= 3; i++) {
		ask(i, "{}");
		worker_answer_question(it.r, i, true, bulk, MSG_ANSWER_MAX);
	}
	is_int(it.w->asks, 3, "questions with unsent answers count");
	end();
}

TEST(floods)
{
	size_t n = MSG_CHUNK_MAX - 2;
	int asked = 0, rc = 0;
	struct msg m = {.type = MSG_CALL, .call = {.tool = {"t", 1}}};

	begin();
	it.env.on_ask = NULL;
	memset(bulk, ' ', n);
	memcpy(bulk + n, "{}", 2);
	m.call.total = m.call.head.n = n + 2;
	m.call.head.p = bulk;
	while (rc == 0 && asked < 100000) {
		m.call.seq = (uint32_t)++asked;
		rc = hear(&m);
		while (chan_recv_now(it.end, frame) > 0)
			;
	}
	ok(rc == -EPROTO && asked > 500 &&
	       strcmp(it.r->error.code, "PROTOCOL_VIOLATION") == 0,
	   "many bytes of questions are a flood");
	end();
}

/* A question of 1 MiB: a message for each KiB, but for no rate a flood. */
static int ask_much(uint32_t seq)
{
	struct msg m = {.type = MSG_CALL,
			.call = {seq, {"t", 1}, MSG_ASK_MAX, {"{", 1}}};
	struct msg c = {.type = MSG_CHUNK};
	size_t left = MSG_ASK_MAX - 1;
	int rc = hear(&m);

	memset(bulk, ' ', left);
	bulk[left - 1] = '}';
	while (rc == 0 && left > 0) {
		size_t n = left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX;

		left -= n;
		c.chunk.data =
		    (struct str){bulk + MSG_ASK_MAX - 1 - left - n, n};
		rc = hear(&c);
	}
	return rc;
}

TEST(floods_of_a_low_rate)
{
	struct msg log = {.type = MSG_LOG, .log = {6, {"x", 1}}};
	struct json_object *d;
	int rc = 0, logged = 0;

	begin();
	it.env.on_ask = NULL;
	it.r->limits.messages_per_second = MSG_RATE_MIN;
	it.r->limits.by[LIMIT_MESSAGES] = BY_SERVER;
	fill_bucket();
	for (uint32_t i = 1; i <= MSG_BURST_S && rc == 0; i++)
		rc = ask_much(i);
	is_int(rc, 0, "the largest question is a second's worth at the most");
	fill_bucket();
	while (rc == 0 && logged < 100000) {
		rc = hear(&log);
		logged++;
	}
	ok(rc == -EPROTO && logged > 400,
	   "four seconds' worth may come at once");
	d = it.r->error.details;
	is_str(
	    json_text(d, NULL),
	    "{\"limit\":\"messages_per_second\",\"allowed\":100,"
	    "\"unit\":\"messages/s\",\"whoCanRaise\":\"the operator: "
	    "max_messages_per_second in [limits]\",\"offence\":\"a flood of "
	    "messages: over messages_per_second, which allows 100 and 400 at "
	    "once; who can raise that is the operator: "
	    "max_messages_per_second in [limits]\"}",
	    "more is an offence, which tells the limit and who can raise it");
	end();
}

/* A worker silent for long may not send the saved messages at once. */
TEST(silence)
{
	struct msg log = {.type = MSG_LOG, .log = {6, {"x", 1}}};
	unsigned logged = 0;
	int rc = 0;

	begin();
	it.r->limits.messages_per_second = MSG_RATE_MIN;
	fill_bucket();
	it.w->tokens_ms -= 3600000;
	while (rc == 0 && logged < 10 * MSG_RATE_MIN * MSG_BURST_S) {
		rc = hear(&log);
		logged++;
	}
	is_int(rc, -EPROTO, "an hour of silence is no right to a flood");
	end();
}

/* The socket identifies the run, whatever the worker's messages say. */
TEST(claims_another_run)
{
	const char details[] = "{\"runId\":\"run_other\"}";
	struct msg fail = {.type = MSG_FAIL,
			   .fail = {{"EXECUTION_ERROR", 15},
				    {"bad", 3},
				    {details, sizeof(details) - 1}}};
	struct isolation iso = {.view = json_object_new_object()};
	struct json_object *view = NULL;
	char *text;

	begin();
	is_int(hear(&fail), 0, "a worker fails, and names another's run");
	it.r->state = RUN_FAILED;
	text = run_json_text(it.r, &iso);
	ok(json_parse(&view, text, strlen(text), NULL) == 0,
	   "the view of a failed run can be parsed");
	is_str(json_member_str(
		   json_member(json_member(view, "error"), "details"), "runId"),
	       it.r->id, "the view of a failed run has the own id");
	json_object_put(view);
	json_object_put(iso.view);
	free(text);
	end();
}

/* Read and write until no bytes move. The number of CHUNKs and ANSWERs. */
static size_t drain(size_t *bytes)
{
	size_t frames = 0;
	const char *errmsg;
	struct msg m;
	ssize_t n;

	*bytes = 0;
	do {
		event_base_loop(it.base, EVLOOP_NONBLOCK);
		n = chan_recv_now(it.end, frame);
		if (n <= 0 || msg_get(&m, frame, (size_t)n, &errmsg) < 0)
			break;
		frames++;
		*bytes +=
		    m.type == MSG_CHUNK ? m.chunk.data.n : m.answer.head.n;
	} while (true);
	return frames;
}

TEST(is_large)
{
	struct msg artifact = {.type = MSG_ARTIFACT,
			       .artifact = {1, {"a", 1}, {"b", 1}, {"x", 1}}};
	size_t bytes;

	begin();
	memset(bulk, 'x', sizeof(bulk));
	bulk[0] = bulk[MSG_ANSWER_MAX - 1] = '"';
	for (uint32_t i = 1; i <= 6; i++)
		call(i, "{}");
	is_int(worker_answer_question(it.r, 1, true, bulk, MSG_ANSWER_MAX), 0,
	       "an answer may be more than the socket takes");
	ok(it.w->unsent > 0, "what it does not take waits");
	hear(&artifact);
	is_int(it.w->phase, PHASE_ANSWER,
	       "an artifact's answer waits for its turn");
	is_int(hear(&artifact), -EPROTO,
	       "a second artifact before the answer is refused");
	drain(&bytes);
	is_int(it.w->phase, PHASE_TALKING, "the answer on an artifact comes");
	ok(bytes > MSG_ANSWER_MAX, "after all of the large one");
	is_int(it.w->asks, 5, "an answered artifact is outstanding no more");
	is_int(worker_answer_question(it.r, 2, true, bulk, sizeof(bulk)), 0,
	       "one that is over 4 MiB");
	noted();
	read_one();
	ok(strstr(it.line, "(2 not {\"code\":\"ANSWER_TOO_LARGE\"") == it.line,
	   "becomes an error");
	for (uint32_t i = 3; i <= 6; i++)
		worker_answer_question(it.r, i, true, bulk, MSG_ANSWER_MAX);
	ok(it.w->unsent <= 4 * MSG_ANSWER_MAX, "what waits is bounded");
	drain(&bytes);
	is_int(it.w->unsent + it.w->asks, 0,
	       "each waiting answer is sent in the end");
	end();
}

int main(void)
{
	set_up();
	tap_run();
	return done();
}
