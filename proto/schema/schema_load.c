/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_load.c - walks a document once and makes a node of each subschema,
 * with its $id, anchors and dialect; schema_compile.c begins with it,
 * schema_refs.c calls it for other documents. A wrong shape, a name used twice
 * or too much of anything is -EINVAL by schema_bad().
 */
#include "proto/schema/schema_compiler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void schema_put_place(struct schema_text *t, const struct schema_node *n)
{
	if (n == NULL || n->keyword == NULL)
		return;
	schema_put_place(t, n->up); /* no deeper than SCHEMA_DEPTH_MAX */
	if (n->index == NODE_RAW) {
		schema_putf(t, "/%s", n->keyword);
		return;
	}
	schema_put_token(t, n->keyword);
	if (n->member != NULL)
		schema_put_token(t, n->member);
	else if (n->index >= 0)
		schema_putf(t, "/%d", n->index);
}

int schema_bad(struct schema_compiler *c, const struct schema_node *n,
	       const char *keyword, const char *expected, const char *fmt, ...)
{
	struct schema_error *e = c->err;
	struct schema_text t;
	va_list ap;

	if (e == NULL)
		return -EINVAL;
	schema_text_init(&t, e->pointer, sizeof(e->pointer));
	schema_put_place(&t, n);
	if (keyword[0] != '\0')
		schema_put_token(&t, keyword);
	schema_text_init(&t, e->keyword, sizeof(e->keyword));
	schema_put(&t, keyword);
	schema_text_init(&t, e->expected, sizeof(e->expected));
	schema_put(&t, expected);
	schema_text_init(&t, e->text, sizeof(e->text));
	schema_putf(&t,
		    "%s: ", e->pointer[0] != '\0' ? e->pointer : "the schema");
	va_start(ap, fmt);
	schema_putv(&t, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int schema_spend(struct schema_compiler *c, const struct schema_node *n,
		 const char *keyword, uint64_t steps)
{
	if (schema_step(c->meter, steps))
		return 0;
	return schema_bad(c, n, keyword, "a schema that is compiled sooner",
			  c->meter->rc == -ETIME
			      ? "takes longer to compile than there is time for"
			      : "takes more than %llu steps to compile",
			  (unsigned long long)c->opt.budget->allowed);
}

static const char *string_member(const struct schema_node *n, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(n->json, key, &v) ||
	    json_object_get_type(v) != json_type_string)
		return NULL;
	return json_object_get_string(v);
}

/* Find the vocabularies for N, also where no resource begins. */
static int load_dialect(struct schema_compiler *c, struct schema_node *n,
			bool resource, unsigned *vocabs)
{
	const char *uri = string_member(n, "$schema");
	int rc;

	*vocabs = n->home->vocabs;
	if (uri == NULL)
		return 0;
	rc = schema_dialect_of(c, n, uri, vocabs);
	if (rc == 0 && !resource && *vocabs != n->home->vocabs)
		return schema_bad(c, n, "$schema", "no other dialect",
				  "the dialect %s begins here, which only a "
				  "schema with its own $id can do",
				  uri);
	return rc;
}

static struct schema_resource *resource_new(struct schema_compiler *c,
					    const char *uri,
					    struct schema_node *root,
					    unsigned vocabs)
{
	struct schema_resource *r = schema_alloc(c->s, 1, sizeof(*r));

	r->uri = schema_strdup(c->s, uri);
	r->root = root;
	r->vocabs = vocabs;
	return r;
}

static int load_id(struct schema_compiler *c, struct schema_node *n,
		   const char *id, unsigned vocabs)
{
	char *uri = schema_uri_resolve(n->home->uri, id);
	const struct schema_resource *taken = schema_registered(c, uri);
	struct schema_resource *r;
	int rc = 0;

	if (n->up == NULL) { /* a second URI of the document's root */
		r = (struct schema_resource *)n->home;
		r->uri = schema_strdup(c->s, uri);
		if (taken == NULL)
			schema_register(c, r->uri, r);
	} else if (taken != NULL) {
		rc =
		    schema_bad(c, n, "$id", "an $id of its own",
			       "the $id %s is that of another schema too", uri);
	} else if (HASH_COUNT(c->by_uri) >= SCHEMA_RESOURCES_MAX) {
		rc = schema_bad(c, n, "$id", "fewer schemas with an $id",
				"more than %d schemas have an $id",
				SCHEMA_RESOURCES_MAX);
	} else {
		r = resource_new(c, uri, n, vocabs);
		n->home = r;
		schema_register(c, r->uri, r);
	}
	free(uri);
	return rc;
}

static int add_anchor(struct schema_compiler *c, struct schema_node *n,
		      const char *keyword, const char *name, bool dynamic)
{
	/* resources are written to only while loading */
	struct schema_resource *home = (struct schema_resource *)n->home;
	struct schema_anchor *a;
	size_t others = 0;

	for (a = home->anchors; a != NULL; a = a->next) {
		if (others++ == SCHEMA_ANCHORS_MAX)
			return schema_bad(c, n, keyword, "fewer anchors",
					  "there are more than %d anchors in "
					  "one schema",
					  SCHEMA_ANCHORS_MAX);
		if (strcmp(a->name, name) != 0)
			continue;
		if (a->node != n)
			return schema_bad(c, n, keyword, "a name of its own",
					  "the anchor \"%s\" is used twice",
					  name);
		a->dynamic = a->dynamic || dynamic;
		return 0;
	}
	a = schema_alloc(c->s, 1, sizeof(*a));
	*a = (struct schema_anchor){home->anchors, name, n, dynamic};
	home->anchors = a;
	return 0;
}

/* Read $id; in draft-07 "$id": "#name" is an anchor. */
static int load_identity(struct schema_compiler *c, struct schema_node *n)
{
	const char *id = string_member(n, "$id"), *hash;
	unsigned vocabs;
	int rc = load_dialect(c, n, n->up == NULL || id != NULL, &vocabs);

	if (rc != 0)
		return rc;
	if (n->up == NULL) /* the document's own resource, made a moment ago */
		((struct schema_resource *)n->home)->vocabs = vocabs;
	if (id == NULL || ((vocabs & V_DRAFT7) &&
			   json_object_object_get_ex(n->json, "$ref", NULL)))
		return 0;
	hash = strchr(id, '#');
	if (hash != NULL && hash[1] != '\0') {
		if (!(vocabs & V_DRAFT7))
			return schema_bad(c, n, "$id", "a URI without fragment",
					  "the $id %s has a fragment", id);
		if (hash == id)
			return add_anchor(c, n, "$id", hash + 1, false);
	}
	return load_id(c, n, id, vocabs);
}

static int load_anchors(struct schema_compiler *c, struct schema_node *n)
{
	const char *plain = string_member(n, "$anchor");
	const char *dynamic = string_member(n, "$dynamicAnchor");
	int rc = 0;

	if (n->home->vocabs & V_DRAFT7)
		return 0;
	if (plain != NULL)
		rc = add_anchor(c, n, "$anchor", plain, false);
	if (rc == 0 && dynamic != NULL)
		rc = add_anchor(c, n, "$dynamicAnchor", dynamic, true);
	return rc;
}

static int load_array(struct schema_compiler *c, struct schema_node *n,
		      const char *keyword, struct json_object *list)
{
	struct schema_node *child;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_object_array_length(list); i++)
		rc = schema_load_at(c, json_object_array_get_idx(list, i), n,
				    keyword, NULL, (int)i, &child);
	return rc;
}

