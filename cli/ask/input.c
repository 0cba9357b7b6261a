/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - turns "-i key=value" into a run's inputs, typed by the template's
 * schema; run.c calls it for each -i. A word that does not fit is -EINVAL with
 * a sentence on the key and the valid values.
 */
#include "cli/ask/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/suggest.h"
#include "base/text/utf8.h"
#include "base/text/errmsg.h"
#include "cli/ask/input_type.h"
#include "cli/terminal/json_io.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_pointer.h"

#define NAMED_MAX 8 /* inputs, in a message */
#define ENVIRONMENT "env:"
#define ARTIFACT "$artifact"

/* A value to put, with its place. */
struct put {
	struct json_object *root;   /* the whole schema, for its $refs */
	struct json_object *schema; /* of the object INTO */
	struct json_object *into;
	const char *key;
	char *errmsg;
	size_t size;
};

/* ---- values ---- */

static int no_json(const struct put *p, const char *text,
		   struct json_error *err)
{
	json_error_place(err, text);
	return errmsg_set(p->errmsg, p->size, "%s is not JSON: %s", p->key,
			  err->text);
}

/* Does TEXT look like a list or an object? Then its JSON error is told. */
static bool looks_json(const char *text)
{
	text += strspn(text, " \t\r\n");
	return *text == '[' || *text == '{';
}

/* Refuse TEXT, of none of the TYPES. ERR has a text if TEXT is not JSON. */
static int no_type(const struct put *p, unsigned types, const char *text,
		   struct json_error *err)
{
	char names[INPUT_TYPES_SIZE];
	bool broken = err->text[0] != '\0' && looks_json(text);

	input_type_names(names, types);
	if (broken)
		json_error_place(err, text);
	return errmsg_set(p->errmsg, p->size, "%s has to be %s%s%s", p->key,
			  names, broken ? ", and this is not JSON: " : "",
			  broken ? err->text : "");
}

/* Convert TEXT into *OUT: JSON if SCHEMA allows it, else a string. */
static int typed(const struct put *p, struct json_object **out,
		 struct json_object *schema, const char *text, size_t len)
{
	unsigned types = input_types(p->root, schema);
	struct json_object *v = NULL;
	struct json_error err;
	bool json = false;

	if (types != INPUT_STRING) {
		json = json_parse(&v, text, len, &err) == 0;
		if (json && types != 0 && (types & input_type_of(v)) == 0) {
			json_object_put(v);
			json = false;
			err.text[0] = '\0';
		}
	}
	if (json) {
		*out = v;
		return 0;
	}
	if (types != 0 && (types & INPUT_STRING) == 0)
		return no_type(p, types, text, &err);
	if (!utf8_ok(text, len))
		return errmsg_set(p->errmsg, p->size, "%s is not UTF-8 text",
				  p->key);
	*out = json_object_new_string_len(text, (int)len);
	return 0;
}

static int set_input(const struct put *p, struct json_object *v)
{
	json_object_object_add(p->into, p->key, v);
	return 0;
}

/* Refuse TEXT: neither a list of SCHEMA's elements nor an element. */
static int no_element(const struct put *p, struct json_object *schema,
		      const char *text)
{
	char names[INPUT_TYPES_SIZE];
	struct json_error err;
	struct json_object *v = NULL;

	input_type_names(names,
			 input_types(p->root, input_items(p->root, schema)));
	if (!looks_json(text) ||
	    json_parse(&v, text, strlen(text), &err) == 0) {
		json_object_put(v);
		return errmsg_set(p->errmsg, p->size,
				  "%s is a list, and each element has to be "
				  "%s: write %s=ELEMENT once for each, or all "
				  "of it as a JSON array",
				  p->key, names, p->key);
	}
	return no_json(p, text, &err);
}

