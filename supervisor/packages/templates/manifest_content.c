/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_content.c - checks resources and prompts beyond the manifest's
 * schema, for manifest.c: URIs, repeated names, placeholders, data, questions.
 * -EINVAL with every error and its JSON Pointer in the diagnostics.
 */
#include "supervisor/packages/templates/manifest_content.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/base64.h"
#include "base/text/words.h"
#include "base/mem.h"
#include "base/os/nofollow.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"
#include "proto/mcp/elicit_form.h"
#include "proto/schema/schema.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/package/placeholder.h"
#include "supervisor/packages/templates/manifest_shape.h"

#define OWN_SCHEME "paddock:"

/* The place being checked, and its diagnostics. */
struct look {
	struct diagnostics *f;
	char at[128];	 /* JSON Pointer: "/prompts/0/messages/1/content" */
	char there[512]; /* AT with a suffix, by pointer_below() */
	struct json_object *args; /* arguments of the prompt; NULL: none */
	/* members: the names for placeholders; owned by the checker */
	struct json_object *names;
};

/* Return AT with a suffix, such as "/file", until the next call. */
static const char *pointer_below(struct look *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static const char *pointer_below(struct look *l, const char *fmt, ...)
{
	size_t n = (size_t)snprintf(l->there, sizeof(l->there), "%s", l->at);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->there + n, sizeof(l->there) - n, fmt, ap);
	va_end(ap);
	return l->there;
}

#define fail(l, where, ...)                                                    \
	diagnostics_add((l)->f, DIAGNOSTIC_ERROR, MANIFEST_FILE, where,        \
			__VA_ARGS__)

/* Has O exactly one of members A and B? */
static bool one_of(struct json_object *o, const char *a, const char *b)
{
	return (json_member(o, a) != NULL) != (json_member(o, b) != NULL);
}

static int check_file(struct look *l, struct json_object *o)
{
	const char *file = json_member_str(o, "file");

	if (file == NULL || nofollow_is_plain(file))
		return 0;
	return fail(l, pointer_below(l, "/file"),
		    "\"%s\" is not the plain relative path of a file in the "
		    "package",
		    file);
}

/* Does an element of LIST before the Ith have the same member KEY? */
static bool repeats(struct json_object *list, size_t i, const char *key)
{
	const char *mine =
	    json_member_str(json_object_array_get_idx(list, i), key);

	for (size_t j = 0; mine != NULL && j < i; j++) {
		const char *other =
		    json_member_str(json_object_array_get_idx(list, j), key);

		if (other != NULL && strcmp(mine, other) == 0)
			return true;
	}
	return false;
}

/* ---- questions asked before ---- */

static int add_placeholder_name(struct look *l, const char *name, size_t len)
{
	char *key = xstrndup(name, len);
	bool again = json_object_object_get_ex(l->names, key, NULL);

	json_object_object_add(l->names, key, NULL);
	free(key);
	return again ? -EEXIST : 0;
}

static int check_form(struct look *l, const char *key, struct json_object *form)
{
	/* as input_request.c checks for each client asked */
	struct schema_budget budget = {.allowed = SCHEMA_STEPS_INLINE};
	const struct schema_options opt = {.assert_formats = true,
					   .budget = &budget};
	struct schema *schema = NULL;
	struct schema_error err = {0};
	struct pointer_error f;

	if (!elicit_form_check(form, &f))
		return fail(l,
			    pointer_below(l, "/asks/%s/requestedSchema%s", key,
					  f.pointer),
			    "this has to be %s", f.expected);
	if (schema_compile(&schema, form, &opt, &err) < 0)
		return manifest_shape_fail(
		    l->f, pointer_below(l, "/asks/%s/requestedSchema", key),
		    &err);
	schema_free(schema);
	return 0;
}

