/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_private.h - declarations for the files schema_*.c alone.
 *
 * schema_load.c turns each subschema of a document into a node and finds its
 * $id and anchors; schema_compile.c gives each node its operations, with every
 * reference resolved to a node (schema_refs.c); schema_check.c and its helpers
 * run them. A compiled schema is a graph of nodes; checks read no keyword any
 * more. Declarations for compiling alone are in schema_compiler.h.
 */
#ifndef PROTO_SCHEMA_SCHEMA_PRIVATE_H
#define PROTO_SCHEMA_SCHEMA_PRIVATE_H

#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/suggest.h"
#include "proto/schema/schema.h"
#include "proto/schema/schema_format.h"

/* Bounds on a schema. */

/* subschemas, with those of referred documents */
#define SCHEMA_NODES_MAX 10000
#define SCHEMA_DEPTH_MAX 64 /* subschemas nested in each other */
/* nested $ref, allOf and the like on the same value */
#define SCHEMA_INLINE_MAX 200
#define SCHEMA_DOCS_MAX 100	/* most documents referred to */
#define SCHEMA_META_MAX 4	/* most metaschemas above each other */
#define SCHEMA_URI_MAX 2048	/* most bytes of a URI */
#define SCHEMA_PATTERN_MAX 4096 /* bytes of a regular expression */
/* bytes of memory of all compiled expressions */
#define SCHEMA_PATTERNS_BYTES (4u << 20)
#define SCHEMA_ANCHORS_MAX 1000	 /* most anchors in a resource */
#define SCHEMA_RESOURCES_MAX 500 /* most resources, each with $id */
/* Bounds on a validation. */
#define CHECK_DEPTH_MAX 1000 /* subschemas being checked at once */
/* writeOnly values; with more, no value is shown */
#define CHECK_SECRETS_MAX 1000
/* steps of a match; the budget cannot be asked during a match */
#define CHECK_MATCH_MAX 2000000
#define CHECK_MATCH_KIB 32768 /* KiB of memory of a match */
#define CHECK_NEAR_MAX 200    /* names tried for a misspelt name */

/* Costs in steps; the plainest subschema costs one. */
#define COST_ERROR 60	 /* the wording of an error */
#define COST_LOOKUP 3	 /* a search for a member by name */
#define COST_MEMBER 5	 /* a member of a large object, with its name */
#define COST_HASHED 3	 /* a value put into a table, or sought there */
#define COST_NAME 10	 /* a string made of a member's name */
#define COST_NEAR 40	 /* a comparison of names for a guess */
#define COST_SEEN 2	 /* the bits of evaluated members, where needed */
#define COST_DIVIDE 8	 /* a division of numbers that are not integers */
#define COST_NODE 50	 /* compiling a subschema */
#define COST_PATTERN 500 /* compiling a regular expression */
/* Bytes (or digits) handled in a step. */
#define BYTES_EQUAL 256u
#define BYTES_HASHED 64u
#define BYTES_COUNTED 32u
#define BYTES_FORMAT 2u
#define DIGITS_COMPARED 8u
#define ITEMS_TABLED 8u /* elements put into a table in a step */

/* Types of instances; a double is T_REAL even when its value is an integer. */
enum {
	T_NULL = 1,
	T_BOOL = 2,
	T_OBJECT = 4,
	T_ARRAY = 8,
	T_STRING = 16,
	T_INT = 32,
	T_REAL = 64,
	T_NUMBER = T_INT | T_REAL,
	T_ANY = 127,
};

/* Vocabularies; draft-07 counts as a vocabulary. */
enum {
	V_CORE = 1,
	V_APPLICATOR = 2,
	V_UNEVALUATED = 4,
	V_VALIDATION = 8,
	V_METADATA = 16,
	V_FORMAT = 32,
	V_FORMAT_ASSERT = 64,
	V_CONTENT = 128,
	V_DRAFT7 = 256,
	V_2020 = V_CORE | V_APPLICATOR | V_UNEVALUATED | V_VALIDATION |
		 V_METADATA | V_FORMAT | V_CONTENT,
};

struct schema_check;
struct schema_compiler;
struct schema_node;
struct schema_op;
struct schema_seen;

/* ---- text for people (schema_text.c) ---- */

/* A writer into a caller's array, cut there between characters. */
struct schema_text {
	char *p;
	size_t cap;
	size_t len;
};

void schema_text_init(struct schema_text *t, char *p, size_t cap);
void schema_put(struct schema_text *t, const char *s);
void schema_putf(struct schema_text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void schema_putv(struct schema_text *t, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));
void schema_put_quoted(struct schema_text *t, const char *s, size_t len);
/* Write a scalar as JSON, cut when long; else "an object" or "an array". */
void schema_put_value(struct schema_text *t, struct json_object *v);
void schema_put_types(struct schema_text *t,
		      unsigned types); /* writes "a string or null" */
