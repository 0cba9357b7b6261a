/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_request_state.c - a requestState opens only if unchanged since the server sealed
 * the state.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/mcp/request_state.h"
#include "tests/unit/tap.h"

#define NOW 1790000000000
#define RUN "run_0123456789abcdefghijklmnop"
#define LEN ((size_t)REQUEST_STATE_SIZE - 1)

static const unsigned char key[REQUEST_STATE_KEY] = "the key of this server";
static const unsigned char other_key[REQUEST_STATE_KEY] = "another server's";

static void call(unsigned char out[REQUEST_STATE_CALL], const char *method,
		 const char *name, const char *arguments)
{
	struct json_object *o = NULL;

	json_parse(&o, arguments, strlen(arguments), NULL);
	request_state_call(out, method, name, o);
	json_object_put(o);
}

static struct request_state state(const char *requestor)
{
	struct request_state s = {.requestor = requestor,
				  .run = RUN,
				  .round = 0x01020304,
				  .expires_ms = NOW + 1000};

	call(s.call, "tools/call", "t", "{\"a\":1}");
	return s;
}

/* Open TEXT as alice, for the call of the test. */
static enum request_state_verdict open_it(const char *text, int64_t now_ms)
{
	struct request_state s = state("alice");

	return request_state_open(&s, key, text, strlen(text), now_ms);
}

static void check_round_trip(const char *run)
{
	struct request_state s = state("alice"), got = {.requestor = "alice"};
	char text[REQUEST_STATE_SIZE];

	strcpy(s.run, run);
	request_state_seal(text, key, &s);
	is_int(strlen(text), LEN, "\"%s\": all are as long", run);
	is_int(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvw"
			    "xyz0123456789-_"),
	       LEN, "\"%s\": nothing in it needs quoting", run);
	memcpy(got.call, s.call, sizeof(got.call));
	is_int(request_state_open(&got, key, text, LEN, NOW), REQUEST_STATE_OK,
	       "\"%s\": what was sealed is opened", run);
	is_str(got.run, run, "\"%s\": its run", run);
	is_int(got.round, 0x01020304, "\"%s\": its round", run);
	is_int(got.expires_ms, NOW + 1000, "\"%s\": until when", run);
}

TEST(text)
{
	struct request_state s = {.requestor = "alice", .run = RUN, .round = 7};
	char text[REQUEST_STATE_SIZE];

	request_state_seal(text, key, &s);
	is_str(text,
	       "AQAAAAcAAAAAAAAAAHJ1bl8wMTIzNDU2Nzg5YWJjZGVmZ2hpamtsbW5v"
	       "cAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAr2AbJfw4A"
	       "rxofwzKPp2OpJpcjyNuPrE-Tr3HbGG1ukK7AB0ulwI6sLrtUfHu7r_k1"
	       "EY17VBSYIzE3HmL_kXyD",
	       "a sealed state has the same text in each release");
}

/* Change each bit of each character: no changed state may open. */
TEST(changes)
{
	struct request_state s = state("alice");
	char text[REQUEST_STATE_SIZE], changed[REQUEST_STATE_SIZE];
	int opened = 0, told = 0;

	request_state_seal(text, key, &s);
	for (size_t i = 0; i < LEN; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			enum request_state_verdict v;

			memcpy(changed, text, sizeof(changed));
			changed[i] = (char)(changed[i] ^ (1 << bit));
			v = open_it(changed, NOW);
			opened += v == REQUEST_STATE_OK;
			told += v > REQUEST_STATE_FORGED;
		}
	}
	is_int(opened, 0, "MCP 2026 6: what was changed is not opened");
	is_int(told, 0, "a changed state tells nothing of its contents");
}

static const struct {
	const char *before, *behind; /* text before and after a valid state */
	const char *name;
} malformed[] = {
    {"", "-TAMPERED", "more behind it"},
    {"x", "", "more before it"},
    {"", "=", "padding"},
    {" ", "", "a blank before it"},
    {"", "\n", "an end of a line"},
};

