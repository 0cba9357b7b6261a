/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_param_header.c - finds "x-mcp-header" in a tool's schema when the package
 * is loaded, and compares a call's header fields with its arguments, for the
 * HTTP transport. A schema's fault is told by its JSON pointer.
 */
#include "proto/mcp/mcp_param_header.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text/words.h"
#include "proto/json/json.h"
#include "proto/mcp/mcp_header.h"

#define KEYWORD "x-mcp-header"
#define PREFIX "Mcp-Param-"
#define ARGUMENTS "params.arguments"

/* ---- a header ---- */

/* A place in the schema: a property, or a schema below one. */
struct place {
	const struct place *above; /* the place around; NULL: the root */
	const char *property;	   /* the property's name; NULL: no property */
	bool reached;		   /* reached by properties alone */
	bool secret;
};

/* Is S a token (RFC 9110, 5.6.2)? */
static bool is_token(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == '\0' || strchr("!#$%&'*+-.^_`|~0123456789"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "abcdefghijklmnopqrstuvwxyz",
					   s[i]) == NULL)
			return false;
	return n > 0;
}

static bool is_taken(const struct mcp_param_headers *h, const char *name)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcasecmp(h->list[i].name + strlen(PREFIX), name) == 0)
			return true;
	return false;
}

/*
 * Return the text that names what would pass in place of V, at P in SCHEMA;
 * NULL: V passes.
 */
static const char *property_fault(const struct mcp_param_headers *h,
				  struct json_object *schema,
				  struct json_object *v, const struct place *p)
{
	const char *type = json_member_str(schema, "type");
	size_t n = json_object_is_type(v, json_type_string)
		       ? (size_t)json_object_get_string_len(v)
		       : 0;

	if (!p->reached || p->property == NULL)
		return "only at a property to which nothing but \"properties\" "
		       "leads";
	if (n > MCP_PARAM_HEADER_NAME_MAX ||
	    !is_token(json_object_get_string(v), n))
		return "a name for a header, 1 to 64 characters of A-Z, a-z, "
		       "0-9 and !#$%&'*+-.^_`|~";
	if (type == NULL || !words_have("string integer boolean", type))
		return "only at a property whose type is \"string\", "
		       "\"integer\" or \"boolean\"";
	if (p->secret)
		return "only at a property that is not writeOnly: headers are "
		       "seen on the way";
	if (is_taken(h, json_object_get_string(v)))
		return "a name that no other property has, in whatever case";
	if (h->n == MCP_PARAM_HEADERS_MAX)
		return "at 16 properties at most";
	return NULL;
}

static void add_param_header(struct mcp_param_headers *h, const char *name,
			     const struct place *at)
{
	struct mcp_param_header *p = &h->list[h->n++];
	struct pointer_error path = {0};
	size_t i;

	for (const struct place *q = at; q->above != NULL; q = q->above)
		p->depth++;
	p->names = xcalloc(p->depth, sizeof(*p->names));
	i = p->depth;
	for (const struct place *q = at; q->above != NULL; q = q->above)
		p->names[--i] = xstrdup(q->property);
	for (i = 0; i < p->depth; i++)
		pointer_error_point(&path, p->names[i]);
	p->name = xasprintf(PREFIX "%s", name);
	p->where = xasprintf(ARGUMENTS "%s", path.pointer);
}

/* ---- a schema ---- */

enum holds { HOLDS_ONE, HOLDS_MANY };

/* The keywords whose value has schemas, beside "properties". */
static const struct {
	const char *keyword;
	enum holds holds; /* MANY: the value is an object of schemas; a list
			     always has schemas */
} within[] = {
    {"items", HOLDS_ONE},
    {"prefixItems", HOLDS_ONE},
    {"additionalItems", HOLDS_ONE},
    {"unevaluatedItems", HOLDS_ONE},
    {"contains", HOLDS_ONE},
    {"additionalProperties", HOLDS_ONE},
    {"unevaluatedProperties", HOLDS_ONE},
    {"propertyNames", HOLDS_ONE},
    {"patternProperties", HOLDS_MANY},
    {"dependentSchemas", HOLDS_MANY},
    {"dependencies", HOLDS_MANY},
    {"oneOf", HOLDS_ONE},
    {"anyOf", HOLDS_ONE},
    {"allOf", HOLDS_ONE},
    {"not", HOLDS_ONE},
    {"if", HOLDS_ONE},
    {"then", HOLDS_ONE},
    {"else", HOLDS_ONE},
    {"contentSchema", HOLDS_ONE},
    {"$defs", HOLDS_MANY},
    {"definitions", HOLDS_MANY},
};

