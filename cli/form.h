/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - one field that somebody is asked for: what its schema says of it in
 * words, and what a line that was typed is by it. Of a template's questions, and
 * of inputs that were not given.
 */
#ifndef CLI_FORM_H
#define CLI_FORM_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct form_field {
	const char *key;	    /* lent, as all of it is */
	struct json_object *root;   /* the schema of the whole */
	struct json_object *schema; /* of this */
	/* what can be chosen: values, or {const, title}; NULL: no choice */
	struct json_object *options;
	struct json_object *names; /* titles of the former, or NULL */
	unsigned types;		   /* INPUT_…, of input_type.h */
	bool several;		   /* of the options */
	bool required, secret;
};

/* Member KEY of an object of ROOT. */
void form_field_init(struct form_field *f, struct json_object *root,
		     const char *key);

size_t form_options(const struct form_field *f);
/* The value of option I, lent, and its title, or NULL. */
struct json_object *form_option(const struct form_field *f, size_t i,
				const char **title);

/* Append what would do: "an integer, 1 to 10". Untrusted words are in it. */
void form_describe(struct buf *out, const struct form_field *f);
/* Append VALUE as it would be typed. */
void form_show_value(struct buf *out, struct json_object *value);

/*
 * LINE as a value that the schema takes, which the caller owns. 0, or -EINVAL and a
 * sentence that says what would do.
 */
int form_take(const struct form_field *f, const char *line,
	      struct json_object **value, char *errmsg, size_t size);
/*
 * The same for what -i takes behind its "=", TEXT: also @FILE and env:NAME, and RAW
 * is JSON as it stands. It becomes INTO's member, unchecked; a list gets all.
 */
int form_put(const struct form_field *f, struct json_object *into, bool raw,
	     const char *text, char *errmsg, size_t size);
/* Is VALUE one? Likewise. What cannot be checked here passes. */
int form_check(const struct form_field *f, struct json_object *value,
	       char *errmsg, size_t size);

#endif
