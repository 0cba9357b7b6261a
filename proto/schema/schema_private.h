/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_private.h - what the files schema_*.c share. Nobody else includes this.
 *
 * schema_load.c turns each subschema of a document into a node and finds its
 * $id and anchors; schema_compile.c gives each node its operations, with
 * every reference resolved to a node (schema_refs.c); schema_check.c and its
 * helpers run them. A compiled schema is a graph of nodes that no longer
 * looks at any keyword. What only the way there needs is in schema_compiler.h.
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

/* Bounds on a schema… */

/* subschemas, those of referred documents too */
#define SCHEMA_NODES_MAX 10000
#define SCHEMA_DEPTH_MAX 64	/* of subschemas in each other */
#define SCHEMA_INLINE_MAX 200	/* of $ref, allOf and the like on one value */
#define SCHEMA_DOCS_MAX 100	/* documents referred to */
#define SCHEMA_META_MAX 4	/* metaschemas of metaschemas */
#define SCHEMA_URI_MAX 2048	/* bytes */
#define SCHEMA_PATTERN_MAX 4096 /* bytes of one regular expression */
/* of memory for all of them, compiled */
#define SCHEMA_PATTERNS_BYTES (4u << 20)
#define SCHEMA_ANCHORS_MAX 1000	 /* of one resource */
#define SCHEMA_RESOURCES_MAX 500 /* $id */
/* …and on one validation. */
#define CHECK_DEPTH_MAX 1000 /* subschemas being checked at once */
/* writeOnly values; when more, none is shown */
#define CHECK_SECRETS_MAX 1000
/* steps of one match: it cannot be asked in between */
#define CHECK_MATCH_MAX 2000000
#define CHECK_MATCH_KIB 32768 /* of memory for one match */
#define CHECK_NEAR_MAX 200    /* names among which a misspelt one is sought */

/* What takes longer than the plainest subschema, in steps… */
#define COST_ERROR 60	 /* an error in words */
#define COST_LOOKUP 3	 /* a member sought by its name */
#define COST_MEMBER 5	 /* a member of a large object, and its name */
#define COST_HASHED 3	 /* a value put into a table, or sought there */
#define COST_NAME 10	 /* a string made of a member's name */
#define COST_NEAR 40	 /* two names compared for how near they are */
#define COST_SEEN 2	 /* what was evaluated, where that counts */
#define COST_DIVIDE 8	 /* numbers that are no integers divided */
#define COST_NODE 50	 /* a subschema compiled */
#define COST_PATTERN 500 /* a regular expression compiled */
/* …and bytes that a step is enough for. */
#define BYTES_EQUAL 256u
#define BYTES_HASHED 64u
#define BYTES_COUNTED 32u
#define BYTES_FORMAT 2u
#define DIGITS_COMPARED 8u
#define ITEMS_TABLED 8u /* elements that a table is made for */

/* Types of instances; a double is T_REAL even where it is an integer. */
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

/* Vocabularies; draft-07 counts as one. */
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

/* Writes into a caller's array and cuts there, between characters. */
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
/* A scalar as JSON, cut when long; "an object", "an array". */
void schema_put_value(struct schema_text *t, struct json_object *v);
void schema_put_types(struct schema_text *t,
		      unsigned types); /* "a string or null" */
void schema_put_token(struct schema_text *t, const char *key); /* "/a~1b" */

/* ---- numbers (schema_number.c) ---- */

/* A JSON number: its double, and what is needed to compare it exactly. */
struct schema_num {
	double d;
	uint64_t mag; /* |n| of an integer */
	bool neg;
	bool integer;	  /* of json_type_int */
	const char *text; /* of a double; borrowed, or NULL: see buf */
	char buf[32];	  /* by schema_num_text(), or "" */
};

/* N in decimal. N is changed: not for one that threads share. */
const char *schema_num_text(struct schema_num *n);
size_t schema_num_steps(const struct schema_num *n); /* to go through it */

void schema_num_of(struct schema_num *n, struct json_object *v);
int schema_num_cmp(const struct schema_num *a, const struct schema_num *b);
bool schema_num_is_integer(const struct schema_num *n); /* 1.0 is one */
bool schema_num_multiple(const struct schema_num *n,
			 const struct schema_num *of);

/* ---- values (schema_value.c) ---- */

unsigned schema_type_of(struct json_object *v);
/* Keyed: nobody can make names and values whose hashes are the same. */
uint64_t schema_hash_bytes(uint64_t h, const void *p, size_t n);
bool schema_equal(struct schema_check *c, struct json_object *a,
		  struct json_object *b);
uint64_t schema_hash(struct schema_check *c, struct json_object *v);
/* Finds two equal elements of ARRAY; NULL C: no bound. */
bool schema_find_twins(struct schema_check *c, struct json_object *array,
		       size_t *first, size_t *second);