/*
 * Load a map of schemas. NAMES: arrays of names are legal, as in
 * "dependencies".
 */
static int load_map(struct schema_compiler *c, struct schema_node *n,
		    const char *keyword, struct json_object *map, bool names)
{
	struct schema_node *child;
	int rc = 0;

	json_object_object_foreach(map, key, val) {
		if (rc != 0)
			break;
		if (!names || json_object_get_type(val) != json_type_array)
			rc = schema_load_at(c, val, n, keyword, key, NODE_PLAIN,
					    &child);
		else if (schema_shape_wrong(SHAPE_NAMES, val) != NULL)
			rc = schema_bad(c, n, keyword,
					"schemas and arrays of names",
					"the names that \"%s\" needs must be "
					"different strings",
					key);
	}
	return rc;
}

static int load_subschemas(struct schema_compiler *c, struct schema_node *n,
			   const char *key, enum schema_shape shape,
			   struct json_object *val)
{
	struct schema_node *child;

	switch (shape) {
	case SHAPE_SCHEMA:
		return schema_load_at(c, val, n, key, NULL, NODE_PLAIN, &child);
	case SHAPE_SCHEMAS:
		return load_array(c, n, key, val);
	case SHAPE_SCHEMA_MAP:
	case SHAPE_DEPENDENCIES:
		return load_map(c, n, key, val, shape == SHAPE_DEPENDENCIES);
	case SHAPE_ITEMS:
		if (json_object_get_type(val) == json_type_array)
			return load_array(c, n, key, val);
		return schema_load_at(c, val, n, key, NULL, NODE_PLAIN, &child);
	default:
		return 0;
	}
}