static bool walk(struct mcp_param_headers *h, struct json_object *schema,
		 const struct place *at, struct pointer_error *f);

/* Walk the schema at KEY. F points at KEY meanwhile, and after a fault. */
static bool walk_member(struct mcp_param_headers *h, struct json_object *schema,
			const char *key, const struct place *at,
			struct pointer_error *f)
{
	size_t end = strlen(f->pointer);

	pointer_error_point(f, key);
	if (!walk(h, schema, at, f))
		return false;
	f->pointer[end] = '\0';
	return true;
}

static bool walk_properties(struct mcp_param_headers *h,
			    struct json_object *schema, const struct place *at,
			    struct pointer_error *f)
{
	struct json_object *all = json_member(schema, "properties");
	size_t end = strlen(f->pointer);

	if (!json_object_is_type(all, json_type_object))
		return true;
	pointer_error_point(f, "properties");
	json_object_object_foreach(all, key, v) {
		struct place below = {.above = at,
				      .property = key,
				      .reached = at->reached,
				      .secret = at->secret};

		if (!walk_member(h, v, key, &below, f))
			return false;
	}
	f->pointer[end] = '\0';
	return true;
}

static bool walk_within(struct mcp_param_headers *h, struct json_object *v,
			enum holds holds, const struct place *at,
			struct pointer_error *f)
{
	size_t end = strlen(f->pointer);

	for (size_t i = 0; i < json_length(v); i++) {
		pointer_error_index(f, i);
		if (!walk(h, json_object_array_get_idx(v, i), at, f))
			return false;
		f->pointer[end] = '\0';
	}
	if (json_object_is_type(v, json_type_array))
		return true;
	if (holds == HOLDS_ONE || !json_object_is_type(v, json_type_object))
		return walk(h, v, at, f);
	json_object_object_foreach(v, key, inner) {
		if (!walk_member(h, inner, key, at, f))
			return false;
	}
	return true;
}

static bool walk(struct mcp_param_headers *h, struct json_object *schema,
		 const struct place *above, struct pointer_error *f)
{
	struct place at = *above, beside = {.above = above};
	size_t end = strlen(f->pointer);
	struct json_object *v;
	const char *expected;

	if (!json_object_is_type(schema, json_type_object))
		return true;
	at.secret = at.secret || json_member_bool(schema, "writeOnly");
	if (json_object_object_get_ex(schema, KEYWORD, &v)) {
		expected = property_fault(h, schema, v, &at);
		if (expected != NULL)
			return pointer_error_at(f, KEYWORD, expected);
		add_param_header(h, json_object_get_string(v), &at);
	}
	if (!walk_properties(h, schema, &at, f))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(within); i++) {
		v = json_member(schema, within[i].keyword);
		pointer_error_point(f, within[i].keyword);
		if (!walk_within(h, v, within[i].holds, &beside, f))
			return false;
		f->pointer[end] = '\0';
	}
	return true;
}

bool mcp_param_headers_read(struct mcp_param_headers *h,
			    struct json_object *schema, struct pointer_error *f)
{
	static const struct place root = {
	    .above = NULL, .property = NULL, .reached = true, .secret = false};

	*h = (struct mcp_param_headers){0};
	*f = (struct pointer_error){0};
	if (walk(h, schema, &root, f))
		return true;
	mcp_param_headers_fini(h);
	return false;
}

void mcp_param_headers_fini(struct mcp_param_headers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct mcp_param_header *p = &h->list[i];

		for (size_t k = 0; k < p->depth; k++)
			free(p->names[k]);
		free(p->names);
		free(p->name);
		free(p->where);
	}
	*h = (struct mcp_param_headers){0};
}

/* ---- a call ---- */

bool mcp_param_headers_check(const struct mcp_param_headers *h,
			     struct json_object *arguments,
			     mcp_param_lookup *lookup, void *arg, char *errmsg,
			     size_t size)
{
	for (size_t i = 0; i < h->n; i++) {
		const struct mcp_param_header *p = &h->list[i];
		struct mcp_header field = {.name = p->name, .where = p->where};
		struct json_object *v = arguments;

		for (size_t k = 0; k < p->depth; k++)
			v = json_member(v, p->names[k]);
		if (!mcp_header_check(&field, lookup(arg, p->name), v, errmsg,
				      size))
			return false;
	}
	return true;
}
