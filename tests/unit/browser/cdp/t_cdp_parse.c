/* SPDX-License-Identifier: Apache-2.0 */
/* What Chromium sends on its debugging pipe, as messages. */
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

/* The next message, where the last one is not needed any more. */
static bool next(void)
{
	json_object_put(m.tree);
	return cdp_parse_next(&parse, &m);
}

/* TEXT and its NUL, as a message. */
static bool read_one(const char *text)
{
	come(text, strlen(text) + 1);
	return next();
}

TEST(messages)
{
	ok(!next(), "nothing has come");
	ok(read_one("{\"id\":7,\"result\":{\"a\":1},\"sessionId\":\"S\"}") &&
	       m.method == NULL && m.id == 7 && m.error == NULL &&
	       json_member_int(m.result, "a") == 1,
	   "an answer");
	is_str(m.session, "S", "has a session");
	ok(read_one("{\"id\":8,\"error\":{\"code\":-1,\"message\":\"no\"}}") &&
	       m.id == 8 && m.result == NULL,
	   "or an error");
	is_str(m.error, "no", "with a reason");
	ok(read_one("{\"id\":9,\"error\":[]}"), "or with none");
	is_str(m.error, "no result", "which is one");
	ok(read_one("{\"method\":\"A.b\",\"params\":{\"c\":true},"
		    "\"sessionId\":\"T\"}") &&
	       json_member_bool(m.params, "c"),
	   "an event");
	is_str(m.method, "A.b", "has a method");
	is_str(m.session, "T", "and a session");
	ok(read_one("{\"method\":\"A.b\"}") && m.session == NULL &&
	       m.params == NULL,
	   "or neither session nor parameters");
}

/* Never an answer to somebody else's call. */
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
		   "\"%s\" is lost", bad[i]);
	memset(deep + strlen(deep), '[', 200);
	ok(read_one(deep) && m.tree == NULL, "so is what is too deep");
	ok(read_one("{\"id\":7,\"result\":{}}") && m.id == 7,
	   "and then things go on");
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
	is_int(n, 2, "messages come byte by byte");
	come(text, sizeof(text));
	ok(next() && m.id == 1 && next() && m.id == 2 && !next(),
	   "or several at once");
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
	ok(next() && m.tree == NULL && m.lost == 21, "and no more");
	come(text, 21);
	ok(next() && m.tree == NULL, "which is told before its end");
	is_int(buf_len(&parse.got), 0, "and not held");
	come(text, 20);
	ok(!next(), "and once alone");
	is_int(buf_len(&parse.got), 0, "however much there is");
	ok(!read_one("{\"id\":2}"), "its last piece is lost, too");
	ok(read_one("{\"id\":3}") && m.id == 3, "the next message is not");
}

int main(void)
{
	parse.max = CDP_MESSAGE_MAX;
	tap_run();
	json_object_put(m.tree);
	cdp_parse_fini(&parse);
	return tap_done();
}
