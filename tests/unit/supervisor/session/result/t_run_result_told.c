/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_run_result_told.c - the texts of a result's items, for long results and failures.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "supervisor/session/result/run_result.h"
#include "supervisor/session/result/resource_uri.h"
#include "tests/unit/tap.h"

#define ID "run_0123456789abcdefghijklmnop"
#define URI "paddock://runs/" ID
#define MAX ((size_t)1 << 20)

static struct json_object *made(enum store_task form, enum store_status status,
				unsigned level, size_t max, const char *members)
{
	char *view = xasprintf("{\"runId\":\"" ID "\"%s}", members);
	struct json_object *r =
	    run_result_make(&(struct run_result_source){.id = ID,
							.form = form,
							.status = status,
							.view = view,
							.level = level,
							.max = max},
			    MCP_2025_11_25);

	free(view);
	return r;
}

static struct json_object *item(struct json_object *result, size_t i)
{
	return json_object_array_get_idx(json_member(result, "content"), i);
}

/* The text of item I, "" without such an item. */
static const char *text_of(struct json_object *result, size_t i)
{
	const char *text = json_member_str(item(result, i), "text");

	return text != NULL ? text : "";
}

/* TEXT repeated N times; the caller frees the string. */
static char *times(size_t n, const char *text)
{
	struct buf b = {0};

	for (size_t i = 0; i < n; i++)
		buf_add_str(&b, text);
	buf_add(&b, "", 1);
	return buf_take(&b, NULL);
}

/* The same, parted by commas, in which %zu is a number. */
static char *items(size_t n, const char *before, const char *after)
{
	struct buf b = {0};

	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s%zu%s", i > 0 ? "," : "", before, i, after);
	buf_add(&b, "", 1);
	return buf_take(&b, NULL);
}

static void test_cut(void)
{
	char *word = times(3000, "é"), *members, *all;
	struct json_object *r;

	members = xasprintf(",\"result\":\"%s\"", word);
	r = made(STORE_TASK_OUTPUT, STORE_SUCCEEDED, 2, MAX, members);
	is_int(strlen(text_of(r, 0)), 4095,
	       "a text is cut between two characters");
	ok(utf8_ok(text_of(r, 0), strlen(text_of(r, 0))),
	   "a text that was cut is valid UTF-8");
	ok(strstr(text_of(r, 1), "4095 of 6002 bytes") != NULL,
	   "a text that was cut says how much is shown");
	json_object_put(r);
	free(members);
	free(word);

	word = times(300 << 10, "x");
	members = xasprintf(
	    ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"},"
	    "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"%s\"},"
	    "{\"type\":\"text\",\"text\":\"short\"}]}",
	    word, word);
	r = made(STORE_TASK_REPLY, STORE_SUCCEEDED, 1, 2 * MAX, members);
	ok(strlen(text_of(r, 0)) < 64 << 10 &&
	       strncmp(text_of(r, 0), "xxx", 3) == 0,
	   "a block of a reply is cut to its part of the room");
	ok(strncmp(text_of(r, 1), "[image: 3", 9) == 0,
	   "one that is no text is named");
	is_str(text_of(r, 2), "short", "one that is short stays");
	json_object_put(r);
	r = made(STORE_TASK_REPLY, STORE_SUCCEEDED, 0, 2 * MAX, members);
	is_int(strlen(text_of(r, 0)), 300 << 10,
	       "  while all is told where there is room for it");
	json_object_put(r);
	free(members);

	all = items(2000, "{\"status\":\"succeeded\",\"name\":\"", "\"}");
	members = xasprintf(",\"steps\":[%s],\"result\":7", all);
	r = made(STORE_TASK_VIEW, STORE_SUCCEEDED, 2, 1 << 16, members);
	ok(json_member(json_member(r, "structuredContent"), "steps") == NULL &&
	       json_member(json_member(r, "structuredContent"), "runId") !=
		   NULL,
	   "of a view that is too long steps go as well");
	json_object_put(r);
	r = made(STORE_TASK_VIEW, STORE_SUCCEEDED, 2, MAX, members);
	ok(json_member(json_member(r, "structuredContent"), "steps") != NULL,
	   "steps of a short view stay when another part is long");
	json_object_put(r);
	free(members);
	free(all);
	free(word);
}