/* The values of an enum, found by hash. */
struct schema_set {
	struct json_object *array;
	size_t slots;	/* a power of two */
	uint32_t *slot; /* index + 1 of an element, or 0 */
	uint64_t *hash; /* of the element in that slot */
};

struct schema_set *schema_set_new(struct schema *s, struct schema_check *c,
				  struct json_object *array);
bool schema_set_has(struct schema_check *c, const struct schema_set *set,
		    struct json_object *v);

/* ---- regular expressions (schema_regex.c, schema_pattern.c) ---- */

/* An ECMA-262 expression rewritten for PCRE2. */
struct schema_regex {
	char *text; /* free(3) it */
	size_t len;
	uint32_t weight;   /* steps of one start that PCRE2 does not count */
	uint32_t per_byte; /* the same, for each byte of the subject */
};

/* 0, or -EINVAL with ERRMSG (a clause) filled. */
int schema_regex_translate(struct schema_regex *out, const char *p, size_t len,
			   struct schema_text *errmsg);
/* The PCRE2 name of an ECMA-262 property expression, or false. */
bool schema_regex_property(struct schema_text *out, const char *p, size_t len);

struct schema_pattern;
struct schema_matcher; /* PCRE2's working memory for one validation */

int schema_pattern_new(struct schema_pattern **out, const char *p, size_t len,
		       struct schema_text *errmsg);
void schema_pattern_free(struct schema_pattern *p);
const char *schema_pattern_text(const struct schema_pattern *p);
size_t schema_pattern_bytes(const struct schema_pattern *p); /* of memory */
/* 1: it matches. 0: it does not. -E2BIG: C's steps, or memory, are used up. */
int schema_pattern_match(const struct schema_pattern *p, struct schema_check *c,
			 const char *s, size_t len);
void schema_matcher_free(struct schema_matcher *m);

/* ---- formats (schema_format*.c) ---- */

struct schema_format {
	const char *name;
	const char *expected; /* "a date (YYYY-MM-DD)" */
	schema_format_fn *good;
};

/* The format named NAME, or NULL: it only annotates. */
const struct schema_format *schema_format_find(const char *name);
/* Does the standard know it, whether or not it is checked? */
bool schema_format_is_known(const char *name);
void schema_format_near(struct suggest *suggest); /* try all of them */
/* What it takes to see whether LEN bytes are so. */
size_t schema_format_steps(const struct schema_format *f, size_t len);

/* ---- URIs (schema_uri.c) ---- */

/* REF resolved against BASE (RFC 3986, section 5.2), without its fragment. */
char *schema_uri_resolve(const char *base, const char *ref);
/* The fragment of REF, percent-decoded; "" when none. Both: free(3). */
char *schema_uri_fragment(const char *ref);

/* ---- the graph ---- */

struct schema_anchor {
	struct schema_anchor *next;
	const char *name;
	struct schema_node *node;
	bool dynamic;
};

/* A schema resource: what has an $id, or a whole document. */
struct schema_resource {
	const char *uri; /* absolute where it can be, no fragment */
	struct schema_node *root;
	struct schema_anchor *anchors;
	unsigned vocabs;
};

enum {
	NODE_PLAIN = -1, /* no index */
	NODE_RAW = -2,	 /* keyword is a whole piece of JSON Pointer */
};

/* One subschema. Where it stands is for compiling alone. */
struct schema_node {
	struct schema_op *ops;
	uint32_t nops;
	bool write_only;
	bool watch;	/* has unevaluated…: what its neighbours see counts */
	uint8_t colour; /* of the search for endless references */
	const struct schema_resource *home;

	struct json_object *json;
	struct schema_node *up;
	const char *keyword; /* of UP that leads here; NULL at a root */
	const char *member;  /* below that keyword, or NULL */
	int index;	     /* likewise, or one of NODE_… */
	unsigned depth;
	struct schema_node *next; /* in the order of compiling */
};

/* Where N stands in its document (schema_load.c). */
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

/* One assertion or applicator, and the instances that it concerns. */
struct schema_op {
	schema_check_fn *check;
	const char *keyword;
	unsigned types;
	bool in_place; /* its nodes look at the same value */
	bool last;     /* it says nothing once another op has failed */
	int8_t least;  /* the order that is good: less than u.num or… */
	int8_t most;   /* …u.count (-1), the same (0), or more (1) */
	const char *relation; /* that in words: "at least" */
	uint32_t nnodes;
	struct schema_node **nodes; /* a NULL among them: absent */
	union {
		unsigned mask;
		uint64_t count;
		struct json_object *value;
		struct schema_num *num;
		struct schema_set *set;
		const char **names; /* COUNT of names is in n */
		const char *anchor;
		struct schema_pattern *pattern;
		const struct schema_format *format;
		struct schema_members *members;
		struct schema_contains *contains;
		struct schema_needs *needs;
	} u;
	size_t n;
	/* of required: beside it, or NULL */
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
	size_t mask;		    /* slots - 1 */
	const char **names;	    /* in the schema's order */
	size_t nnames;
	struct schema_pattern **patterns;
	struct schema_node **pattern_nodes;
	size_t npatterns;
	struct schema_node *additional; /* or NULL */
	const char *additional_keyword;
};

