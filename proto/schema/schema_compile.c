/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_compile.c - gives each loaded node its operations, in the order of the
 * most helpful errors, and resolves the references. schema.c calls it once a
 * document. A fault is -EINVAL, reported by schema_bad() with the place in the
 * schema.
 */
#include "proto/schema/schema_build.h"

#include <string.h>

#include "base/mem.h"

/* Make room for N nodes under OP. */
static void give_nodes(struct build *b, struct schema_op *op, size_t n)
{
	op->nnodes = (uint32_t)n;
	op->nodes = schema_alloc(b->c->s, n, sizeof(struct schema_node *));
}

/* Return the node made for the subschema JSON when the document was loaded. */
static struct schema_node *node_of(struct build *b, struct json_object *json)
{
	return schema_node_find(&b->c->by_json, json);
}

/* Add dependentRequired, or the arrays of names in "dependencies". */
static void add_needs(struct build *b, enum schema_kw kw, const char *keyword)
{
	struct schema_needs *needs;
	struct schema_op *op;

	if (!b->w.has[kw])
		return;
	op = build_add(b, keyword, T_OBJECT, schema_check_dependent_required);
	needs = schema_alloc(b->c->s,
			     (size_t)json_object_object_length(b->w.val[kw]),
			     sizeof(*needs));
	op->u.needs = needs;
	json_object_object_foreach(b->w.val[kw], key, val) {
		if (json_object_get_type(val) != json_type_array)
			continue;
		needs->name = key;
		needs->needs = build_names_of(b, val);
		needs->n = json_object_array_length(val);
		needs++;
	}
	op->n = (size_t)(needs - op->u.needs);
	if (op->n == 0)
		b->nops--;
}

/* Add dependentSchemas, or the schemas in "dependencies". */
static void add_dependent(struct build *b, enum schema_kw kw,
			  const char *keyword)
{
	struct schema_op *op;
	size_t n;

	if (!b->w.has[kw])
		return;
	op = build_add(b, keyword, T_OBJECT, schema_check_dependent_schemas);
	op->in_place = true;
	n = (size_t)json_object_object_length(b->w.val[kw]);
	op->u.names = schema_alloc(b->c->s, n, sizeof(*op->u.names));
	give_nodes(b, op, n);
	json_object_object_foreach(b->w.val[kw], key, val) {
		if (json_object_get_type(val) == json_type_array)
			continue;
		op->u.names[op->n] = key;
		op->nodes[op->n++] = node_of(b, val);
	}
	if (op->n == 0)
		b->nops--;
}

static int build_dependent(struct build *b)
{
	add_needs(b, KW_DEPENDENT_REQUIRED, "dependentRequired");
	add_needs(b, KW_DEPENDENCIES, "dependencies");
	add_dependent(b, KW_DEPENDENT_SCHEMAS, "dependentSchemas");
	add_dependent(b, KW_DEPENDENCIES, "dependencies");
	return 0;
}

static void build_properties(struct build *b, struct schema_members *m)
{
	struct json_object *v = b->w.val[KW_PROPERTIES];
	size_t n = (size_t)json_object_object_length(v), slots = 4;

	while (slots < n * 2)
		slots *= 2;
	m->mask = slots - 1;
	m->slot = schema_alloc(b->c->s, slots, sizeof(*m->slot));
	m->names = schema_alloc(b->c->s, n, sizeof(*m->names));
	json_object_object_foreach(v, key, val) {
		size_t len = strlen(key);
		size_t at = schema_hash_bytes(0, key, len) & m->mask;

		while (m->slot[at].name != NULL)
			at = (at + 1) & m->mask;
		m->slot[at] = (struct schema_member){key, len, node_of(b, val)};
		m->names[m->nnames++] = key;
	}
}

static int build_pattern_properties(struct build *b, struct schema_members *m)
{
	struct json_object *v = b->w.val[KW_PATTERN_PROPERTIES];
	size_t n = (size_t)json_object_object_length(v);
	int rc = 0;

	m->patterns = schema_alloc(b->c->s, n, sizeof(struct schema_pattern *));
	m->pattern_nodes =
	    schema_alloc(b->c->s, n, sizeof(struct schema_node *));
	json_object_object_foreach(v, key, val) {
		if (rc != 0)
			break;
		m->pattern_nodes[m->npatterns] = node_of(b, val);
		rc = build_pattern(b, "patternProperties", key, strlen(key),
				   &m->patterns[m->npatterns++]);
	}
	return rc;
}