static int load_keyword(struct schema_compiler *c, struct schema_node *n,
			const char *key, struct json_object *val)
{
	const struct schema_keyword *k =
	    schema_keyword_find(key, n->home->vocabs);
	const char *expected;
	char got[128];
	struct schema_text t;

	if (k == NULL)
		return 0;
	expected = schema_shape_wrong(k->shape, val);
	if (expected == NULL)
		return load_subschemas(c, n, key, k->shape, val);
	if (k->kw == KW_ITEMS && json_object_get_type(val) == json_type_array)
		return schema_bad(c, n, key, expected,
				  "must be one schema; in 2020-12 an array of "
				  "schemas is called prefixItems");
	schema_text_init(&t, got, sizeof(got));
	schema_put_value(&t, val);
	return schema_bad(c, n, key, expected, "is %s; it must be %s", got,
			  expected);
}

static int load_object(struct schema_compiler *c, struct schema_node *n)
{
	int rc = load_identity(c, n);
	bool alone;

	if (rc == 0)
		rc = load_anchors(c, n);
	if (rc != 0)
		return rc;
	/* in draft-07 keywords beside $ref do not count */
	alone = (n->home->vocabs & V_DRAFT7) &&
		json_object_object_get_ex(n->json, "$ref", NULL);
	json_object_object_foreach(n->json, key, val) {
		if (alone && strcmp(key, "$ref") != 0 &&
		    strcmp(key, "definitions") != 0)
			continue;
		rc = load_keyword(c, n, key, val);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Make a node; NULL: the fault has been reported. */
static struct schema_node *node_new(struct schema_compiler *c,
				    struct json_object *json,
				    struct schema_node *up)
{
	struct schema_node *n;

	if (schema_spend(c, up, "", COST_NODE) != 0)
		return NULL;
	if (c->nnodes++ == SCHEMA_NODES_MAX) {
		schema_bad(c, up, "", "a smaller schema",
			   "has more than %d subschemas", SCHEMA_NODES_MAX);
		return NULL;
	}
	if (up != NULL && up->depth == SCHEMA_DEPTH_MAX) {
		schema_bad(c, up, "", "a flatter schema",
			   "has subschemas more than %d deep",
			   SCHEMA_DEPTH_MAX);
		return NULL;
	}
	n = schema_alloc(c->s, 1, sizeof(*n));
	n->json = json;
	n->up = up;
	n->depth = up != NULL ? up->depth + 1 : 0;
	n->home = up != NULL ? up->home : NULL;
	n->index = NODE_PLAIN;
	schema_node_add(&c->by_json, n);
	*c->last = n;
	c->last = &n->next;
	return n;
}

static bool is_schema(struct json_object *json)
{
	return json_object_get_type(json) == json_type_object ||
	       json_object_get_type(json) == json_type_boolean;
}

int schema_load_at(struct schema_compiler *c, struct json_object *json,
		   struct schema_node *up, const char *keyword,
		   const char *member, int index, struct schema_node **out)
{
	const struct schema_node here = {
	    .up = up, .keyword = keyword, .member = member, .index = index};
	struct schema_node *n = schema_node_find(&c->by_json, json);

	*out = n;
	if (n != NULL)
		return 0;
	if (!is_schema(json))
		return schema_bad(c, &here, "",
				  "a schema (an object, true or false)",
				  "is no schema: neither an object nor true "
				  "or false");
	n = node_new(c, json, up);
	*out = n;
	if (n == NULL)
		return -EINVAL;
	n->keyword = keyword;
	n->member = member;
	n->index = index;
	return json_object_get_type(json) == json_type_object
		   ? load_object(c, n)
		   : 0;
}

int schema_load_doc(struct schema_compiler *c, struct json_object *doc,
		    const char *uri, unsigned vocabs,
		    struct schema_resource **out)
{
	struct schema_node *n;

	if (!is_schema(doc))
		return schema_bad(c, NULL, "",
				  "a schema (an object, true or false)",
				  "%s is neither an object nor true or false",
				  uri[0] != '\0' ? uri : "it");
	n = node_new(c, doc, NULL);
	if (n == NULL)
		return -EINVAL;
	*out = resource_new(c, uri, n, vocabs);
	n->home = *out;
	schema_register(c, (*out)->uri, *out);
	return json_object_get_type(doc) == json_type_object ? load_object(c, n)
							     : 0;
}