/* writes "/a~1b" */
void schema_put_token(struct schema_text *t, const char *key);

/* ---- numbers (schema_number.c) ---- */

/* A JSON number: its double, and the parts for an exact comparison. */
struct schema_num {
	double d;
	uint64_t mag; /* the absolute value, of an integer */
	bool neg;
	bool integer;	  /* the value is json_type_int */
	const char *text; /* text of a double; borrowed, or NULL: see buf */
	char buf[32];	  /* written by schema_num_text(), or "" */
};

/* Return N in decimal. Changes N, so N must not be shared by threads. */
const char *schema_num_text(struct schema_num *n);
/* steps to read the digits */
size_t schema_num_steps(const struct schema_num *n);

void schema_num_of(struct schema_num *n, struct json_object *v);
int schema_num_cmp(const struct schema_num *a, const struct schema_num *b);
/* counts 1.0 as an integer */
bool schema_num_is_integer(const struct schema_num *n);
bool schema_num_multiple(const struct schema_num *n,
			 const struct schema_num *of);

/* ---- values (schema_value.c) ---- */

unsigned schema_type_of(struct json_object *v);
/* Keyed: nobody can prepare names or values with equal hashes. */
uint64_t schema_hash_bytes(uint64_t h, const void *p, size_t n);
bool schema_equal(struct schema_check *c, struct json_object *a,
		  struct json_object *b);
/* Find two equal elements of ARRAY; C NULL: no bound. */
bool schema_find_twins(struct schema_check *c, struct json_object *array,
		       size_t *first, size_t *second);

/* The values of an enum, found by hash. */
struct schema_set {
	struct json_object *array;
	size_t slots;	/* count of slots, a power of two */
	uint32_t *slot; /* index + 1 of an element, or 0 */
	uint64_t *hash; /* hash of the element in the slot */
};

struct schema_set *schema_set_new(struct schema *s, struct schema_check *c,
				  struct json_object *array);
bool schema_set_has(struct schema_check *c, const struct schema_set *set,
		    struct json_object *v);

/* ---- regular expressions (schema_regex.c, schema_pattern.c) ---- */

/* An ECMA-262 expression rewritten for PCRE2. */
struct schema_regex {
	char *text; /* the expression, owned; free(3) */
	size_t len;
	uint32_t weight;   /* uncounted steps of a start */
	uint32_t per_byte; /* uncounted steps of a byte */
};

/* Return 0, or -EINVAL with a clause in ERRMSG. */
int schema_regex_translate(struct schema_regex *out, const char *p, size_t len,
			   struct schema_text *errmsg);
/* Write PCRE2's name for an ECMA-262 property; false when it cannot be one. */
bool schema_regex_property(struct schema_text *out, const char *p, size_t len);

struct schema_pattern;
struct schema_matcher; /* PCRE2's working memory for a validation */

int schema_pattern_new(struct schema_pattern **out, const char *p, size_t len,
		       struct schema_text *errmsg);
void schema_pattern_free(struct schema_pattern *p);
const char *schema_pattern_text(const struct schema_pattern *p);
/* bytes of memory */
size_t schema_pattern_bytes(const struct schema_pattern *p);
/*
 * Return 1: match; 0: no match; -E2BIG: C's steps, or the memory, are used up.
 */
int schema_pattern_match(const struct schema_pattern *p, struct schema_check *c,
			 const char *s, size_t len);
void schema_matcher_free(struct schema_matcher *m);

/* ---- formats (schema_format*.c) ---- */

struct schema_format {
	const char *name;
	const char *expected; /* "a date (YYYY-MM-DD)" */
	schema_format_fn *good;
};

/* Return the format named NAME; NULL: the name only annotates. */
const struct schema_format *schema_format_find(const char *name);
/* Is NAME a known format, whether checked or not? */
bool schema_format_is_known(const char *name);
/* offers all formats to SUGGEST */
void schema_format_near(struct suggest *suggest);
/* Return the steps of checking LEN bytes. */
size_t schema_format_steps(const struct schema_format *f, size_t len);

/* ---- URIs (schema_uri.c) ---- */

/* Return REF resolved against BASE (RFC 3986, 5.2), no fragment; free(3). */
char *schema_uri_resolve(const char *base, const char *ref);
/* Return the fragment of REF, percent-decoded, or ""; free(3). */
char *schema_uri_fragment(const char *ref);

/* ---- the graph ---- */

struct schema_anchor {
	struct schema_anchor *next;
	const char *name;
	struct schema_node *node;
	bool dynamic;
};