static int build_members(struct build *b)
{
	bool additional = b->w.has[KW_ADDITIONAL_PROPERTIES];
	struct schema_members *m;

	if (!b->w.has[KW_PROPERTIES] && !b->w.has[KW_PATTERN_PROPERTIES] &&
	    !additional)
		return 0;
	m = schema_alloc(b->c->s, 1, sizeof(*m));
	for (uint32_t i = 0; i < b->nops; i++)
		if (b->ops[i].check == schema_check_required)
			b->ops[i].peers = m;
	build_add(b, "properties", T_OBJECT, schema_check_members)->u.members =
	    m;
	if (additional)
		m->additional = node_of(b, b->w.val[KW_ADDITIONAL_PROPERTIES]);
	if (b->w.has[KW_PROPERTIES])
		build_properties(b, m);
	if (b->w.has[KW_PATTERN_PROPERTIES])
		return build_pattern_properties(b, m);
	return 0;
}

/* Add a keyword with a single subschema. */
static struct schema_op *add_single(struct build *b, enum schema_kw kw,
				    const char *keyword, unsigned types,
				    schema_check_fn *check)
{
	struct schema_op *op;

	if (!b->w.has[kw])
		return NULL;
	op = build_add(b, keyword, types, check);
	give_nodes(b, op, 1);
	op->nodes[0] = node_of(b, b->w.val[kw]);
	return op;
}

static int build_names(struct build *b)
{
	add_single(b, KW_PROPERTY_NAMES, "propertyNames", T_OBJECT,
		   schema_check_property_names);
	return 0;
}

/*
 * Build items: nodes[0] is for the rest, later nodes are for the first items.
 */
static int build_items(struct build *b)
{
	bool array =
	    json_object_get_type(b->w.val[KW_ITEMS]) == json_type_array;
	enum schema_kw first = array ? KW_ITEMS : KW_PREFIX_ITEMS;
	enum schema_kw rest = array ? KW_ADDITIONAL_ITEMS : KW_ITEMS;
	size_t n =
	    b->w.has[first] ? json_object_array_length(b->w.val[first]) : 0;
	struct schema_op *op;

	if (n == 0 && !b->w.has[rest])
		return 0;
	op = build_add(b, array && b->w.has[rest] ? "additionalItems" : "items",
		       T_ARRAY, schema_check_items);
	give_nodes(b, op, n + 1);
	if (b->w.has[rest])
		op->nodes[0] = node_of(b, b->w.val[rest]);
	for (size_t i = 0; i < n; i++)
		op->nodes[i + 1] =
		    node_of(b, json_object_array_get_idx(b->w.val[first], i));
	return 0;
}

static int build_contains(struct build *b)
{
	struct schema_contains *k;
	struct schema_op *op = add_single(b, KW_CONTAINS, "contains", T_ARRAY,
					  schema_check_contains);

	if (op == NULL)
		return 0;
	k = schema_alloc(b->c->s, 1, sizeof(*k));
	k->node = op->nodes[0];
	k->min = b->w.has[KW_MIN_CONTAINS]
		     ? build_count_of(b->w.val[KW_MIN_CONTAINS])
		     : 1;
	k->max = b->w.has[KW_MAX_CONTAINS]
		     ? build_count_of(b->w.val[KW_MAX_CONTAINS])
		     : UINT64_MAX;
	op->u.contains = k;
	return 0;
}

static int add_ref(struct build *b, enum schema_kw kw, const char *keyword)
{
	struct schema_node *target;
	const char *dynamic;
	struct schema_op *op;
	int rc;

	if (!b->w.has[kw])
		return 0;
	rc = schema_resolve(b->c, b->n, keyword,
			    json_object_get_string(b->w.val[kw]), &target,
			    &dynamic);
	if (rc != 0)
		return rc;
	op = build_add(b, keyword, T_ANY, schema_check_ref);
	op->in_place = true;
	give_nodes(b, op, 1);
	op->nodes[0] = target;
	if (kw == KW_DYNAMIC_REF && dynamic != NULL) {
		op->check = schema_check_dynamic_ref;
		op->u.anchor = dynamic;
	}
	return 0;
}

static int build_refs(struct build *b)
{
	int rc = add_ref(b, KW_REF, "$ref");

	return rc != 0 ? rc : add_ref(b, KW_DYNAMIC_REF, "$dynamicRef");
}

static void add_branches(struct build *b, enum schema_kw kw,
			 const char *keyword, schema_check_fn *check)
{
	struct json_object *v = b->w.val[kw];
	struct schema_op *op;

	if (!b->w.has[kw])
		return;
	op = build_add(b, keyword, T_ANY, check);
	op->in_place = true;
	give_nodes(b, op, json_object_array_length(v));
	for (uint32_t i = 0; i < op->nnodes; i++)
		op->nodes[i] = node_of(b, json_object_array_get_idx(v, i));
}