struct schema_contains {
	struct schema_node *node;
	uint64_t min, max; /* max UINT64_MAX: none */
};

/* dependentRequired: when NAME is there, NEEDS must be. */
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
	struct schema_doc *docs; /* by URI */
	struct schema_holder *kept;
	struct schema_pattern **patterns;
	size_t npatterns;
	size_t pattern_bytes; /* of memory, of all these */
	bool secrets;	      /* some node is writeOnly */
};

/* Zeroed memory that lives as long as S. */
void *schema_alloc(struct schema *s, size_t n, size_t size);
char *schema_strdup(struct schema *s, const char *p);
/* Keeps DOC until S is freed; takes the reference. */
void schema_keep(struct schema *s, struct json_object *doc);
int schema_keep_pattern(struct schema *s, struct schema_pattern **out,
			const char *p, size_t len, struct schema_text *errmsg);

/* ---- checking ---- */

/* Which members or elements have been evaluated (for unevaluated…). */
struct schema_seen {
	size_t n;
	uint64_t *bits; /* &word while n <= 64 */
	uint64_t word;
};

void schema_seen_init(struct schema_seen *s, struct json_object *v);
void schema_seen_fini(struct schema_seen *s);
void schema_seen_add(struct schema_seen *s, size_t i); /* S may be NULL */
void schema_seen_add_upto(struct schema_seen *s, size_t n);
bool schema_seen_has(const struct schema_seen *s, size_t i);
void schema_seen_merge(struct schema_seen *s, const struct schema_seen *from);

/* Where errors go. NULL in a check: only the verdict is wanted. */
struct schema_sink {
	struct schema_error *errs;
	size_t max;			 /* kept */
	size_t stop;			 /* enough */
	size_t n;			 /* found */
	const struct schema_place *base; /* of an alternative, or NULL */
	bool mismatch; /* the alternative is of another type or tag */
};

struct schema_check {
	const struct schema *s;
	int rc;		  /* -E2BIG, -ETIME: a bound was met */
	bool all;	  /* do not stop at the first failure */
	bool mark;	  /* only gather what is writeOnly */
	bool hide;	  /* show no value at all */
	uint64_t steps;	  /* used */
	uint64_t look_at; /* when so many are: is it too much, is it asked? */
	struct schema_budget *budget;
	uint64_t blame_from; /* rc: who spent so many is to blame… */
	const struct schema_node *blamed; /* …the innermost who did, and… */
	const struct schema_op *blamed_op; /* …how */
	size_t nscope;
	struct schema_matcher *matcher;
	struct schema_sink *sink;
	struct schema_error *stop; /* says which bound was met, or NULL */
	struct json_object **secret;
	size_t nsecret;
	size_t depth;
	/* The resources that were entered on the way, outermost first. */
	const struct schema_resource *scope[CHECK_DEPTH_MAX];
};

/* schema_check.c */
bool schema_run(struct schema_check *c, const struct schema_node *n,
		const struct schema_place *at, struct schema_seen *seen);
/*
 * Does AT pass N? What N evaluated counts only when it does; no error is
 * reported. While marking, N is walked and the answer is of no interest.
 */
bool schema_passes(struct schema_check *c, const struct schema_node *n,
		   const struct schema_place *at, struct schema_seen *seen);
bool schema_is_false(const struct schema_node *n);
/* CHILD, the Ith, under an unevaluated… unless it was seen. WHAT: "an item". */
bool schema_unevaluated(struct schema_check *c, const struct schema_op *op,
			const struct schema_place *child, size_t i,
			struct schema_seen *seen, const char *what);
/* False: that is too many, or time is up. C may be NULL. */
bool schema_look(struct schema_check *c);
static inline bool schema_step(struct schema_check *c, uint64_t n)
{
	if (c == NULL)
		return true;
	c->steps += n;
	return c->steps < c->look_at ? c->rc == 0 : schema_look(c);
}
bool schema_enough(const struct schema_check *c); /* after a failure: stop? */
/* Why there is no verdict: E gets the place in the schema. */
void schema_blame(struct schema_check *c, struct schema_error *e);
/* A bound was met at AT: no verdict. Returns false. */
bool schema_give_up(struct schema_check *c, const struct schema_place *at,
		    const char *keyword, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* P is not matched to the end: AT has WHAT ("takes") too long. */
bool schema_too_long(struct schema_check *c, const struct schema_place *at,
		     const char *keyword, const char *what,
		     const struct schema_pattern *p);
/* Likewise, and the limit that was met is no bound on depth. */
void schema_met(struct schema_check *c, const char *limit, uint64_t allowed);

/* schema_error.c. Each returns false, and formats only when wanted. */
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
/* All branches of OP failed: say which came nearest. schema_explain.c. */
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