/* Check the question KEY; its properties become names, used once each. */
static int check_ask(struct look *l, const char *key, struct json_object *ask)
{
	struct json_object *form = json_member(ask, "requestedSchema");
	char *place;

	if (!question_key_ok(key, strlen(key))) {
		place = json_pointer_below(pointer_below(l, "/asks"), key);
		fail(l, place,
		     "a question's name has to be " QUESTION_KEY_RULE);
		free(place);
		return -EINVAL;
	}
	if (check_form(l, key, form) < 0)
		return -EINVAL;
	json_object_object_foreach(json_member(form, "properties"), name, p) {
		char *whole = xasprintf("%s.%s", key, name);
		int rc = add_placeholder_name(l, whole, strlen(whole));

		(void)p;
		if (rc < 0)
			rc = fail(l, pointer_below(l, "/asks/%s", key),
				  "\"%s\" is the name of something else that "
				  "is filled in",
				  whole);
		free(whole);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_asks(struct look *l, struct json_object *o)
{
	int rc = 0;

	if (json_member(o, "asks") == NULL)
		return 0;
	json_object_object_foreach(json_member(o, "asks"), key, ask)
		if (check_ask(l, key, ask) < 0)
			rc = -EINVAL;
	return rc;
}

/* ---- resources ---- */

/* Is TEXT a URI by RFC 3986? ALSO: further characters allowed. */
static bool is_content_uri(const char *text, const char *also)
{
	size_t n = strcspn(text, ":");

	if (!isalpha((unsigned char)text[0]) || text[n] == '\0' ||
	    text[n + 1] == '\0')
		return false;
	for (size_t i = 0; text[i] != '\0'; i++) {
		if (i < n && !isalnum((unsigned char)text[i]) &&
		    strchr("+-.", text[i]) == NULL)
			return false;
		if (!isgraph((unsigned char)text[i]) ||
		    (strchr("\"<>\\^`{|}", text[i]) != NULL &&
		     strchr(also, text[i]) == NULL))
			return false;
	}
	return true;
}

static int check_uri(struct look *l, const char *key, const char *uri,
		     const char *also)
{
	if (!is_content_uri(uri, also))
		return fail(l, pointer_below(l, "/%s", key),
			    "\"%s\" is not an absolute URI such as "
			    "notes://today",
			    uri);
	if (strncasecmp(uri, OWN_SCHEME, strlen(OWN_SCHEME)) == 0)
		return fail(l, pointer_below(l, "/%s", key),
			    "\"%s\" begins with " OWN_SCHEME
			    ", which is paddock's own; choose another scheme",
			    uri);
	return 0;
}

/* Does NAME begin like an answer to one of ASKS ("key.")? */
static bool means_answer(struct json_object *asks, const char *name)
{
	json_object_object_foreach(asks, key, ask) {
		size_t n = strlen(key);

		(void)ask;
		if (strncmp(name, key, n) == 0 && name[n] == '.')
			return true;
	}
	return false;
}

/* Check the names of answers in the text; other braces are plain text. */
static int check_answers(struct look *l, struct json_object *o)
{
	const char *text = json_member_str(o, "text");
	struct json_object *asks = json_member(o, "asks");
	struct placeholder_part p;

	while (placeholder_next(&p, PLACEHOLDER_ANSWERS, &text)) {
		char name[PLACEHOLDER_NAME_MAX + 1];

		if (!p.is_name)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)p.len, p.text);
		if (!json_object_object_get_ex(l->names, name, NULL) &&
		    means_answer(asks, name))
			return fail(l, pointer_below(l, "/text"),
				    "{%s} is no property of what is asked",
				    name);
	}
	return 0;
}

static int check_asking(struct look *l, struct json_object *o)
{
	const char *pattern = json_member_str(o, "uriTemplate");
	struct placeholder_part p;
	int rc = 0;

	if (json_member(o, "asks") == NULL)
		return 0;
	if (json_member(o, "text") == NULL)
		return fail(l, pointer_below(l, "/asks"),
			    "a resource that asks has \"text\", which the "
			    "answers are filled into");
	l->names = json_object_new_object();
	while (pattern != NULL &&
	       placeholder_next(&p, PLACEHOLDER_URI, &pattern))
		if (p.is_name)
			(void)add_placeholder_name(l, p.text, p.len);
	rc = check_asks(l, o);
	if (rc == 0)
		rc = check_answers(l, o);
	json_object_put(l->names);
	return rc;
}

