/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_artifacts.c - a view's missingArtifacts in words, a line for each reason.
 * report.c says them at a run's end, explain.c later. It fails never: what a
 * server left out is left out.
 */
#include "cli/lost_artifacts.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "proto/json/json.h"

#define NAMED_MAX 5 /* in a line */

static struct json_object *list_of(struct json_object *view, size_t *n)
{
	struct json_object *list = json_member(view, "missingArtifacts");

	*n = json_length(list);
	return list;
}

static uint64_t count_of(struct json_object *item)
{
	struct json_object *count = json_member(item, "count");

	return json_object_is_type(count, json_type_int)
		   ? json_object_get_uint64(count)
		   : 1;
}

uint64_t lost_artifacts_count(struct json_object *view)
{
	uint64_t sum = 0;
	size_t n;
	struct json_object *list = list_of(view, &n);

	for (size_t i = 0; i < n; i++)
		sum += count_of(json_object_array_get_idx(list, i));
	return sum;
}

/* Is B missing for A's reason? Its figures may be others. */
static bool alike(struct json_object *a, struct json_object *b)
{
	const char *one = json_member_str(a, "errorCode");
	const char *other = json_member_str(b, "errorCode");
	const char *limit = json_member_str(json_member(a, "details"), "limit");
	const char *its = json_member_str(json_member(b, "details"), "limit");

	if (one == NULL || other == NULL || strcmp(one, other) != 0)
		return false;
	if (limit != NULL || its != NULL)
		return limit != NULL && its != NULL && strcmp(limit, its) == 0;
	one = json_member_str(a, "message");
	other = json_member_str(b, "message");
	return one != NULL && other != NULL && strcmp(one, other) == 0;
}

/* The line of those from I on that are alike; where the next begins. SAID has
 * been read before. */
static size_t add_line(struct buf *out, struct json_object *list, size_t i,
		       size_t n, const char *said)
{
	struct json_object *first = json_object_array_get_idx(list, i);
	const char *message = json_member_str(first, "message");
	uint64_t more = 0;
	size_t named = 0;

	buf_add_str(out, "not kept: ");
	for (; i < n; i++) {
		struct json_object *it = json_object_array_get_idx(list, i);
		const char *name = json_member_str(it, "name");

		if (!alike(first, it) && it != first)
			break;
		more += count_of(it);
		if (named == NAMED_MAX || name == NULL)
			continue;
		buf_printf(out, "%s%s", named++ > 0 ? ", " : "", name);
		more--;
	}
	if (more > 0)
		buf_printf(out, " and %" PRIu64 " more", more);
	if (message != NULL && (said == NULL || strstr(said, message) == NULL))
		buf_printf(out, ": %s", message);
	return i;
}

/* Is there but one, of which the run's error speaks? */
static bool is_said(struct json_object *view)
{
	struct json_object *error = json_member(view, "error");

	return lost_artifacts_count(view) == 1 &&
	       json_member(json_member(error, "details"), "missing") != NULL;
}

void lost_artifacts_print(struct json_object *view,
			  void (*say)(void *arg, const char *line), void *arg)
{
	size_t n;
	struct json_object *list = list_of(view, &n);
	const char *said =
	    json_member_str(json_member(view, "error"), "message");

	if (is_said(view))
		return;
	for (size_t i = 0; i < n;) {
		struct buf line = {0};

		i = add_line(&line, list, i, n, said);
		buf_add(&line, "", 1);
		say(arg, buf_data(&line));
		buf_fini(&line);
	}
}