/* Put TEXT into a list: a JSON array is the whole list, else an element. */
static int put_element(const struct put *p, struct json_object *schema,
		       const char *text, size_t len)
{
	struct json_object *v = NULL, *list = json_member(p->into, p->key);
	int rc;

	if (json_parse(&v, text, len, NULL) == 0 &&
	    json_object_is_type(v, json_type_array))
		return set_input(p, v);
	json_object_put(v);
	rc = typed(p, &v, input_items(p->root, schema), text, len);
	if (rc < 0)
		return utf8_ok(text, len) ? no_element(p, schema, text) : rc;
	if (!json_object_is_type(list, json_type_array)) {
		list = json_object_new_array();
		set_input(p, list);
	}
	return json_object_array_add(list, v);
}

/* ---- files as inputs ---- */

/* Does SCHEMA have a form with "$artifact"? */
static bool takes_files(struct json_object *root, struct json_object *schema)
{
	json_each(form, json_member(input_resolve(root, schema), "anyOf"))
		if (json_member(json_member(form, "properties"), ARTIFACT) !=
		    NULL)
			return true;
	return false;
}

const char *input_upload(struct json_object *v)
{
	/* only upload_later() sets userdata on an object of inputs */
	return json_object_is_type(v, json_type_object)
		   ? json_object_get_userdata(v)
		   : NULL;
}

static void forget_path(struct json_object *v, void *path)
{
	(void)v;
	free(path);
}

static struct json_object *upload_later(const char *path)
{
	struct json_object *v = json_object_new_object();

	json_object_set_userdata(v, xstrdup(path), forget_path);
	return v;
}

/* Is V one of the JSON forms of a file? Other text is a file's content. */
static bool is_form(struct json_object *v)
{
	return json_member(v, ARTIFACT) != NULL ||
	       json_object_is_type(json_member(v, "text"), json_type_string) ||
	       json_object_is_type(json_member(v, "base64"), json_type_string);
}

/* Return the file input for WORD, whose value is LEN bytes at TEXT. */
static struct json_object *as_file(const char *word, const char *text,
				   size_t len)
{
	bool of_file = word[0] == '@';
	const char *slash = strrchr(word, '/');
	struct json_object *v = NULL;
	char *base64;

	if (!of_file && json_parse(&v, text, len, NULL) == 0 && is_form(v))
		return v;
	json_object_put(v);
	if (!of_file)
		return json_object_new_string_len(text, (int)len);
	if (utf8_ok(text, len)) {
		v = json_pack("text:S", text, len);
	} else {
		base64 = xcalloc(BASE64_LEN(len) + 1, 1);
		base64_encode(base64, text, len);
		v = json_pack("base64:s", base64);
		free(base64);
	}
	if (strcmp(word, "@-") != 0)
		json_add(v, "name:s", slash != NULL ? slash + 1 : word + 1);
	return v;
}

static int put_text_input(const struct put *p, struct json_object *schema,
			  const char *text, size_t len)
{
	struct json_object *v = NULL;
	int rc;

	if (input_types(p->root, schema) == INPUT_ARRAY)
		return put_element(p, schema, text, len);
	rc = typed(p, &v, schema, text, len);
	return rc < 0 ? rc : set_input(p, v);
}

/* A value, read from its source. */
struct given {
	const char *text; /* LEN bytes */
	size_t len;
	char *owned; /* or NULL */
};

/* Take the file at PATH ("-": stdin). */
static int from_file(const struct put *p, struct given *g, const char *path)
{
	struct buf b = {0};
	int rc = file_read(&b, path);

	if (rc == 0) {
		g->text = g->owned = buf_take(&b, &g->len);
		return 0;
	}
	errmsg_set(p->errmsg, p->size, "%s: %s",
		   strcmp(path, "-") == 0 ? "stdin" : path,
		   rc == -EFBIG ? "it is too large to be sent with the call; "
				  "@@ instead of @ uploads it first"
				: strerror(-rc));
	buf_fini(&b);
	return -EINVAL;
}

