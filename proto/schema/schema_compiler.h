/* SPDX-License-Identifier: Apache-2.0 */
/* schema_compiler.h - declarations for the files that compile a schema. */
#ifndef PROTO_SCHEMA_SCHEMA_COMPILER_H
#define PROTO_SCHEMA_SCHEMA_COMPILER_H

#include <uthash.h>

#include "proto/schema/schema_private.h"

/* ---- keywords (schema_keyword.c) ---- */

enum schema_kw {
#define SHAPE(...)
#define KEYWORD(name, id, ...) KW_##id,
#define KEYWORD_ELSE(...)
#include "proto/schema/schema_keyword.def"
	KW_COUNT,
};

/* The shapes that a keyword's value can have. */
enum schema_shape {
#define SHAPE(shape, ...) SHAPE_##shape,
#define KEYWORD(...)
#define KEYWORD_ELSE(...)
#include "proto/schema/schema_keyword.def"
};

struct schema_keyword {
	const char *name;
	enum schema_kw kw;
	unsigned vocabs; /* the keyword exists in any of these */
	enum schema_shape shape;
};

/* Return the keyword NAME in VOCABS, or NULL. */
const struct schema_keyword *schema_keyword_find(const char *name,
						 unsigned vocabs);
/* Offer all keywords of VOCABS to SUGGEST; see base/text/suggest.h. */
void schema_keyword_near(struct suggest *suggest, unsigned vocabs);
/* Return the bits of the type NAME, or 0. */
unsigned schema_type_named(const char *name);
/*
 * Return what SHAPE expects when V does not fit, else NULL. The subschemas in V
 * are not checked.
 */
const char *schema_shape_wrong(enum schema_shape shape, struct json_object *v);

/* The members of a schema object, by keyword. */
struct schema_words {
	struct json_object *val[KW_COUNT];
	bool has[KW_COUNT];
};

void schema_words_of(struct schema_words *w, const struct schema_node *n);

/* ---- compiling ---- */

struct schema_uri {
	const char *uri;
	struct schema_resource *res;
	UT_hash_handle hh;
};

/* Nodes by their JSON value; empty when zeroed. */
struct schema_map {
	struct schema_node **slot;
	size_t slots, n;
};

struct schema_node *schema_node_find(const struct schema_map *m,
				     const struct json_object *json);
void schema_node_add(struct schema_map *m, struct schema_node *n);
void schema_map_fini(struct schema_map *m);

struct schema_compiler {
	struct schema *s;
	struct schema_options opt;
	struct schema_error *err;
	struct schema_map by_json;
	struct schema_uri *by_uri;
	struct schema_node *first, **last; /* nodes yet to be compiled */
	size_t nnodes, ndocs;
	unsigned meta_depth;
	struct schema_check *meter; /* counts the steps of compiling */
};

/* Report a fault of KEYWORD at N (NULL: the document); return -EINVAL. */
int schema_bad(struct schema_compiler *c, const struct schema_node *n,
	       const char *keyword, const char *expected, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * Count STEPS more. 0, or -EINVAL by schema_bad() when the budget is used up.
 */
int schema_spend(struct schema_compiler *c, const struct schema_node *n,
		 const char *keyword, uint64_t steps);

/* functions of schema_load.c */
int schema_load_doc(struct schema_compiler *c, struct json_object *doc,
		    const char *uri, unsigned vocabs,
		    struct schema_resource **out);
int schema_load_at(struct schema_compiler *c, struct json_object *json,
		   struct schema_node *up, const char *keyword,
		   const char *member, int index, struct schema_node **out);

/* schema_dialect.c: the vocabularies of the "$schema" URI */
bool schema_dialect_known(const char *uri); /* built in: no metaschema is
					       read */
/* Return the vocabularies of a built-in dialect, else 0. */
unsigned schema_dialect_vocabs(const char *uri);
int schema_dialect_of(struct schema_compiler *c, const struct schema_node *n,
		      const char *uri, unsigned *vocabs);

/* functions of schema_refs.c */
struct schema_resource *schema_registered(struct schema_compiler *c,
					  const char *uri);
void schema_register(struct schema_compiler *c, const char *uri,
		     struct schema_resource *res);
/* Find the node of the reference REF at N's KEYWORD. */
int schema_resolve(struct schema_compiler *c, struct schema_node *n,
		   const char *keyword, const char *ref,
		   struct schema_node **out, const char **dynamic);
/* Return the document at URI, built in or the resolver's. Borrowed. */
struct json_object *schema_document(struct schema_compiler *c, const char *uri);

/* schema_meta.c: the JSON text of a metaschema of the standard, or NULL. */
const char *schema_meta_text(const char *uri);

/* a function of schema_compile.c */
int schema_compile_into(struct schema_compiler *c, struct json_object *doc);

#endif
