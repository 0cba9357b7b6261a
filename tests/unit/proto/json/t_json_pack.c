/* SPDX-License-Identifier: Apache-2.0 */
/* t_json_pack.c - objects packed from a list of members. */
#include "proto/json/json_pack.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/json/json_write.h"
#include "tests/unit/tap_json.h"

TEST(kinds)
{
	struct json_object *lent = json_object_new_object();
	char array[] = "array";
	const char *none = NULL;
	struct json_object *nothing = NULL;
	uint32_t small = UINT32_MAX;
	size_t size = 7;

	is_json(json_pack("a:s b:s c:s", "text", array, none),
		"{\"a\":\"text\",\"b\":\"array\",\"c\":null}",
		"strings are packed, NULL as null");
	is_json(json_pack("a:S b:S", "x\0y", size - 4, "zz", 1),
		"{\"a\":\"x\\u0000y\",\"b\":\"z\"}",
		"strings of a given length are packed");
	is_json(json_pack("a:i b:i c:i d:i e:i", -1, small, size, INT64_MIN,
			  UINT64_MAX),
		"{\"a\":-1,\"b\":4294967295,\"c\":7,\"d\":-9223372036854775808,"
		"\"e\":18446744073709551615}",
		"integers of any type");
	is_json(json_pack("a:b b:b c:b", true, size > 8, -1),
		"{\"a\":true,\"b\":false,\"c\":true}",
		"booleans of any type are packed");
	is_json(json_pack("a:o b:O c:o d:o", json_object_new_array(), lent,
			  nothing, json_pack("x:o", json_pack("y:i", 1))),
		"{\"a\":[],\"b\":{},\"c\":null,\"d\":{\"x\":{\"y\":1}}}",
		"trees, one within another");
	is_json(lent, "{}",
		"a packed object given by :O still belongs to the caller");
}

/* "%.64s" may cut within a character; the packed text must be UTF-8. */
TEST(no_utf8)
{
	static const char bad[] = "gr\xC3\xBCn \xC3";
	struct buf out = {0};

	is_json(json_pack("a:s b:S", bad, "\xFFx\xE2\x82", (size_t)4),
		"{\"a\":\"gr\xC3\xBCn \",\"b\":\"x\"}",
		"bytes which are not UTF-8 are left out of a packed string");
	json_open(&out, NULL);
	json_write(&out, "a:s b:S", bad, "\xFFx", (size_t)2);
	json_close(&out);
	buf_add(&out, "", 1);
	is_str(buf_data(&out), "{\"a\":\"gr\xC3\xBCn \",\"b\":\"x\"}",
	       "bytes which are not UTF-8 are left out of a written string");
	buf_fini(&out);
}

TEST(optional)
{
	const char *none = NULL;
	struct json_object *nothing = NULL;

	is_json(json_pack("a?s b?S c?i d?i e?i f?b g?o h?O", none, none, 0, 0,
			  -1, (size_t)0, false, nothing, nothing),
		"{}", "optional members without a value are left out");
	is_json(
	    json_pack("a?s b?i c?b d?o", "", 1, 2, json_object_new_object()),
	    "{\"a\":\"\",\"b\":1,\"c\":true,\"d\":{}}",
	    "optional members with a value are packed");
}

TEST(add)
{
	struct json_object *o = json_pack("a:i b:i", 1, 2);

	json_add(o, "c:s a:s", "new", "old");
	is_json(o, "{\"a\":\"old\",\"b\":2,\"c\":\"new\"}",
		"more members, and one again in its place");
	is_json(json_pack("a:i b:i c:i d:i e:i f:i g:i h:i i:i j:i k:i l:i m:i "
			  "n:i o:i p:i q:i r:i s:i t:i u:i v:i w:i x:i y:i z:i",
			  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
			  17, 18, 19, 20, 21, 22, 23, 24, 25, 26),
		"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,"
		"\"h\":8,\"i\":9,\"j\":10,\"k\":11,\"l\":12,\"m\":13,\"n\":14,"
		"\"o\":15,\"p\":16,\"q\":17,\"r\":18,\"s\":19,\"t\":20,"
		"\"u\":21,\"v\":22,\"w\":23,\"x\":24,\"y\":25,\"z\":26}",
		"26 members are packed");
}

