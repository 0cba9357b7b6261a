/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the supervisor to paddock-browser, and the answers that the supervisor
 * accepts.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "ipc/chan.h"
#include "ipc/msg.h"
#include "proto/json/json.h"
#include "supervisor/browser/browser_rpc.h"
#include "tests/unit/tap.h"

#define NOTES_MAX 4096

static struct browser_rpc calls;
static unsigned char frame[CHAN_FRAME_MAX];
static char notes[NOTES_MAX];
static char bulk[MSG_ANSWER_MAX];

/*
 * The answers since the last call of told(): "who ok {...}" or "who code: message",
 * each with a semicolon.
 */
static const char *told(void)
{
	static char copy[NOTES_MAX];

	memcpy(copy, notes, sizeof(copy));
	notes[0] = '\0';
	return copy;
}

static void on_done(void *arg, const struct browser_rpc_answer *a)
{
	size_t n = strlen(notes);

	if (a->ok)
		snprintf(notes + n, sizeof(notes) - n, "%s ok %.*s;",
			 (const char *)arg, a->len < 100 ? (int)a->len : 100,
			 a->json);
	else
		snprintf(notes + n, sizeof(notes) - n, "%s %s;",
			 (const char *)arg, json_member_str(a->body, "code"));
}

static struct browser_rpc_call *ask(const char *who, const char *tool,
				    const char *body)
{
	struct json_object *o = NULL;
	struct browser_rpc_call *c;

	if (json_parse(&o, body, strlen(body), NULL) < 0)
		abort();
	c = browser_rpc_add(&calls, tool, o);
	c->done = on_done;
	c->arg = (void *)(uintptr_t)who;
	return c;
}

/* Send all there is; the frames' number. */
static unsigned send_all(void)
{
	unsigned n = 0;

	while (browser_rpc_frame(&calls, frame) > 0) {
		browser_rpc_sent(&calls);
		n++;
	}
	return n;
}

static int hear_msg(const struct msg *m)
{
	const char *errmsg;

	return browser_rpc_recv(&calls, frame, msg_put(frame, m), &errmsg);
}

static int hear_answer(uint32_t seq, bool ok, size_t total, const char *head,
		       size_t n)
{
	return hear_msg(&(struct msg){.type = MSG_ANSWER,
				      .answer = {seq, ok, total, {head, n}}});
}

static int hear_text(uint32_t seq, bool ok, const char *text)
{
	return hear_answer(seq, ok, strlen(text), text, strlen(text));
}

static int hear_chunk(const char *text, size_t n)
{
	return hear_msg(&(struct msg){.type = MSG_CHUNK, .chunk = {{text, n}}});
}

static void begin(void)
{
	browser_rpc_init(&calls);
	browser_rpc_begin(&calls);
	told();
}

TEST(asking)
{
	struct json_object *o = json_object_new_object();
	const char *errmsg;
	struct msg m;
	size_t n;

	begin();
	ask("a", "navigate", "{\"x\":1}");
	n = browser_rpc_frame(&calls, frame);
	is_int(msg_get(&m, frame, n, &errmsg), 0, "a call is a message");
	ok(m.type == MSG_CALL && m.call.seq == 1 && m.call.total == 7 &&
	       m.call.tool.n == 8 && m.call.head.n == 7,
	   "the frame is CALL 1 with requestor and body");
	n = browser_rpc_frame(&calls, frame);
	msg_get(&m, frame, n, &errmsg);
	is_int(m.call.seq, 1,
	       "the same frame is next until the frame was sent");
	browser_rpc_sent(&calls);
	is_int(browser_rpc_frame(&calls, frame), 0,
	       "no frame is left after the last was sent");

	memset(bulk, 'x', MSG_CHUNK_MAX * 2);
	json_object_object_add(
	    o, "s", json_object_new_string_len(bulk, MSG_CHUNK_MAX * 2));
	browser_rpc_add(&calls, "wait", o);
	ok(calls.unsent > MSG_CHUNK_MAX * 2, "unsent bytes are counted");
	is_int(send_all(), 3, "a long body goes in pieces");
	is_int(calls.unsent, 0, "no byte is unsent after the last piece");
	is_int(calls.last_seq, 2, "under one number");
	browser_rpc_begin(&calls);
	is_int(calls.last_seq, 0, "another program counts from the start");
	browser_rpc_fini(&calls);
}