/* Read the WORD after "=": a file's name, a variable's, or the value. */
static int take_given(const struct put *p, struct given *g, const char *word)
{
	const char *at = word + strlen(ENVIRONMENT);

	if (word[0] == '@' && word[1] != '@')
		return from_file(p, g, word + 1);
	if (strncmp(word, ENVIRONMENT, strlen(ENVIRONMENT)) == 0 &&
	    *at != ':') {
		/* no message has the variable's value */
		g->text = getenv(at);
		if (g->text == NULL)
			return errmsg_set(
			    p->errmsg, p->size,
			    "%s: the environment has no variable \"%s\"; set it, or "
			    "write %s=env::%s for the text env:%s",
			    p->key, at, p->key, at, at);
		g->len = strlen(g->text);
		return 0;
	}
	if (word[0] == '@')
		word++;
	else if (strncmp(word, ENVIRONMENT ":", strlen(ENVIRONMENT ":")) == 0)
		word = g->owned = xasprintf(ENVIRONMENT "%s", at + 1);
	g->text = word;
	g->len = strlen(word);
	return 0;
}

/* Put the file V, as a further ELEMENT of a list if so. */
static int put_file_input(const struct put *p, bool element,
			  struct json_object *v)
{
	struct json_object *list = json_member(p->into, p->key);

	if (!element)
		return set_input(p, v);
	if (!json_object_is_type(list, json_type_array)) {
		list = json_object_new_array();
		set_input(p, list);
	}
	return json_object_array_add(list, v);
}

static int put_text(const struct put *p, struct json_object *schema, bool raw,
		    const char *word)
{
	struct json_object *items = input_items(p->root, schema);
	bool element = !raw && takes_files(p->root, items);
	bool file = element || (!raw && takes_files(p->root, schema));
	struct given g = {0};
	struct json_object *v;
	struct json_error err;
	int rc;

	if (file && word[0] == '@' && word[1] == '@')
		return put_file_input(p, element, upload_later(word + 2));
	rc = take_given(p, &g, word);
	if (rc == 0 && file && !(element && looks_json(g.text)))
		rc = put_file_input(p, element, as_file(word, g.text, g.len));
	else if (rc == 0 && raw)
		rc = json_parse(&v, g.text, g.len, &err) < 0
			 ? no_json(p, g.text, &err)
			 : set_input(p, v);
	else if (rc == 0)
		rc = put_text_input(p, schema, g.text, g.len);
	free(g.owned);
	return rc;
}

/* ---- keys ---- */

/* Write to B that there is no such input, and some names of KNOWN. */
static const char *no_input(const struct put *p, struct json_object *known,
			    struct buf *b)
{
	size_t named = 0;

	buf_printf(b, "this template takes no input \"%s\"; it takes ", p->key);
	if (json_object_is_type(known, json_type_object)) {
		json_object_object_foreach(known, name, schema) {
			(void)schema;
			if (named++ < NAMED_MAX)
				buf_printf(b, "%s\"%s\"", named > 1 ? ", " : "",
					   name);
		}
	}
	if (named > NAMED_MAX)
		buf_printf(b, " and %zu more", named - NAMED_MAX);
	buf_add_str(b, named == 0 ? "none at all" : "");
	buf_add(b, "", 1);
	return buf_data(b);
}

static int unknown_key(const struct put *p)
{
	struct json_object *known = json_member(p->schema, "properties");
	struct buf b = {0};
	struct suggest suggest;
	int rc;

	suggest_init(&suggest, p->key);
	if (json_object_is_type(known, json_type_object)) {
		json_object_object_foreach(known, name, schema) {
			(void)schema;
			suggest_try(&suggest, name);
		}
	}
	if (suggest.best != NULL)
		return errmsg_set(
		    p->errmsg, p->size,
		    "this template takes no input \"%s\"; did you "
		    "mean \"%s\"?",
		    p->key, suggest.best);
	rc = errmsg_set(p->errmsg, p->size, "%s", no_input(p, known, &b));
	buf_fini(&b);
	return rc;
}

