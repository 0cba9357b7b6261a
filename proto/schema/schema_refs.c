/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_refs.c - finds the node of a JSON value by its address; resolves $ref,
 * $dynamicRef and JSON pointers to nodes, and loads the documents named there,
 * built in or from the caller's resolver. schema_compile.c calls it. A missing
 * target is -EINVAL at the reference; nothing is fetched.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pointer.h"
#include "proto/schema/schema_compiler.h"

struct schema_doc {
	struct schema_doc *next;
	const char *uri;
	struct json_object *json;
};

struct schema_resource *schema_registered(struct schema_compiler *c,
					  const char *uri)
{
	struct schema_uri *u;

	HASH_FIND_STR(c->by_uri, uri, u);
	return u != NULL ? u->res : NULL;
}

void schema_register(struct schema_compiler *c, const char *uri,
		     struct schema_resource *res)
{
	struct schema_uri *u = schema_alloc(c->s, 1, sizeof(*u));

	u->uri = uri;
	u->res = res;
	HASH_ADD_KEYPTR(hh, c->by_uri, u->uri, strlen(u->uri), u);
}

struct json_object *schema_document(struct schema_compiler *c, const char *uri)
{
	const char *text = schema_meta_text(uri);
	struct json_object *json = NULL;
	struct schema_doc *d;

	for (d = c->s->docs; d != NULL; d = d->next)
		if (strcmp(d->uri, uri) == 0)
			return d->json;
	if (c->ndocs == SCHEMA_DOCS_MAX)
		return NULL;
	if (text != NULL && json_parse(&json, text, strlen(text), NULL) != 0)
		abort(); /* the text is our own */
	if (json == NULL && c->opt.resolver != NULL)
		json =
		    json_object_get(c->opt.resolver(uri, c->opt.resolver_arg));
	if (json == NULL)
		return NULL;
	schema_keep(c->s, json);
	c->ndocs++;
	d = schema_alloc(c->s, 1, sizeof(*d));
	*d = (struct schema_doc){c->s->docs, schema_strdup(c->s, uri), json};
	c->s->docs = d;
	return json;
}

/* Return the resource at URI, loaded now when new; NULL: the fault has been
 * reported. */
static struct schema_resource *find_resource(struct schema_compiler *c,
					     struct schema_node *n,
					     const char *keyword,
					     const char *uri)
{
	struct schema_resource *r = schema_registered(c, uri);
	struct json_object *doc;

	if (r != NULL)
		return r;
	doc = schema_document(c, uri);
	if (doc == NULL) {
		schema_bad(c, n, keyword, "a schema that is here",
			   "%s is not in this schema, and nothing is fetched",
			   uri);
		return NULL;
	}
	if (schema_load_doc(c, doc, uri, n->home->vocabs, &r) != 0)
		return NULL;
	return r;
}

static struct json_object *step_down(struct json_object *v, const char *token)
{
	struct json_object *child = NULL;
	char *end;
	unsigned long i;

	if (json_object_get_type(v) == json_type_object) {
		json_object_object_get_ex(v, token, &child);
		return child;
	}
	if (json_object_get_type(v) != json_type_array ||
	    !isdigit((unsigned char)token[0]) ||
	    (token[0] == '0' && token[1] != '\0'))
		return NULL;
	i = strtoul(token, &end, 10);
	if (*end != '\0' || i >= json_object_array_length(v))
		return NULL;
	return json_object_array_get_idx(v, i);
}

/*
 * Find the node at POINTER. The way may lead through unknown keywords, without
 * a node: the target gets a node now, in the resource of the last node passed.
 */
static int find_pointer(struct schema_compiler *c, struct schema_resource *r,
			const char *pointer, struct schema_node **out)
{
	struct schema_node *known = r->root, *n;
	struct json_object *v = r->root->json;
	const char *p = pointer, *tail = pointer;
	int rc = 0;

	while (*p == '/' && v != NULL) {
		char *token = json_pointer_token(&p);

		v = step_down(v, token);
		free(token);
		n = schema_node_find(&c->by_json, v);
		if (n != NULL) {
			known = n;
			tail = p;
		}
	}
	*out = v != NULL ? known : NULL;
	if (v != NULL && known->json != v)
		rc = schema_load_at(c, v, known, schema_strdup(c->s, tail + 1),
				    NULL, NODE_RAW, out);
	return rc;
}

static struct schema_node *find_anchor(struct schema_compiler *c,
				       const struct schema_resource *r,
				       const char *name, const char **dynamic)
{
	for (const struct schema_anchor *a = r->anchors;
	     a != NULL && schema_step(c->meter, 1); a = a->next)
		if (strcmp(a->name, name) == 0) {
			*dynamic = a->dynamic ? a->name : NULL;
			return a->node;
		}
	return NULL;
}

int schema_resolve(struct schema_compiler *c, struct schema_node *n,
		   const char *keyword, const char *ref,
		   struct schema_node **out, const char **dynamic)
{
	char *uri, *fragment;
	struct schema_resource *r;
	int rc = schema_spend(c, n, keyword,
			      COST_NODE + strlen(ref) + strlen(n->home->uri));

	*out = NULL;
	*dynamic = NULL;
	if (rc != 0)
		return rc;
	uri = schema_uri_resolve(n->home->uri, ref);
	fragment = schema_uri_fragment(ref);
	r = find_resource(c, n, keyword, uri);
	if (r == NULL) {
		rc = -EINVAL;
		goto out;
	}
	if (fragment[0] == '\0')
		*out = r->root;
	else if (fragment[0] == '/')
		rc = find_pointer(c, r, fragment, out);
	else
		*out = find_anchor(c, r, fragment, dynamic);
	if (rc == 0)
		rc = schema_spend(c, n, keyword, 0);
	if (rc == 0 && *out == NULL)
		rc = schema_bad(c, n, keyword, "a place that exists",
				"%s leads nowhere", ref);
out:
	free(uri);
	free(fragment);
	return rc;
}

#define SLOTS_MIN 64u

/* Return the slot of JSON's node, or the free slot for it. */
static size_t map_slot(const struct schema_map *m,
		       const struct json_object *json)
{
	uint64_t h = (uint64_t)(uintptr_t)json * UINT64_C(0x9E3779B97F4A7C15);
	size_t at = (size_t)(h >> 32) & (m->slots - 1);

	while (m->slot[at] != NULL && m->slot[at]->json != json)
		at = (at + 1) & (m->slots - 1);
	return at;
}

struct schema_node *schema_node_find(const struct schema_map *m,
				     const struct json_object *json)
{
	return m->slots > 0 ? m->slot[map_slot(m, json)] : NULL;
}

void schema_node_add(struct schema_map *m, struct schema_node *n)
{
	struct schema_map bigger = {
	    .slots = m->slots > 0 ? m->slots * 2 : SLOTS_MIN, .n = m->n};

	if (m->n * 2 >= m->slots) {
		bigger.slot =
		    xcalloc(bigger.slots, sizeof(struct schema_node *));
		for (size_t i = 0; i < m->slots; i++)
			if (m->slot[i] != NULL)
				bigger
				    .slot[map_slot(&bigger, m->slot[i]->json)] =
				    m->slot[i];
		free(m->slot);
		*m = bigger;
	}
	m->slot[map_slot(m, n->json)] = n;
	m->n++;
}

void schema_map_fini(struct schema_map *m)
{
	free(m->slot);
	*m = (struct schema_map){0};
}
