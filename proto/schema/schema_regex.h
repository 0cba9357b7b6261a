/* SPDX-License-Identifier: Apache-2.0 */
/* schema_regex.h - declarations for schema_regex.c and schema_regex_atom.c. */
#ifndef PROTO_SCHEMA_SCHEMA_REGEX_H
#define PROTO_SCHEMA_SCHEMA_REGEX_H

#include "base/buf.h"
#include "proto/schema/schema_private.h"

#define REGEX_GROUPS_MAX 200  /* most capturing groups */
#define REGEX_NESTING_MAX 100 /* most nested groups */
#define REGEX_NONE "(?!)"     /* an expression that matches nowhere */

struct regex_name {
	const char *p;
	size_t len;
	unsigned group;
};

struct regex_level {
	bool look;	 /* the group is a lookahead or lookbehind */
	uint32_t weight; /* weight of the group so far */
};

struct regex {
	const char *p, *end;
	struct buf out;
	struct schema_text *errmsg;
	unsigned groups; /* groups in the whole expression */
	struct regex_name names[REGEX_GROUPS_MAX];
	size_t nnames;
	struct regex_level level[REGEX_NESTING_MAX + 1];
	unsigned depth;
	unsigned looks;	 /* open levels that are lookarounds */
	uint32_t item;	 /* weight of the last item */
	bool repeatable; /* the last item may be quantified */
	uint32_t per_byte;
	bool in_class;
	const char *spelt; /* input copied to strict so far */
	struct buf strict;
};

static inline bool regex_at_end(const struct regex *r)
{
	return r->p == r->end;
}

int regex_bad(struct regex *r, const char *errmsg); /* returns -EINVAL */
bool regex_next_is(const struct regex *r, const char *s);
/* moves past S when it is next */
bool regex_accept(struct regex *r, const char *s);
void regex_put(struct regex *r, const char *s);
/* End the item before and begin the next. */
void regex_item(struct regex *r, bool repeatable);
/* Spell the lenient text [FROM, TO) as WITH in the strict expression. */
void regex_spell(struct regex *r, const char *from, const char *to,
		 const char *with);

/* functions of schema_regex_atom.c */
uint32_t regex_take_char(struct regex *r); /* a character of valid UTF-8 */
int regex_class(struct regex *r);	   /* called after "[" */
/*
 * Take an escape, after the backslash. regex_take_escape(): 1 and the character
 * in *OUT. regex_set_escape(): 1, with the set translated. Both: 0 for another
 * kind of escape, or -EINVAL.
 */
int regex_take_escape(struct regex *r, uint32_t *out);
int regex_set_escape(struct regex *r, bool in_class);
int regex_bad_escape(struct regex *r); /* reports an unknown escape */

#endif
