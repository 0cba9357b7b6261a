/* SPDX-License-Identifier: Apache-2.0 */
/* tap_json.h - JSON in unit tests: as data of theirs, and as what came. */
#ifndef TESTS_UNIT_TAP_JSON_H
#define TESTS_UNIT_TAP_JSON_H

#include "proto/json/json.h"
#include "tests/unit/tap.h"

static inline struct json_object *parse(const char *text)
{
	struct json_error err;
	struct json_object *o = NULL;

	if (json_parse(&o, text, strlen(text), &err) != 0)
		ok(false, "test data is JSON: %s: %s", text, err.text);
	return o;
}

/* O is taken. */
static inline void is_json(struct json_object *o, const char *want,
			   const char *name)
{
	is_str(o == NULL ? NULL : json_text(o, NULL), want, "%s", name);
	json_object_put(o);
}

#endif