static int build_logic(struct build *b)
{
	struct schema_op *op;

	add_branches(b, KW_ALL_OF, "allOf", schema_check_all_of);
	add_branches(b, KW_ANY_OF, "anyOf", schema_check_any_of);
	add_branches(b, KW_ONE_OF, "oneOf", schema_check_one_of);
	op = add_single(b, KW_NOT, "not", T_ANY, schema_check_not);
	if (op != NULL)
		op->in_place = true;
	return 0;
}

static int build_if(struct build *b)
{
	static const enum schema_kw kws[] = {KW_IF, KW_THEN, KW_ELSE};
	struct schema_op *op;

	if (!b->w.has[KW_IF])
		return 0;
	op = build_add(b, "if", T_ANY, schema_check_if);
	op->in_place = true;
	give_nodes(b, op, ARRAY_LEN(kws));
	for (size_t i = 0; i < ARRAY_LEN(kws); i++)
		if (b->w.has[kws[i]])
			op->nodes[i] = node_of(b, b->w.val[kws[i]]);
	return 0;
}

/*
 * Build the unevaluated keywords, last: they read the bits of earlier keywords.
 */
static int build_unevaluated(struct build *b)
{
	struct schema_op *op;

	op = add_single(b, KW_UNEVALUATED_ITEMS, "unevaluatedItems", T_ARRAY,
			schema_check_unevaluated_items);
	if (op != NULL)
		op->last = b->n->watch = true;
	op = add_single(b, KW_UNEVALUATED_PROPERTIES, "unevaluatedProperties",
			T_OBJECT, schema_check_unevaluated_properties);
	if (op != NULL)
		op->last = b->n->watch = true;
	return 0;
}

/* The builders, in the order of the most helpful errors. */
static int (*const builders[])(struct build *) = {
    build_type,	  build_values,	  build_numbers,  build_counts,
    build_string, build_required, build_members,  build_names,
    build_items,  build_unique,	  build_contains, build_dependent,
    build_refs,	  build_logic,	  build_if,	  build_unevaluated,
};

static int build_all(struct build *b)
{
	int rc = 0;

	schema_words_of(&b->w, b->n);
	b->n->write_only = b->w.has[KW_WRITE_ONLY] &&
			   json_object_get_boolean(b->w.val[KW_WRITE_ONLY]);
	if (b->n->write_only)
		b->c->s->secrets = true;
	if ((b->n->home->vocabs & V_DRAFT7) && b->w.has[KW_REF])
		return build_refs(b);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(builders); i++)
		rc = builders[i](b);
	return rc;
}

static int compile_node(struct schema_compiler *c, struct schema_node *n)
{
	struct build b = {.c = c, .n = n};
	int rc = 0;

	if (json_object_get_type(n->json) == json_type_object)
		rc = build_all(&b);
	else if (!json_object_get_boolean(n->json))
		build_add(&b, "", T_ANY, schema_check_false);
	if (rc != 0 || b.nops == 0)
		return rc;
	n->ops = schema_alloc(c->s, b.nops, sizeof(*n->ops));
	memcpy(n->ops, b.ops, b.nops * sizeof(*n->ops));
	n->nops = b.nops;
	return 0;
}

enum { WHITE, GREY, BLACK };

/*
 * Follow the operations of N that check the same value. A reference back to a
 * node on the way would never end, for any instance. (A loop by $dynamicRef
 * shows only when checking; the bound on depth ends it.)
 */
static int visit(struct schema_compiler *c, struct schema_node *n,
		 unsigned depth)
{
	int rc = 0;

	if (n->colour == BLACK)
		return 0;
	if (n->colour == GREY)
		return schema_bad(c, n, "", "references that end",
				  "refers to itself without end");
	if (depth > SCHEMA_INLINE_MAX)
		return schema_bad(
		    c, n, "", "fewer references in a row",
		    "more than %d subschemas in a row look at the "
		    "same value",
		    SCHEMA_INLINE_MAX);
	n->colour = GREY;
	for (uint32_t i = 0; i < n->nops; i++) {
		const struct schema_op *op = &n->ops[i];

		for (uint32_t j = 0; op->in_place && j < op->nnodes; j++)
			if (rc == 0 && op->nodes[j] != NULL)
				rc = visit(c, op->nodes[j], depth + 1);
	}
	n->colour = BLACK;
	return rc;
}

/* Compile DOC. References add nodes to the list during the walk. */
int schema_compile_into(struct schema_compiler *c, struct json_object *doc)
{
	struct schema_resource *r;
	int rc = schema_load_doc(c, doc, "", V_2020, &r);

	if (rc != 0)
		return rc;
	c->s->root = r->root;
	for (struct schema_node *n = c->first; rc == 0 && n != NULL;
	     n = n->next)
		rc = compile_node(c, n);
	/* refuse a $ref back to itself on the same value */
	for (struct schema_node *n = c->first; rc == 0 && n != NULL;
	     n = n->next)
		rc = visit(c, n, 0);
	return rc;
}