/* For "a.b" with an object a, return "a", the caller's, and its SCHEMA. */
static char *head_of(const struct put *p, struct json_object **schema)
{
	const char *dot = strchr(p->key, '.');
	struct json_object *sub;
	char *head;

	if (dot == NULL || dot[1] == '\0')
		return NULL;
	head = xstrndup(p->key, (size_t)(dot - p->key));
	sub = input_property(p->root, p->schema, head, NULL);
	*schema = input_resolve(p->root, sub);
	if ((input_types(p->root, sub) & INPUT_OBJECT) != 0)
		return head;
	free(head);
	return NULL;
}

/* Step into that object: make IN put "b" into "a". HEAD is the caller's. */
static bool step_into(const struct put *p, struct put *in, char **head)
{
	struct json_object *schema;

	*head = head_of(p, &schema);
	if (*head == NULL)
		return false;
	*in = *p;
	in->key = p->key + strlen(*head) + 1;
	in->schema = schema;
	in->into = json_member(p->into, *head);
	if (!json_object_is_type(in->into, json_type_object)) {
		in->into = json_object_new_object();
		json_object_object_add(p->into, *head, in->into);
	}
	return true;
}

static int put_at(const struct put *p, bool raw, const char *value)
{
	bool closed = false;
	struct json_object *leaf =
	    input_property(p->root, p->schema, p->key, &closed);
	struct put in;
	char *head;
	int rc;

	if (leaf == NULL && step_into(p, &in, &head)) {
		rc = put_at(&in, raw, value);
		free(head);
		return rc;
	}
	if (leaf == NULL && closed)
		return unknown_key(p);
	return put_text(p, leaf, raw, value);
}

/* Return the key of WORD, the caller's. EQUALS points to the "=" in WORD. */
static char *input_key(const char *word, const char *equals)
{
	bool raw = equals > word && equals[-1] == ':';

	return xstrndup(word, (size_t)(equals - word) - (raw ? 1 : 0));
}

char *input_member(struct json_object *schema, const char *word)
{
	const char *equals = strchr(word, '=');
	struct put p = {.root = schema,
			.schema = input_resolve(schema, schema)};
	struct buf pointer = {0};
	char *key, *head;

	if (equals == NULL)
		return NULL;
	p.key = key = input_key(word, equals);
	while (input_property(p.root, p.schema, p.key, NULL) == NULL &&
	       (head = head_of(&p, &p.schema)) != NULL) {
		json_pointer_push(&pointer, head);
		p.key += strlen(head) + 1;
		free(head);
	}
	if (buf_len(&pointer) > 0)
		json_pointer_push(&pointer, p.key);
	free(key);
	if (buf_len(&pointer) == 0)
		return NULL;
	buf_add(&pointer, "", 1);
	return buf_take(&pointer, NULL);
}

int input_put(struct json_object *inputs, struct json_object *schema,
	      const char *word, char *errmsg, size_t size)
{
	const char *equals = strchr(word, '=');
	bool raw = equals != NULL && equals > word && equals[-1] == ':';
	struct put p = {.root = schema,
			.schema = input_resolve(schema, schema),
			.into = inputs,
			.errmsg = errmsg,
			.size = size};
	char *key;
	int rc;

	if (equals == NULL || equals == word || (raw && equals == word + 1))
		return errmsg_set(
		    errmsg, size,
		    "-i %s: write key=value, key=@FILE, key=env:NAME or "
		    "key:=JSON",
		    word);
	p.key = key = input_key(word, equals);
	rc = put_at(&p, raw, equals + 1);
	free(key);
	return rc;
}

void input_merge(struct json_object *into, struct json_object *from)
{
	json_object_object_foreach(from, key, value) {
		struct json_object *old = json_member(into, key);

		if (json_object_is_type(old, json_type_object) &&
		    json_object_is_type(value, json_type_object) &&
		    input_upload(value) == NULL)
			input_merge(old, value);
		else
			json_object_object_add(into, key,
					       json_object_get(value));
	}
}
