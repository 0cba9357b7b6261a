/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - a field that the user is asked for, of a template's questions or of
 * missing inputs: a description by its schema, and a typed line as a value.
 */
#ifndef CLI_FORM_H
#define CLI_FORM_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct form_field {
	const char *key;	    /* lent, as all members */
	struct json_object *root;   /* the whole schema */
	struct json_object *schema; /* the field's schema */
	/* the choices: values, or {const, title}; NULL: no choice */
	struct json_object *options;
	struct json_object *names; /* titles for plain options, or NULL */
	unsigned types;		   /* INPUT_ flags of input_type.h */
	bool several;		   /* more than one option may be chosen */
	bool required, secret;
};

/* Set F to the member KEY of an object of schema ROOT. */
void form_field_init(struct form_field *f, struct json_object *root,
		     const char *key);

size_t form_options(const struct form_field *f);
/* Return the value of option I, lent; *TITLE is its title, or NULL. */
struct json_object *form_option(const struct form_field *f, size_t i,
				const char **title);

/*
 * Append a description of valid values: "an integer, 1 to 10". Untrusted words
 * are in it.
 */
void form_describe(struct buf *out, const struct form_field *f);
/* Append VALUE as a user would type it. */
void form_show_value(struct buf *out, struct json_object *value);

/*
 * Convert LINE to a valid value of the field, which the caller owns. 0, or
 * -EINVAL and a sentence with what would be valid.
 */
int form_take(const struct form_field *f, const char *line,
	      struct json_object **value, char *errmsg, size_t size);
/*
 * Convert TEXT, as -i takes it after "=": also @FILE and env:NAME; RAW: TEXT is
 * JSON. The value becomes INTO's member, unchecked; values of a list are added
 * to earlier ones. 0, or -EINVAL and a sentence.
 */
int form_put(const struct form_field *f, struct json_object *into, bool raw,
	     const char *text, char *errmsg, size_t size);
/*
 * Is VALUE valid for the field? 0, or -EINVAL and a sentence. A schema that
 * cannot be checked here passes.
 */
int form_check(const struct form_field *f, struct json_object *value,
	       char *errmsg, size_t size);

#endif
