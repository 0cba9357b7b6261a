/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_lost_artifacts.c - artifacts which could not be kept: the run's outcome, and the
 * view.
 */
#include "supervisor/run/lost_artifacts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

enum what { NONE, TOLD, LOST, NO_FILE };

/*
 * The lost artifacts, whether the template allows partial success, and the end of the
 * run.
 */
static const struct {
	enum what first, second;
	bool partial;
	enum run_event was, is;
	const char *name;
} ends[] = {
    {NONE, NONE, false, EV_SUCCEED, EV_SUCCEED, "nothing is missing"},
    {NONE, NONE, true, EV_SUCCEED, EV_SUCCEED, "nothing, of a partial one"},
    {TOLD, NONE, false, EV_SUCCEED, EV_SUCCEED,
     "the template knew, and went on"},
    {TOLD, NONE, true, EV_SUCCEED, EV_PARTIAL, "it knew, and may be partial"},
    {LOST, NONE, false, EV_SUCCEED, EV_FAIL, "nobody told it"},
    {LOST, NONE, true, EV_SUCCEED, EV_PARTIAL,
     "nobody told it, and it may be partial"},
    {TOLD, LOST, false, EV_SUCCEED, EV_FAIL, "of one it knew, of one not"},
    {NO_FILE, NONE, false, EV_SUCCEED, EV_SUCCEED, "a link is no loss"},
    {NO_FILE, NONE, true, EV_SUCCEED, EV_SUCCEED, "of a partial one, too"},
    {NO_FILE, LOST, false, EV_SUCCEED, EV_FAIL, "a file beside it is"},
    {LOST, NONE, true, EV_PARTIAL, EV_PARTIAL, "steps failed as well"},
    {LOST, NONE, false, EV_FAIL, EV_FAIL, "it has failed already"},
};

static struct template template;

static struct run *new_run(bool partial)
{
	struct run *r = xcalloc(1, sizeof(*r));

	template.partial = partial;
	r->template = &template;
	return r;
}

static void free_run(struct run *r)
{
	lost_artifacts_free(r->lost_artifacts);
	run_clear_error(r);
	free(r);
}

static void lack(struct run *r, enum what what, const char *name,
		 uint64_t count, const char *code, const char *errmsg)
{
	struct tool_error tool_error = {0};
	struct lost_artifact one = {.name = {name, strlen(name)},
				    .size = 7,
				    .count = count,
				    .told = what == TOLD,
				    .no_file = what == NO_FILE};

	if (what == NONE)
		return;
	tool_error_set(&tool_error, code, NULL, "%s", errmsg);
	lost_artifacts_add(r, &one, &tool_error);
	tool_error_fini(&tool_error);
}

TEST(ends_runs)
{
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct run *r = new_run(ends[i].partial);
		bool fails = ends[i].is == EV_FAIL && ends[i].was != EV_FAIL;

		lack(r, ends[i].first, "a", 1, "RESOURCE_LIMIT", "too large");
		lack(r, ends[i].second, "b", 1, "STORE_UNAVAILABLE", "full");
		is_int(lost_artifacts_weigh(r, ends[i].was), ends[i].is, "%s",
		       ends[i].name);
		ok((r->error.code != NULL) == fails,
		   "the run has an error exactly if it fails by the loss");
		free_run(r);
	}
}

TEST(blames_the_first_that_counts)
{
	struct run *r = new_run(false);

	lack(r, NO_FILE, "link", 1, "EXECUTION_ERROR", "no file");
	lack(r, TOLD, "known", 1, "RESOURCE_LIMIT", "too many");
	lack(r, LOST, "b.txt", 1, "STORE_UNAVAILABLE", "the disk is full");
	lost_artifacts_weigh(r, EV_SUCCEED);
	is_str(r->error.code, "STORE_UNAVAILABLE",
	       "the cause is the first loss's");
	is_str(r->error.message,
	       "of what the program left in out/, b.txt "
	       "was not kept: the disk is full",
	       "the message of the error is that of the first loss");
	is_str(json_text(r->error.details, NULL),
	       "{\"missing\":1,\"artifact\":\"b.txt\"}",
	       "the details have the number and name of lost artifacts");
	free_run(r);
}

TEST(what_is_kept_later_is_not_missing)
{
	struct run *r = new_run(true);
	struct json_object *list;

	lack(r, TOLD, "a", 1, "STORE_UNAVAILABLE", "full");
	lack(r, TOLD, "b", 1, "STORE_UNAVAILABLE", "full");
	lost_artifacts_remove(r, "a");
	list = lost_artifacts_json(r);
	is_str(
	    json_text(list, NULL),
	    "[{\"name\":\"b\",\"size\":7,\"errorCode\":\"STORE_UNAVAILABLE\","
	    "\"message\":\"full\"}]",
	    "one that was tried again is missing no more");
	json_object_put(list);
	lost_artifacts_remove(r, "b");
	ok(lost_artifacts_json(r) == NULL,
	   "the last lost artifact is removed from the list");
	is_int(lost_artifacts_weigh(r, EV_SUCCEED), EV_SUCCEED,
	       "a run without lost artifacts is a success");
	free_run(r);
}

TEST(no_file_counts_as_neither)
{
	struct run *r = new_run(false);
	struct tool_error errmsg = {0};

	tool_error_set(&errmsg, "EXECUTION_ERROR", NULL, "no file");
	lost_artifacts_add(
	    r,
	    &(struct lost_artifact){
		.name = {"a", 1}, .count = 1, .told = true, .no_file = true},
	    &errmsg);
	tool_error_fini(&errmsg);
	lost_artifacts_remove(r, "a");
	lack(r, LOST, "b", 1, "STORE_UNAVAILABLE", "full");
	is_int(lost_artifacts_weigh(r, EV_SUCCEED), EV_FAIL,
	       "what a worker was told of a link makes up for no file");
	free_run(r);
}

TEST(told_becomes_lost)
{
	struct run *r = new_run(false);

	ok(!lost_artifacts_unreported(r), "nothing was refused yet");
	lack(r, TOLD, "a", 1, "STORE_UNAVAILABLE", "full");
	ok(lost_artifacts_unreported(r), "what was refused is untold");
	ok(!lost_artifacts_unreported(r), "a refused artifact is untold once");
	lost_artifacts_remove(r, "a");
	is_int(
	    lost_artifacts_weigh(r, EV_SUCCEED), EV_FAIL,
	    "a refused artifact stays missing after one of that name was kept");
	free_run(r);
}

TEST(is_bounded)
{
	struct run *r = new_run(false);
	struct json_object *list, *last;

	for (int i = 0; i < 3 * LOST_ARTIFACTS_MAX; i++)
		lack(r, LOST, "a", 1, "RESOURCE_LIMIT", "too many");
	lack(r, LOST, "z", 1000, "RESOURCE_LIMIT", "not tried");
	list = lost_artifacts_json(r);
	is_int(json_object_array_length(list), LOST_ARTIFACTS_MAX,
	       "the list of lost artifacts is bounded");
	last = json_object_array_get_idx(list, LOST_ARTIFACTS_MAX - 1);
	is_int(json_object_get_int64(json_member(last, "count")),
	       2 * LOST_ARTIFACTS_MAX + 1 + 1000,
	       "the last entry of a full list counts the rest");
	json_object_put(list);
	lost_artifacts_weigh(r, EV_SUCCEED);
	is_int(json_object_get_int64(json_member(r->error.details, "missing")),
	       3 * LOST_ARTIFACTS_MAX + 1000, "the error counts all");
	free_run(r);
}
