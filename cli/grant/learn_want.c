/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn_want.c - the lack of a failed run, by the run's view, for learn.c: refused
 * permissions, exceeded limits, complaints of programs about limits, and locks.
 */
#include "cli/grant/learn_want.h"

#include <string.h>

#include "base/limits.h"
#include "cli/grant/draft.h"
#include "cli/terminal/remedy.h"
#include "proto/json/json_pack.h"

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)
#define DAY_MS INT64_C(86400000)

/* The limits of a template that sets none. */
static const int64_t usual[LIMITS] = {
#define LIMIT(id, field, max_field, name, unit, manifest, of, raised_by, type, \
	      least, most, usually, ...)                                       \
	[LIMIT_##id] = usually,
#include "base/limits.def"
};

struct json_object *learn_want_words(struct json_object *want, const char *key)
{
	struct json_object *grant = json_member(want, "grant"), *list;

	if (grant == NULL) {
		grant = json_object_new_object();
		json_add(want, "grant:o", grant);
	}
	list = json_member(grant, key);
	if (list == NULL) {
		list = json_object_new_array();
		json_object_object_add(grant, key, list);
	}
	return list;
}

/* Double the limit, if any, that the program of VIEW complains of. */
static bool add_complaint(struct json_object *want,
			  struct json_object *manifest,
			  struct json_object *view)
{
	struct json_object *error = json_member(view, "error"), *limits;
	const char *said =
	    json_member_str(json_member(error, "details"), "stderr");
	const struct cage_hints *h = said != NULL ? cage_hints(said) : NULL;

	for (size_t i = 0; h != NULL && h->key != NULL && i < LIMITS; i++) {
		const struct limit_info *info = &limit_info[i];
		int64_t n, set = json_member_int(
			       json_member(manifest, "limits"), info->manifest);

		if (strcmp(info->max_key, h->key) != 0)
			continue;
		limits = json_member(want, "limits");
		n = json_member_int(limits, info->name);
		n = 2 * (n > 0 ? n : set > 0 ? set : usual[i]);
		if (limits == NULL) {
			limits = json_object_new_object();
			json_add(want, "limits:o", limits);
		}
		json_object_object_add(limits, info->name,
				       json_object_new_int64(n));
		return true;
	}
	return false;
}

/* Add locks, if the program of VIEW was stopped at a lock. */
static bool add_locks(struct json_object *want, struct json_object *view)
{
	struct json_object *error = json_member(view, "error"), *list;
	const char *call =
	    json_member_str(json_member(error, "details"), "syscall");

	if (call == NULL ||
	    (strcmp(call, "flock") != 0 && strcmp(call, "fcntl") != 0))
		return false;
	list = learn_want_words(want, "locks");
	if (json_length(list) > 0)
		return false;
	json_object_array_add(list, json_object_new_string("yes"));
	return true;
}

bool learn_want_add(struct json_object *want, struct json_object *manifest,
		    struct json_object *view)
{
	return draft_add(want, view) || add_complaint(want, manifest, view) ||
	       add_locks(want, view);
}