static int check_resource(struct look *l, struct json_object *o)
{
	const char *uri = json_member_str(o, "uri");
	const char *pattern = json_member_str(o, "uriTemplate");
	const char *fault;

	if (!one_of(o, "uri", "uriTemplate"))
		return fail(l, l->at,
			    "a resource has either \"uri\" or "
			    "\"uriTemplate\"");
	if (!one_of(o, "file", "text"))
		return fail(l, l->at,
			    "a resource has either \"file\" or \"text\"");
	if (uri != NULL && check_uri(l, "uri", uri, "") < 0)
		return -EINVAL;
	if (pattern != NULL && check_uri(l, "uriTemplate", pattern, "{}") < 0)
		return -EINVAL;
	fault = pattern != NULL ? placeholder_uri_fault(pattern) : NULL;
	if (fault != NULL)
		return fail(l, pointer_below(l, "/uriTemplate"), "\"%s\" %s",
			    pattern, fault);
	if (check_asking(l, o) < 0)
		return -EINVAL;
	return check_file(l, o);
}

/* ---- prompts ---- */

static bool is_argument(struct json_object *args, const char *name, size_t len)
{
	json_each(one, args) {
		const char *known = json_member_str(one, "name");

		if (strlen(known) == len && memcmp(known, name, len) == 0)
			return true;
	}
	return false;
}

/* Members in which an argument or answer replaces {{name}}. */
static const char *const filled[] = {"text", "uri", "name", "title",
				     "description"};

static int check_filled(struct look *l, struct json_object *o)
{
	for (size_t i = 0; i < ARRAY_LEN(filled); i++) {
		const char *text = json_member_str(o, filled[i]);
		char key[PLACEHOLDER_NAME_MAX + 1];
		struct placeholder_part p;

		while (text != NULL &&
		       placeholder_next(&p, PLACEHOLDER_PROMPT, &text)) {
			snprintf(key, sizeof(key), "%.*s", (int)p.len, p.text);
			if (p.is_name &&
			    !json_object_object_get_ex(l->names, key, NULL))
				return fail(l,
					    pointer_below(l, "/%s", filled[i]),
					    "{{%.*s}} is none of the prompt's "
					    "arguments, nor a property of what "
					    "it asks",
					    (int)p.len, p.text);
		}
	}
	return 0;
}

/* The members of each kind of content, beside its type. */
static const struct kind {
	const char *type;
	const char *needs[2];
	const char *either[2]; /* two members, of which exactly one is there */
	const char *also[3];
} kinds[] = {
    {"text", {"text"}, {0}, {0}},
    {"image", {"mimeType"}, {"data", "file"}, {0}},
    {"audio", {"mimeType"}, {"data", "file"}, {0}},
    {"resource", {"resource"}, {0}, {0}},
    {"resource_link",
     {"uri", "name"},
     {0},
     {"title", "description", "mimeType"}},
};

static bool is_among(const char *key, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n && list[i] != NULL; i++)
		if (strcmp(key, list[i]) == 0)
			return true;
	return false;
}

static int check_members(struct look *l, const struct kind *k,
			 struct json_object *o)
{
	for (size_t i = 0; i < 2 && k->needs[i] != NULL; i++)
		if (json_member(o, k->needs[i]) == NULL)
			return fail(l, l->at, "content of type %s has \"%s\"",
				    k->type, k->needs[i]);
	if (k->either[0] != NULL && !one_of(o, k->either[0], k->either[1]))
		return fail(l, l->at,
			    "content of type %s has either \"%s\" or "
			    "\"%s\"",
			    k->type, k->either[0], k->either[1]);
	json_object_object_foreach(o, key, value) {
		(void)value;
		if (strcmp(key, "type") != 0 && !is_among(key, k->needs, 2) &&
		    !is_among(key, k->either, 2) && !is_among(key, k->also, 3))
			return fail(l, pointer_below(l, "/%s", key),
				    "content of type %s has no such key",
				    k->type);
	}
	return 0;
}

