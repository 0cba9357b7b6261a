/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes from Chromium's debugging pipe, parsed into messages. */
#include "browser/cdp/cdp_parse.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "tests/unit/tap.h"

static struct cdp_parse parse;
static struct cdp_message m;

static void come(const char *p, size_t n)
{
	buf_add(&parse.got, p, n);
}

/* Free the present message and parse the next. */
static bool next(void)
{
	json_object_put(m.tree);
	return cdp_parse_next(&parse, &m);
}

/* Feed TEXT with the NUL, and parse a message. */
static bool read_one(const char *text)
{
	come(text, strlen(text) + 1);
	return next();
}

TEST(messages)
{
	ok(!next(), "without bytes there is no message");
	ok(read_one("{\"id\":7,\"result\":{\"a\":1},\"sessionId\":\"S\"}") &&
	       m.method == NULL && m.id == 7 && m.error == NULL &&
	       json_member_int(m.result, "a") == 1,
	   "an answer with a result is parsed");
	is_str(m.session, "S", "an answer has a session");
	ok(read_one("{\"id\":8,\"error\":{\"code\":-1,\"message\":\"no\"}}") &&
	       m.id == 8 && m.result == NULL,
	   "an answer with an error is parsed");
	is_str(m.error, "no", "an error has a reason");
	ok(read_one("{\"id\":9,\"error\":[]}"),
	   "an error without a message is parsed");
	is_str(m.error, "no result",
	       "an error without a message has a default reason");
	ok(read_one("{\"method\":\"A.b\",\"params\":{\"c\":true},"
		    "\"sessionId\":\"T\"}") &&
	       json_member_bool(m.params, "c"),
	   "an event is parsed");
	is_str(m.method, "A.b", "an event has a method");
	is_str(m.session, "T", "an event has a session");
	ok(read_one("{\"method\":\"A.b\"}") && m.session == NULL &&
	       m.params == NULL,
	   "an event without session and parameters is parsed");
}

/* A message with a wrong id must never answer a call. */
TEST(ids)
{
	static const char *const none[] = {
	    "{}",
	    "{\"id\":\"7\",\"result\":{}}",
	    "{\"id\":-1,\"result\":{}}",
	    "{\"id\":4294967303,\"result\":{}}",
	    "{\"id\":1e300,\"result\":{}}",
	    "{\"id\":[7],\"result\":{}}",
	    "{\"method\":7,\"result\":{}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		ok(read_one(none[i]) && m.tree != NULL && m.method == NULL &&
		       m.id == 0,
		   "%s answers no call", none[i]);
}

TEST(losses)
{
	static const char *const bad[] = {
	    "",
	    "[]",
	    "null",
	    "7",
	    "{",
	    "{\"a\":1",
	    "{\"id\":7}x",
	    "{a:1}",
	    "\xff",
	    "{\"id\":7,}",
	    "\"{\\\"id\\\":7}\"",
	};
	char deep[400] = "{\"id\":7,\"result\":";

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(read_one(bad[i]) && m.tree == NULL &&
		       m.lost == strlen(bad[i]),
		   "the malformed message \"%s\" is dropped", bad[i]);
	memset(deep + strlen(deep), '[', 200);
	ok(read_one(deep) && m.tree == NULL,
	   "a message nested too deep is dropped");
	ok(read_one("{\"id\":7,\"result\":{}}") && m.id == 7,
	   "the message after a dropped message is parsed");
}

TEST(texts)
{
	const char *s;

	ok(read_one("{\"method\":\"A.b\",\"params\":{\"t\":\"a\\u0000b\","
		    "\"u\":\"\\ud800x\"}}"),
	   "pages may say anything");
	s = json_member_str(m.params, "t");
	is_str(s, "a", "a text ends at its NUL");
	s = json_member_str(m.params, "u");
	ok(s != NULL && utf8_ok(s, strlen(s)), "half a surrogate is made good");
}

TEST(pieces)
{
	static const char text[] = "{\"id\":1,\"result\":{}}\0"
				   "{\"id\":2,\"result\":{}}";
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(text); i++) {
		come(text + i, 1);
		n += next() && m.id == n + 1;
	}
	is_int(n, 2, "two messages are parsed byte by byte");
	come(text, sizeof(text));
	ok(next() && m.id == 1 && next() && m.id == 2 && !next(),
	   "two messages in one read are parsed");
}

TEST(length)
{
	char text[64];

	parse.max = 20;
	memset(text, ' ', sizeof(text));
	memcpy(text, "{\"id\":1}", 8);
	text[20] = '\0';
	come(text, 21);
	ok(next() && m.id == 1, "a message may have so many bytes");
	text[20] = ' ';
	text[21] = '\0';
	come(text, 22);
	ok(next() && m.tree == NULL && m.lost == 21,
	   "a message beyond the maximum is dropped");
	come(text, 21);
	ok(next() && m.tree == NULL,
	   "an overlong message is reported before its end");
	is_int(buf_len(&parse.got), 0,
	       "the bytes of an overlong message are not held");
	come(text, 20);
	ok(!next(), "an overlong message is reported once");
	is_int(buf_len(&parse.got), 0,
	       "no byte of an overlong message is held");
	ok(!read_one("{\"id\":2}"),
	   "the last piece of an overlong message is dropped");
	ok(read_one("{\"id\":3}") && m.id == 3, "the next message is not");
}

int main(void)
{
	parse.max = CDP_MESSAGE_MAX;
	tap_run();
	json_object_put(m.tree);
	buf_fini(&parse.got);
	return tap_done();
}
