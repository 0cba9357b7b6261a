/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of tests/NAME.json: {"inputs": …, "expect": {…}}. Called when a package
 * is checked; whether they pass is for "paddock template test" to find out.
 */
#include "supervisor/package/package_tests.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/dir_walk.h"
#include "base/mem.h"
#include "base/text/suggest.h"
#include "base/text/text_position.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"
#include "supervisor/package/package.h"

#define FOLDER "tests/"
#define ENDING ".json"

/* How runs end; and what no run is made of. */
static const char *const statuses[] = {"succeeded", "partial_success",
				       "failed", "canceled", "refused"};

static const char *const members[] = {"inputs", "expect"};
static const char *const expected[] = {"status", "result", "errorCode"};

struct test {
	const char *file;
	struct findings *f;
};

/* Members of O, which is at POINTER, that nobody looks at. */
static void check_keys(struct test *t, struct json_object *o,
		       const char *pointer, enum finding_level level,
		       const char *const *known, size_t n)
{
	json_object_object_foreach(o, key, value)
	{
		const char *near;
		char *place;
		size_t i = 0;

		(void)value;
		while (i < n && strcmp(known[i], key) != 0)
			i++;
		if (i < n || t->f->more)
			continue;
		near = near_word(key, known, n);
		place = json_pointer_below(pointer, key);
		findings_add(t->f, level, t->file, place,
			     "unknown key \"%s\"%s%s%s", key,
			     near != NULL ? "; did you mean \"" : "",
			     near != NULL ? near : "",
			     near != NULL ? "\"?" : "");
		findings_of_name(t->f);
		free(place);
	}
}

static void check_status(struct test *t, struct json_object *o)
{
	const char *status = json_object_get_string(o), *near;

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		if (json_object_is_type(o, json_type_string) &&
		    strcmp(statuses[i], status) == 0)
			return;
	near = json_object_is_type(o, json_type_string)
		   ? near_word(status, statuses, ARRAY_LEN(statuses))
		   : NULL;
	findings_add(t->f, FINDING_ERROR, t->file, "/expect/status",
		     "no run ends so: a status is succeeded, partial_success, "
		     "failed, canceled or refused%s%s%s",
		     near != NULL ? "; did you mean " : "",
		     near != NULL ? near : "", near != NULL ? "?" : "");
}

static void check_expect(struct test *t, struct json_object *o)
{
	struct json_object *v;

	if (!json_object_is_type(o, json_type_object)) {
		findings_add(t->f, FINDING_ERROR, t->file, "/expect",
			     "a test has \"expect\", an object of \"status\" "
			     "and \"result\" or \"errorCode\"");
		return;
	}
	check_keys(t, o, "/expect", FINDING_ERROR, expected,
		   ARRAY_LEN(expected));
	if (json_object_object_get_ex(o, "status", &v))
		check_status(t, v);
	if (json_object_object_get_ex(o, "errorCode", &v) &&
	    !json_object_is_type(v, json_type_string))
		findings_add(t->f, FINDING_ERROR, t->file, "/expect/errorCode",
			     "an error's code is a text, such as "
			     "\"INVALID_PARAMETER\"");
}

static void check_test(struct test *t, struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object)) {
		findings_add(t->f, FINDING_ERROR, t->file, "",
			     "a test is an object of \"inputs\" and "
			     "\"expect\"");
		return;
	}
	if (json_member(o, "inputs") == NULL)
		findings_add(t->f, FINDING_ERROR, t->file, "/inputs",
			     "a test has \"inputs\", an object");
	check_expect(t, json_member(o, "expect"));
	check_keys(t, o, "", FINDING_WARNING, members, ARRAY_LEN(members));
}

static void check_text(struct test *t, const char *text, size_t len)
{
	struct json_object *o = NULL;
	struct json_error err;
	size_t line, column;

	if (json_parse(&o, text, len, &err) < 0) {
		text_place(text, err.at < len ? err.at : len, &line, &column);
		findings_add(t->f, FINDING_ERROR, t->file, NULL,
			     "this is not JSON: %s", json_error_reason(&err));
		findings_at(t->f, line, column);
		return;
	}
	check_test(t, o);
	findings_place(t->f, t->file, text, len);
	json_object_put(o);
}

static bool is_test(const char *name)
{
	size_t n = strlen(name), end = strlen(ENDING);

	return strncmp(name, FOLDER, strlen(FOLDER)) == 0 &&
	       strchr(name + strlen(FOLDER), '/') == NULL &&
	       name[strlen(FOLDER)] != '.' && n > end &&
	       strcmp(name + n - end, ENDING) == 0;
}

void package_tests_check(int fd, struct findings *f)
{
	struct folder *all = NULL;
	char why[512], *text;
	size_t len;

	if (folder_list(fd, &all, why, sizeof(why)) < 0)
		return; /* who makes the digest has said so */
	for (size_t i = 0; i < all->n && !f->more; i++) {
		struct test t = {.file = all->names[i], .f = f};

		if (!is_test(t.file))
			continue;
		if (package_read(fd, t.file, &text, &len, why, sizeof(why)) <
		    0) {
			findings_add(f, FINDING_WARNING, NULL, NULL,
				     "%s; it was not checked", why);
			continue;
		}
		check_text(&t, text, len);
		free(text);
	}
	folder_free(all);
}