/* json_write() must write the text of the packed object. */
#define is_written(what, ...)                                                  \
	do {                                                                   \
		struct buf w_ = {0};                                           \
		char *t_;                                                      \
                                                                               \
		json_open(&w_, NULL);                                          \
		json_write(&w_, __VA_ARGS__);                                  \
		json_close(&w_);                                               \
		t_ = buf_take(&w_, NULL);                                      \
		is_json(json_pack(__VA_ARGS__), t_, what);                     \
		free(t_);                                                      \
	} while (0)

TEST(write)
{
	const char *none = NULL;
	struct json_object *nothing = NULL;
	struct buf out = {0};
	char every[128], *text;

	for (int i = 0; i < 127; i++)
		every[i] = (char)(i + 1);
	every[127] = '\0';
	is_written("texts are written as they are packed", "a:s b:s c:s d:S",
		   "text", "\xc3\xa9\xf0\x9f\x98\x80/", none, "x\0y", 3);
	is_written("and each character", "a:s b:s", every, "\"\"\\");
	is_written("and numbers", "a:i b:i c:i d:i e:i", 0, -1, INT64_MIN,
		   INT64_MAX, UINT64_MAX);
	is_written("and booleans and trees", "a:b b:b c:o d:o", true, 0,
		   json_pack("x:o", json_pack("y:s", "z")), nothing);
	is_written("what there is none of is left out",
		   "a?s b?S c?i d?i e?i f?b g?o h?O i?i", none, none, 0, 0, -1,
		   (size_t)0, false, nothing, nothing, 1);
	json_open(&out, NULL);
	json_open(&out, "a");
	json_close(&out);
	json_open(&out, "b");
	json_write(&out, "c:s", "{");
	json_write(&out, "d:i", 1);
	json_close(&out);
	json_write_raw(&out, "e", "[1]", 3);
	json_close(&out);
	text = buf_take(&out, NULL);
	is_str(text, "{\"a\":{},\"b\":{\"c\":\"{\",\"d\":1},\"e\":[1]}",
	       "objects in one another, and what is JSON already");
	free(text);
}

static void mistake(int which)
{
	switch (which) {
	case 0:
		json_pack("a:i b:i", 1);
		break;
	case 1:
		json_pack("a:i", 1, 2);
		break;
	case 2:
		json_pack("a:s", 1);
		break;
	case 3:
		json_pack("a:i", "text");
		break;
	case 4:
		json_pack("a:x", 1);
		break;
	case 5:
		json_pack("a", 1);
		break;
	case 6:
		json_pack("a123456789b123456789c123456789d123456789"
			  "e123456789f123456789g123:i",
			  1);
		break;
	default:
		json_pack("a:S", "text", -1);
	}
}

TEST(mistakes)
{
	static const char *const what[] = {
	    "a value too few",		"one too many",
	    "a number for a text",	"a text for a number",
	    "a kind that there is not", "no kind",
	    "a name that is too long",	"a length below 0"};

	for (int i = 0; i < 8; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0) {
			close(STDERR_FILENO);
			signal(SIGABRT, SIG_DFL); /* no sanitizer's */
			mistake(i);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
		   "%s fails an assertion", what[i]);
	}
}

TEST(members)
{
	struct json_object *o =
	    json_pack("n:i yes:b text:s", INT64_C(1) << 40, true, "1");

	ok(json_member_int(o, "n") == INT64_C(1) << 40,
	   "a number member is read");
	is_int(json_member_int(o, "text"), 0, "a text member is no number");
	is_int(json_member_int(o, "yes"), 0, "a boolean member is no number");
	ok(json_member_bool(o, "yes"), "a boolean member is read");
	ok(!json_member_bool(o, "n") && !json_member_bool(NULL, "n"),
	   "a number member is no boolean");
	json_object_put(o);
}