TEST(malformed)
{
	struct request_state s = state("alice"), before = s;
	char text[REQUEST_STATE_SIZE];

	request_state_seal(text, key, &s);
	for (size_t i = 0; i < ARRAY_LEN(malformed); i++) {
		char *all = xasprintf("%s%s%s", malformed[i].before, text,
				      malformed[i].behind);

		is_int(open_it(all, NOW), REQUEST_STATE_MALFORMED,
		       "MCP 2026 6: malformed: %s", malformed[i].name);
		free(all);
	}
	is_int(open_it("", NOW), REQUEST_STATE_MALFORMED,
	       "an empty state is malformed");
	text[LEN - 1] = '\0';
	is_int(open_it(text, NOW), REQUEST_STATE_MALFORMED,
	       "malformed: one character less");
	is_int(request_state_open(&s, key, text, LEN, NOW),
	       REQUEST_STATE_MALFORMED, "malformed: a NUL in it");
	request_state_seal(text, key, &before);
	text[0] = '+';
	is_int(open_it(text, NOW), REQUEST_STATE_MALFORMED,
	       "malformed: the other Base64");
	request_state_seal(text, key, &before);
	text[0] = text[0] == 'A' ? 'B' : 'A';
	text[1] = 'A';
	is_int(open_it(text, NOW), REQUEST_STATE_MALFORMED,
	       "malformed: another version");
	ok(memcmp(&s, &before, sizeof(s)) == 0,
	   "a refused state leaves the output unchanged");
}

/* The faults of a state, and the verdict for several faults. */
static const struct {
	bool forged, foreign, other, late;
	enum request_state_verdict v;
	const char *name;
} verdicts[] = {
    {false, false, false, false, REQUEST_STATE_OK, "nothing"},
    {true, false, false, false, REQUEST_STATE_FORGED, "another key"},
    {false, true, false, false, REQUEST_STATE_OTHER_REQUESTOR,
     "another requestor"},
    {false, false, true, false, REQUEST_STATE_OTHER_CALL, "another call"},
    {false, false, false, true, REQUEST_STATE_EXPIRED, "the time"},
    {true, true, true, true, REQUEST_STATE_FORGED,
     "all of it, of which the key is told"},
    {false, true, true, true, REQUEST_STATE_OTHER_REQUESTOR,
     "all that the seal is on, of which the requestor is told"},
    {false, false, true, true, REQUEST_STATE_OTHER_CALL,
     "the call and the time, of which the call is told"},
};

TEST(verdicts)
{
	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
		struct request_state s =
		    state(verdicts[i].foreign ? "mallory" : "alice");
		char text[REQUEST_STATE_SIZE];

		if (verdicts[i].other)
			call(s.call, "tools/call", "t", "{\"a\":2}");
		request_state_seal(text, verdicts[i].forged ? other_key : key,
				   &s);
		is_int(open_it(text, NOW + (verdicts[i].late ? 1000 : 999)),
		       verdicts[i].v, "MCP 2026 6: wrong is %s",
		       verdicts[i].name);
	}
}

static const struct {
	const char *method, *name, *arguments;
	bool same;
	const char *what;
} calls[] = {
    {"tools/call", "t", "{\"a\":1,\"b\":[2]}", true, "the same"},
    {"tools/call", "t", "{\"b\":[2],\"a\":1}", true, "in another order"},
    {"tools/call", "t", "{\"a\":1,\"b\":[3]}", false, "with another value"},
    {"tools/call", "t", "{\"a\":1}", false, "with less"},
    {"tools/call", "t", "null", false, "without arguments"},
    {"tools/call", "u", "{\"a\":1,\"b\":[2]}", false, "of another tool"},
    {"prompts/get", "t", "{\"a\":1,\"b\":[2]}", false, "by another method"},
    {"tools/callt", "", "{\"a\":1,\"b\":[2]}", false,
     "of a name that moved into the method"},
};

TEST(calls)
{
	unsigned char first[REQUEST_STATE_CALL], sum[REQUEST_STATE_CALL];

	call(first, "tools/call", "t", "{\"a\":1,\"b\":[2]}");
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		call(sum, calls[i].method, calls[i].name, calls[i].arguments);
		is_int(memcmp(first, sum, sizeof(sum)) == 0, calls[i].same,
		       "a call %s", calls[i].what);
	}
}

TEST(sentences)
{
	is_str(request_state_text(REQUEST_STATE_OK), "",
	       "a valid state has no error text");
	for (int i = REQUEST_STATE_OK + 1; i < REQUEST_STATE_VERDICTS; i++) {
		int same = 0;

		for (int k = REQUEST_STATE_OK; k < i; k++)
			same += strcmp(request_state_text(
					   (enum request_state_verdict)i),
				       request_state_text(
					   (enum request_state_verdict)k)) == 0;
		is_int(same, 0, "verdict %d has a sentence of its own", i);
	}
}

int main(void)
{
	check_round_trip(RUN);
	check_round_trip("");
	tap_run();
	return tap_done();
}