/* A schema resource: a whole document, or a subschema with $id. */
struct schema_resource {
	const char *uri; /* absolute where possible, no fragment */
	struct schema_node *root;
	struct schema_anchor *anchors;
	unsigned vocabs;
};

enum {
	NODE_PLAIN = -1, /* the node has no index */
	NODE_RAW = -2,	 /* keyword is a whole piece of JSON Pointer */
};

/* A subschema. The place in the document is for compiling alone. */
struct schema_node {
	struct schema_op *ops;
	uint32_t nops;
	bool write_only;
	bool watch;	/* has an unevaluated keyword */
	uint8_t colour; /* mark in the search for endless references */
	const struct schema_resource *home;

	struct json_object *json;
	struct schema_node *up;
	const char *keyword; /* keyword of UP, leading here; NULL at a root */
	const char *member;  /* name below keyword, or NULL */
	int index;	     /* index below keyword, or NODE_ */
	unsigned depth;
	struct schema_node *next; /* the next node to compile */
};

/* Write the place of N in its document (schema_load.c). */
void schema_put_place(struct schema_text *t, const struct schema_node *n);

/* A value of the instance and the way to it. */
struct schema_place {
	const struct schema_place *up;
	const char *key; /* NULL: element INDEX, or the root when UP is NULL */
	size_t index;
	struct json_object *value;
};

typedef bool schema_check_fn(struct schema_check *c, const struct schema_op *op,
			     const struct schema_place *at,
			     struct schema_seen *seen);

/* An assertion or applicator, and the types of instances it is for. */
struct schema_op {
	schema_check_fn *check;
	const char *keyword;
	unsigned types;
	bool in_place;	      /* the nodes check the same value */
	bool last;	      /* not run once an earlier op has failed */
	int8_t least;	      /* least good order: -1 less, 0 same, 1 more */
	int8_t most;	      /* greatest good order, likewise */
	const char *relation; /* the good order in words: "at least" */
	uint32_t nnodes;
	struct schema_node **nodes; /* subschemas; NULL: absent */
	union {
		unsigned mask;
		uint64_t count;
		struct json_object *value;
		struct schema_num *num;
		struct schema_set *set;
		const char **names; /* N names */
		const char *anchor;
		struct schema_pattern *pattern;
		const struct schema_format *format;
		struct schema_members *members;
		struct schema_contains *contains;
		struct schema_needs *needs;
	} u;
	size_t n;
	/* required: the properties of the same schema, or NULL */
	const struct schema_members *peers;
};

struct schema_member {
	const char *name;
	size_t len;
	struct schema_node *node;
};

/* properties, patternProperties and additionalProperties together. */
struct schema_members {
	struct schema_member *slot; /* open addressing; name NULL: empty */
	size_t mask;		    /* count of slots - 1 */
	const char **names;	    /* names in the schema's order */
	size_t nnames;
	struct schema_pattern **patterns;
	struct schema_node **pattern_nodes;
	size_t npatterns;
	struct schema_node *additional; /* NULL: no such keyword */
	const char *additional_keyword;
};

struct schema_contains {
	struct schema_node *node;
	uint64_t min, max; /* max UINT64_MAX: no maximum */
};

/* dependentRequired: a member NAME needs the members NEEDS. */
struct schema_needs {
	const char *name;
	const char **needs;
	size_t n;
};

struct schema_chunk;
struct schema_doc;
struct schema_holder;

struct schema {
	struct schema_node *root;
	struct schema_chunk *arena;
	struct schema_doc *docs; /* the documents by URI */
	struct schema_holder *kept;
	struct schema_pattern **patterns;
	size_t npatterns;
	size_t pattern_bytes; /* bytes of memory of all patterns */
	bool secrets;	      /* a node is writeOnly */
};

/* Return zeroed memory, freed with S. */
void *schema_alloc(struct schema *s, size_t n, size_t size);
char *schema_strdup(struct schema *s, const char *p);
/* Keep DOC until S is freed; takes the reference. */
void schema_keep(struct schema *s, struct json_object *doc);
int schema_keep_pattern(struct schema *s, struct schema_pattern **out,
			const char *p, size_t len, struct schema_text *errmsg);

/* ---- checking ---- */

/* The members or elements evaluated so far, for the unevaluated keywords. */
struct schema_seen {
	size_t n;
	uint64_t *bits; /* the bits; &word while n <= 64 */
	uint64_t word;
};

void schema_seen_add(struct schema_seen *s, size_t i); /* S may be NULL */
void schema_seen_add_upto(struct schema_seen *s, size_t n);
bool schema_seen_has(const struct schema_seen *s, size_t i);