TEST(answers)
{
	begin();
	ask("a", "navigate", "{}");
	ask("b", "wait", "{}");
	ask("c", "wait", "{}");
	send_all();
	ok(!calls.answered, "nothing is answered");
	is_int(hear_text(2, true, "{\"n\":2}"), 0, "answers come in any order");
	is_str(told(), "b ok {\"n\":2};", "an answer goes to the caller");
	ok(calls.answered, "the first answer is noted");
	is_int(hear_answer(3, true, 7, "{\"", 2), 0,
	       "the first piece of an answer is accepted");
	is_str(told(), "", "a piece of an answer is no answer");
	is_int(hear_chunk("a\":12}", 6), -EPROTO,
	       "a piece longer than the rest of the answer is refused");
	is_int(hear_chunk("a\":1}", 5), 0,
	       "the last piece of an answer is accepted");
	is_str(told(), "c ok {\"a\":1};",
	       "the caller gets an answer in pieces");
	is_int(hear_chunk("1", 1), -EPROTO,
	       "a piece after the last piece is refused");
	browser_rpc_fini(&calls);

	begin();
	ask("a", "navigate", "{}");
	send_all();
	is_int(hear_answer(1, false, 33, "{\"code\":\"X\",", 12), 0,
	       "a failure comes");
	is_int(hear_chunk("\"message\":\"why\"}     ", 21), 0,
	       "the last piece of a failure is accepted");
	is_str(told(), "a X;", "the caller gets the failure's code");
	browser_rpc_fini(&calls);
}

/* Messages which no program of paddock sends: the broker is taken for broken. */
TEST(nonsense)
{
	static const struct {
		struct msg m;
		const char *about;
	} cases[] = {
	    {{.type = MSG_ANSWER, .answer = {2, true, 2, {"{}", 2}}},
	     "an answer to what was not asked"},
	    {{.type = MSG_ANSWER, .answer = {0, true, 2, {"{}", 2}}},
	     "an artifact's"},
	    {{.type = MSG_ANSWER, .answer = {UINT32_MAX, true, 2, {"{}", 2}}},
	     "one of another number"},
	    {{.type = MSG_CHUNK, .chunk = {{"{}", 2}}}, "a piece of nothing"},
	    {{.type = MSG_READY}, "a worker's word"},
	    {{.type = MSG_CALL, .call = {1, {"wait", 4}, 2, {"{}", 2}}},
	     "a call of its own"},
	    {{.type = MSG_RESULT,
	      .result = {MSG_RESULT_VALUE, 0, 0, 0, 2, {"{}", 2}}},
	     "a result"},
	};
	const char *errmsg = NULL;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin();
		ask("a", "navigate", "{}");
		send_all();
		ask("b", "navigate", "{}"); /* not sent */
		is_int(hear_msg(&cases[i].m), -EPROTO, "%s is refused",
		       cases[i].about);
		is_str(told(), "",
		       "no caller gets an answer from a refused message");
		browser_rpc_fini(&calls);
	}
	begin();
	ask("a", "navigate", "{}");
	is_int(hear_text(1, true, "{}"), -EPROTO,
	       "an answer to an unsent call is refused");
	send_all();
	is_int(hear_text(1, true, "{}"), 0,
	       "an answer to a sent call is accepted");
	is_int(hear_text(1, true, "{}"), -EPROTO,
	       "a second answer to a call is refused");
	is_str(told(), "a ok {};", "the caller gets no second answer");
	is_int(browser_rpc_recv(&calls, "\xc1", 1, &errmsg), -EPROTO,
	       "a malformed message is refused");
	ok(errmsg != NULL && *errmsg != '\0',
	   "the refusal of a malformed message has a reason");
	ask("b", "wait", "{}");
	ask("c", "wait", "{}");
	send_all();
	hear_answer(2, true, 3, "{", 1);
	is_int(hear_text(3, true, "{}"), -EPROTO,
	       "an answer within another answer is refused");
	is_int(hear_text(2, true, "{}"), -EPROTO,
	       "an answer within the same answer is refused");
	browser_rpc_fini(&calls);
}

