/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_tests.c - checks the shape of tests/NAME.json: {"inputs": {},
 * "expect": {}}. Called when a package is checked; "paddock template test"
 * finds whether the tests pass.
 */
#include "supervisor/packages/package/package_tests.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/dir_walk.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"
#include "supervisor/packages/package/package.h"

#define FOLDER "tests/"
#define ENDING ".json"

/* The ends of runs, and "refused" for a call that makes no run. */
static const char *const statuses[] = {"succeeded", "partial_success", "failed",
				       "canceled", "refused"};

static const char *const members[] = {"inputs", "expect"};
static const char *const expected[] = {"status", "result", "errorCode"};

struct test {
	const char *file;
	struct diagnostics *f;
};

/* Report members of O, at POINTER, that no test uses. */
static void check_keys(struct test *t, struct json_object *o,
		       const char *pointer, enum diagnostic_level level,
		       const char *const *known, size_t n)
{
	json_object_object_foreach(o, key, value) {
		const char *suggest;
		char *place;
		size_t i = 0;

		(void)value;
		while (i < n && strcmp(known[i], key) != 0)
			i++;
		if (i < n || t->f->more)
			continue;
		suggest = suggest_word(key, known, n);
		place = json_pointer_below(pointer, key);
		diagnostics_add(t->f, level, t->file, place,
				"unknown key \"%s\"%s%s%s", key,
				suggest != NULL ? "; did you mean \"" : "",
				suggest != NULL ? suggest : "",
				suggest != NULL ? "\"?" : "");
		diagnostics_of_name(t->f);
		free(place);
	}
}

static void check_status(struct test *t, struct json_object *o)
{
	const char *status = json_object_is_type(o, json_type_string)
				 ? json_object_get_string(o)
				 : "";
	const char *suggest;

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		if (strcmp(statuses[i], status) == 0)
			return;
	suggest = suggest_word(status, statuses, ARRAY_LEN(statuses));
	diagnostics_add(
	    t->f, DIAGNOSTIC_ERROR, t->file, "/expect/status",
	    "no run ends so: a status is succeeded, partial_success, "
	    "failed, canceled or refused%s%s%s",
	    suggest != NULL ? "; did you mean " : "",
	    suggest != NULL ? suggest : "", suggest != NULL ? "?" : "");
}

static void check_expect(struct test *t, struct json_object *o)
{
	struct json_object *v;

	if (!json_object_is_type(o, json_type_object)) {
		diagnostics_add(
		    t->f, DIAGNOSTIC_ERROR, t->file, "/expect",
		    "a test has \"expect\", an object of \"status\" "
		    "and \"result\" or \"errorCode\"");
		return;
	}
	check_keys(t, o, "/expect", DIAGNOSTIC_ERROR, expected,
		   ARRAY_LEN(expected));
	if (json_object_object_get_ex(o, "status", &v))
		check_status(t, v);
	if (json_object_object_get_ex(o, "errorCode", &v) &&
	    !json_object_is_type(v, json_type_string))
		diagnostics_add(t->f, DIAGNOSTIC_ERROR, t->file,
				"/expect/errorCode",
				"an error's code is a text, such as "
				"\"INVALID_PARAMETER\"");
}

static void check_test(struct test *t, struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object)) {
		diagnostics_add(t->f, DIAGNOSTIC_ERROR, t->file, "",
				"a test is an object of \"inputs\" and "
				"\"expect\"");
		return;
	}
	if (json_member(o, "inputs") == NULL)
		diagnostics_add(t->f, DIAGNOSTIC_ERROR, t->file, "/inputs",
				"a test has \"inputs\", an object");
	check_expect(t, json_member(o, "expect"));
	check_keys(t, o, "", DIAGNOSTIC_WARNING, members, ARRAY_LEN(members));
}

static bool is_test(const char *name)
{
	size_t n = strlen(name), end = strlen(ENDING);

	return strncmp(name, FOLDER, strlen(FOLDER)) == 0 &&
	       strchr(name + strlen(FOLDER), '/') == NULL &&
	       name[strlen(FOLDER)] != '.' && n > end &&
	       strcmp(name + n - end, ENDING) == 0;
}

void package_tests_check(int fd, struct diagnostics *f)
{
	struct dir_walk *all = NULL;
	char errmsg[512], *text;
	struct json_object *o;
	struct json_error err;
	size_t len;

	if (dir_walk_list(fd, &all, errmsg, sizeof(errmsg)) < 0)
		return; /* package_digest() has reported the fault */
	for (size_t i = 0; i < all->n && !f->more; i++) {
		struct test t = {.file = all->names[i], .f = f};

		if (!is_test(t.file))
			continue;
		if (package_read(fd, t.file, &text, &len, errmsg,
				 sizeof(errmsg)) < 0) {
			diagnostics_add(f, DIAGNOSTIC_WARNING, NULL, NULL,
					"%s; it was not checked", errmsg);
			continue;
		}
		if (json_parse(&o, text, len, &err) == 0) {
			check_test(&t, o);
			diagnostics_place(f, t.file, text, len);
			json_object_put(o);
		} else {
			diagnostics_not_json(f, t.file, text, len, &err);
		}
		free(text);
	}
	dir_walk_free(all);
}