static void test_parts(void)
{
	size_t max = 64 << 10, each = RESOURCE_URI_RANGE_BYTES(max);
	char *word = times(2 * each + 8, "x"), *members, *last;
	struct json_object *r;
	size_t n;

	members = xasprintf(",\"result\":\"%s\"", word);
	r = made(STORE_TASK_OUTPUT, STORE_SUCCEEDED, 2, max, members);
	n = json_object_array_length(json_member(r, "content"));
	is_int(n, 2 + 3, "a result that is read in parts has a link for each");
	last = xasprintf(URI "/result?offset=%zu&limit=%zu", 2 * each, each);
	is_str(json_member_str(item(r, n - 1), "uri"), last,
	       "  the last begins where the one before it ends");
	is_int(json_member_int(item(r, n - 2), "size"), (int64_t)each,
	       "  one is as long as a part may be");
	is_int(json_member_int(item(r, n - 1), "size"), 10,
	       "the link to the last part has the rest");
	json_object_put(r);
	free(last);
	free(members);
	free(word);
}

static void test_failed(void)
{
	struct json_object *r, *error;

	r = made(STORE_TASK_OUTPUT, STORE_FAILED, 0, MAX,
		 ",\"error\":{\"errorCode\":\"MINE\",\"message\":\"no\","
		 "\"details\":{\"runId\":\"run_other\",\"n\":1}}");
	json_parse(&error, text_of(r, 0), strlen(text_of(r, 0)), NULL);
	is_str(json_member_str(json_member(error, "details"), "runId"), ID,
	       "an error says which run it is of, whatever a worker says");
	is_int(json_member_int(json_member(error, "details"), "n"), 1,
	       "an error keeps the worker's other details");
	json_object_put(error);
	json_object_put(r);

	r = made(STORE_TASK_REPLY, STORE_CANCELED, 0, MAX,
		 ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
		 "\"done\"}]},\"error\":{\"errorCode\":\"RUN_CANCELED\","
		 "\"message\":\"as asked\"}");
	ok(json_object_get_boolean(json_member(r, "isError")) &&
	       strstr(text_of(r, 0), "RUN_CANCELED") != NULL,
	   "a run that was canceled has no reply");
	json_object_put(r);
}

static void test_partial(void)
{
	char *bad = items(12,
			  "{\"status\":\"failed\",\"error\":{\"code\":\"BAD\"},"
			  "\"name\":\"bad",
			  "\"}");
	char *members = xasprintf(
	    ",\"steps\":[{\"name\":\"good\",\"status\":\"succeeded\"},%s],"
	    "\"result\":1",
	    bad);
	struct json_object *r =
	    made(STORE_TASK_OUTPUT, STORE_PARTIAL_SUCCESS, 0, MAX, members);
	const char *said = text_of(r, 1);

	ok(strstr(said, ": 12 of 13 steps failed") != NULL,
	   "how many steps of a partial success failed");
	ok(strstr(said, "\n- bad9: BAD") != NULL &&
	       strstr(said, "bad10") == NULL && strstr(said, "good") == NULL,
	   "  the first ten of them by name");
	ok(strstr(said, "\n- and 2 more") != NULL,
	   "a partial success says how many more steps failed");
	json_object_put(r);
	free(members);
	free(bad);
}

static void test_missing(void)
{
	char *some = items(
	    12, "{\"count\":3,\"message\":\"no room\",\"name\":\"f", "\"}");
	char *members =
	    xasprintf(",\"missingArtifacts\":[%s],\"result\":1", some);
	struct json_object *r =
	    made(STORE_TASK_OUTPUT, STORE_SUCCEEDED, 0, MAX, members);
	const char *said = text_of(r, 1);

	ok(strstr(said, "\n- f9 and 2 more: no room") != NULL &&
	       strstr(said, "- f10") == NULL,
	   "what is not kept is named, and why");
	ok(strstr(said, "\n- and 6 more") != NULL,
	   "lost artifacts without a line are counted");
	json_object_put(r);
	free(members);
	free(some);
}

static void test_artifacts(void)
{
	char *some = items(RUN_RESULT_LINKS + 3,
			   "{\"name\":\"f\",\"size\":1,\"mimeType\":\"a/b\","
			   "\"artifactId\":\"art_",
			   "\"}");
	char *members = xasprintf(",\"artifacts\":[%s],\"result\":1", some);
	struct json_object *r =
	    made(STORE_TASK_OUTPUT, STORE_SUCCEEDED, 0, MAX, members);

	is_int(json_object_array_length(json_member(r, "content")),
	       1 + RUN_RESULT_LINKS + 1,
	       "a bounded number of artifacts is linked to");
	ok(strncmp(text_of(r, 1 + RUN_RESULT_LINKS), "3 more artifacts ", 17) ==
	       0,
	   "artifacts without a link are counted");
	json_object_put(r);
	free(members);
	free(some);
}

int main(void)
{
	test_cut();
	test_parts();
	test_failed();
	test_partial();
	test_missing();
	test_artifacts();
	return tap_done();
}