/* A page may have influenced a malformed body: only the call fails. */
TEST(bodies)
{
	static const struct {
		bool ok;
		const char *text;
		size_t n;
		const char *about;
	} cases[] = {
	    {true, "", 0, "an empty one"},
	    {true, "[]", 2, "an array"},
	    {true, "null", 4, "null"},
	    {true, "{\"a\":1", 6, "half an object"},
	    {true, "\0{\"a\":1}", 8, "one after a NUL"},
	    {true, "{}\0{}", 5, "one with a NUL"},
	    {true, "{\"a\":\"\xed\xa0\x80\"}", 11, "one that is not UTF-8"},
	    {false, "{}", 2, "a failure without a code"},
	    {false, "{\"code\":\"X\"}", 12, "a failure without a message"},
	    {false, "{\"code\":1,\"message\":2}", 22, "a failure of numbers"},
	    {false, "{\"code\":\"X\",\"message\":\"y\",\"details\":[]}", 39,
	     "a failure with a list of details"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin();
		ask("a", "navigate", "{}");
		ask("b", "navigate", "{}");
		send_all();
		is_int(hear_answer(1, cases[i].ok, cases[i].n, cases[i].text,
				   cases[i].n),
		       0, "%s is an answer", cases[i].about);
		is_str(told(), "a EXECUTION_ERROR;",
		       "the call of a malformed body fails");
		is_int(hear_text(2, true, "{}"), 0,
		       "other calls go on after a malformed body");
		browser_rpc_fini(&calls);
	}
	begin();
	ask("a", "navigate", "{}");
	send_all();
	memset(bulk, ' ', sizeof(bulk));
	memcpy(bulk, "{}", 2);
	hear_answer(1, true, sizeof(bulk), bulk, MSG_CHUNK_MAX);
	for (size_t at = MSG_CHUNK_MAX; at < sizeof(bulk); at += MSG_CHUNK_MAX)
		hear_chunk(bulk + at, sizeof(bulk) - at < MSG_CHUNK_MAX
					  ? sizeof(bulk) - at
					  : MSG_CHUNK_MAX);
	ok(strncmp(told(), "a ok {} ", 8) == 0, "4 MiB are an answer");
	browser_rpc_fini(&calls);
}

static struct browser_rpc_call *other;

/* Forget the other call, as a run does which ends at a failure. */
static void forget_other(void *arg, const struct browser_rpc_answer *a)
{
	on_done(arg, a);
	if (other->failing)
		other->done = NULL;
}

TEST(failures)
{
	struct browser_rpc_call *c;

	begin();
	ask("a", "navigate", "{}");
	ask("b", "navigate", "{}");
	send_all();
	ask("c", "navigate", "{}");
	browser_rpc_fail_begun(&calls, "PAGE_CRASHED", "the browser has ended");
	is_str(told(), "a PAGE_CRASHED;b PAGE_CRASHED;",
	       "sent calls fail with the program");
	is_int(calls.n, 1, "the unsent call stays");
	browser_rpc_begin(&calls);
	is_int(send_all(), 1, "the unsent call goes to the next program");
	is_int(hear_text(1, true, "{}"), 0,
	       "the next program answers the call");
	is_str(told(), "c ok {};",
	       "the next program's answer has the call's number");

	c = ask("d", "navigate", "{}");
	c->code = "BROWSER_BUSY";
	c->errmsg = "too much";
	ask("e", "navigate", "{}");
	browser_rpc_fail_refused(&calls);
	is_str(told(), "d BROWSER_BUSY;", "only the refused call fails");
	browser_rpc_fail_out(&calls, "BROWSER_UNAVAILABLE", "none");
	is_str(told(), "e BROWSER_UNAVAILABLE;", "no call is left waiting");
	is_int(calls.n + calls.unsent, 0,
	       "no call and no byte is counted after the failures");

	ask("f", "navigate", "{}")->done = forget_other;
	other = ask("g", "navigate", "{}");
	send_all();
	browser_rpc_fail_begun(&calls, "PAGE_CRASHED", "the browser has ended");
	is_str(told(), "f PAGE_CRASHED;",
	       "a call forgotten meanwhile gets no answer");

	ask("i", "navigate", "{}");
	ask("j", "cancel", "{}")->done = NULL;
	browser_rpc_fail_begun(&calls, "PAGE_CRASHED", "the browser has ended");
	is_int(calls.n, 1, "a forgotten call does not go to the next program");
	browser_rpc_fail_out(&calls, "BROWSER_UNAVAILABLE", "none");
	is_str(told(), "i BROWSER_UNAVAILABLE;",
	       "a call which is not forgotten fails");

	ask("h", "navigate", "{}");
	send_all();
	hear_answer(calls.last_seq, true, 10, "{", 1);
	browser_rpc_fail_begun(&calls, "PAGE_CRASHED", "the browser has ended");
	browser_rpc_begin(&calls);
	is_int(hear_chunk("}", 1), -EPROTO,
	       "half an answer ends with the program");
	browser_rpc_fini(&calls);
}

TEST(bounds)
{
	struct browser_rpc_call *c = NULL;

	begin();
	for (int i = 0; i < 256; i++)
		c = ask("a", "navigate", "{}");
	ok(!browser_rpc_full(c, false), "256 calls of who is alone may wait");
	c = ask("a", "navigate", "{}");
	ok(browser_rpc_full(c, false),
	   "call 257 of a single requestor is refused");
	browser_rpc_fini(&calls);
}

/* The number of calls of WHO (a body) which are accepted now. */
static int taken(const char *who)
{
	struct browser_rpc_call *c;
	int n = 0;

	while (n < 1000) {
		c = ask("x", "navigate", who);
		if (browser_rpc_full(c, true))
			break;
		n++;
	}
	browser_rpc_remove(c); /* remove the refused call, as the caller does */
	return n;
}

TEST(shares)
{
	static const char *const who[] = {"{\"requestor\":\"a\"}",
					  "{\"requestor\":\"b\"}",
					  "{\"requestor\":\"c\"}"};
	struct browser_rpc_call *c;
	char *large;

	begin();
	is_int(taken(who[0]), 224, "one requestor gets most of 256, in steps");
	is_int(taken(who[1]), 28, "the next one most of what is left");
	is_int(taken(who[2]), 3, "the third requestor gets most of the rest");
	browser_rpc_fini(&calls);

	begin();
	large = xasprintf("{\"requestor\":\"a\",\"x\":\"%0*d\"}", 1 << 20, 7);
	for (int i = 0; i < 13; i++)
		c = ask("a", "navigate", large);
	ok(!browser_rpc_full(c, true), "13 MiB of one requestor's may wait");
	c = ask("a", "navigate", large);
	ok(browser_rpc_full(c, true), "14 are more than its share of 16");
	c = ask("b", "navigate", who[1]);
	ok(!browser_rpc_full(c, true), "another's small one finds room");
	c = ask("b", "status", "{}");
	ok(!browser_rpc_full(c, true), "a call of the supervisor finds room");
	browser_rpc_fini(&calls);
	free(large);
}