/* A receiver of errors. NULL in a check: only the verdict is wanted. */
struct schema_sink {
	struct schema_error *errs;
	size_t max;			 /* most errors kept */
	size_t stop;			 /* count of errors that is enough */
	size_t n;			 /* count of errors found */
	const struct schema_place *base; /* the place of the alternative */
	bool mismatch; /* the alternative is of another type or tag */
};

struct schema_check {
	const struct schema *s;
	int rc;		  /* -E2BIG, -ETIME: a bound was met */
	bool all;	  /* do not stop at the first failure */
	bool mark;	  /* only gather the writeOnly values */
	bool hide;	  /* show no value at all */
	uint64_t steps;	  /* steps used so far */
	uint64_t look_at; /* steps at which the budget is asked next */
	struct schema_budget *budget;
	uint64_t blame_from;		   /* steps enough for blame, with rc */
	const struct schema_node *blamed;  /* the node to blame, or NULL */
	const struct schema_op *blamed_op; /* the operation of that node */
	size_t nscope;
	struct schema_matcher *matcher;
	struct schema_sink *sink;
	struct schema_error *stop; /* gets the bound that was met, or NULL */
	struct json_object **secret;
	size_t nsecret;
	size_t depth;
	/* The resources entered on the way, outermost first. */
	const struct schema_resource *scope[CHECK_DEPTH_MAX];
};

/* functions of schema_check.c */
bool schema_run(struct schema_check *c, const struct schema_node *n,
		const struct schema_place *at, struct schema_seen *seen);
/*
 * Does AT pass N? N's bits count only when AT passes; no error is reported.
 * With c->mark, N is walked and the result means nothing.
 */
bool schema_passes(struct schema_check *c, const struct schema_node *n,
		   const struct schema_place *at, struct schema_seen *seen);
bool schema_is_false(const struct schema_node *n);
/*
 * Check CHILD, the Ith, by an unevaluated keyword, unless already evaluated.
 * WHAT is "an item" or "a member".
 */
bool schema_unevaluated(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *child, size_t i,
			struct schema_seen *seen, const char *what);
/* Ask the budget; false: too many steps, or time is up. */
bool schema_look(struct schema_check *c);
static inline bool schema_step(struct schema_check *c, uint64_t n)
{
	if (c == NULL)
		return true;
	c->steps += n;
	return c->steps < c->look_at ? c->rc == 0 : schema_look(c);
}
bool schema_enough(const struct schema_check *c); /* stop after a failure? */
/* Add the place in the schema to E, the error of a check without a verdict. */
void schema_blame(struct schema_check *c, struct schema_error *e);
/* End the check without a verdict: a bound was met at AT. Returns false. */
bool schema_give_up(struct schema_check *c, const struct schema_place *at,
		    const char *keyword, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/*
 * Give up because P took too long at AT; WHAT is part of the sentence
 * ("takes").
 */
bool schema_too_long(struct schema_check *c, const struct schema_place *at,
		     const char *keyword, const char *what,
		     const struct schema_pattern *p);
/* After schema_give_up(): name a limit other than depth. */
void schema_met(struct schema_check *c, const char *limit, uint64_t allowed);

/*
 * schema_error.c: each function returns false; words errors only when wanted.
 */
static inline bool schema_wanted(const struct schema_check *c)
{
	return c->sink != NULL;
}
bool schema_fail(struct schema_check *c, const struct schema_place *at,
		 const char *keyword, const char *expected, ...)
    __attribute__((format(printf, 4, 5)));
bool schema_fail_text(struct schema_check *c, const struct schema_place *at,
		      const char *keyword, const char *expected,
		      const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void schema_put_pointer(struct schema_text *t, const struct schema_place *at);
void schema_sink_add(struct schema_check *c, const struct schema_place *at,
		     const struct schema_error *e);
/* Report the nearest branch of OP, all failed; false. In schema_explain.c. */
bool schema_explain_branches(struct schema_check *c, const struct schema_op *op,
			     const struct schema_place *at);

schema_check_fn schema_check_false, schema_check_type, schema_check_enum,
    schema_check_const, schema_check_order, schema_check_multiple_of,
    schema_check_length, schema_check_size, schema_check_pattern,
    schema_check_format;
schema_check_fn schema_check_unique_items, schema_check_items,
    schema_check_contains, schema_check_unevaluated_items;
schema_check_fn schema_check_required, schema_check_dependent_required,
    schema_check_members, schema_check_property_names,
    schema_check_unevaluated_properties;
schema_check_fn schema_check_ref, schema_check_dynamic_ref, schema_check_all_of,
    schema_check_any_of, schema_check_one_of, schema_check_not, schema_check_if,
    schema_check_dependent_schemas;

#endif