static int check_data(struct look *l, struct json_object *o)
{
	const char *data = json_member_str(o, "data");
	size_t n = data != NULL ? strlen(data) : 0, len;
	char *bytes;
	int rc;

	if (data == NULL)
		return 0;
	bytes = xcalloc(1, n / 4 * 3 + 3);
	rc = base64_decode(bytes, &len, data, n);
	free(bytes);
	return rc < 0 ? fail(l, pointer_below(l, "/data"),
			     "the data is not base64 (RFC 4648, section 4)")
		      : 0;
}

static int check_content(struct look *l, struct json_object *o)
{
	const char *type = json_member_str(o, "type");
	struct json_object *inner = json_member(o, "resource");
	size_t i = 0;

	while (strcmp(kinds[i].type, type) != 0)
		i++; /* the schema allows no other type */
	if (check_members(l, &kinds[i], o) < 0 || check_filled(l, o) < 0 ||
	    check_data(l, o) < 0 || check_file(l, o) < 0)
		return -EINVAL;
	if (inner == NULL)
		return 0;
	strncat(l->at, "/resource", sizeof(l->at) - strlen(l->at) - 1);
	if (!one_of(inner, "text", "file"))
		return fail(l, l->at,
			    "a resource has either \"file\" or "
			    "\"text\"");
	if (check_filled(l, inner) < 0 || check_file(l, inner) < 0)
		return -EINVAL;
	return 0;
}

static int check_arguments(struct look *l, struct json_object *o)
{
	struct json_object *complete = json_member(o, "complete");

	for (size_t i = 0; i < json_length(l->args); i++) {
		const char *name = json_member_str(
		    json_object_array_get_idx(l->args, i), "name");

		if (add_placeholder_name(l, name, strlen(name)) < 0)
			return fail(l, pointer_below(l, "/arguments/%zu", i),
				    "an earlier one has the same name");
	}
	if (complete == NULL)
		return 0;
	json_object_object_foreach(complete, key, values) {
		char *place;

		(void)values;
		if (is_argument(l->args, key, strlen(key)))
			continue;
		place = json_pointer_below(pointer_below(l, "/complete"), key);
		fail(l, place, "\"%s\" is none of the prompt's arguments", key);
		free(place);
		return -EINVAL;
	}
	return 0;
}

static int check_prompt(struct look *l, struct json_object *o, size_t i)
{
	struct json_object *messages = json_member(o, "messages");
	int rc;

	l->args = json_member(o, "arguments");
	l->names = json_object_new_object();
	rc = check_arguments(l, o);
	if (check_asks(l, o) < 0)
		rc = -EINVAL;
	for (size_t j = 0; j < json_length(messages) && !l->f->more; j++) {
		struct json_object *m = json_object_array_get_idx(messages, j);

		snprintf(l->at, sizeof(l->at),
			 "/prompts/%zu/messages/%zu/content", i, j);
		if (check_content(l, json_member(m, "content")) < 0)
			rc = -EINVAL;
	}
	json_object_put(l->names);
	return rc;
}

int manifest_content_resources(struct template *t, struct json_object *manifest,
			       struct diagnostics *f)
{
	struct json_object *list = json_member(manifest, "resources");
	struct look l = {.f = f};
	int rc = 0;

	(void)t;
	for (size_t i = 0; i < json_length(list) && !f->more; i++) {
		snprintf(l.at, sizeof(l.at), "/resources/%zu", i);
		if (check_resource(&l, json_object_array_get_idx(list, i)) < 0)
			rc = -EINVAL;
		if (repeats(list, i, "uri") || repeats(list, i, "uriTemplate"))
			rc = fail(&l, l.at, "an earlier one has the same URI");
	}
	return rc;
}

int manifest_content_prompts(struct template *t, struct json_object *manifest,
			     struct diagnostics *f)
{
	struct json_object *list = json_member(manifest, "prompts");
	struct look l = {.f = f};
	int rc = 0;

	(void)t;
	for (size_t i = 0; i < json_length(list) && !f->more; i++) {
		snprintf(l.at, sizeof(l.at), "/prompts/%zu", i);
		if (repeats(list, i, "name"))
			rc = fail(&l, l.at, "an earlier one has the same name");
		if (check_prompt(&l, json_object_array_get_idx(list, i), i) < 0)
			rc = -EINVAL;
	}
	return rc;
}
