/* SPDX-License-Identifier: Apache-2.0 */
/* schema_regex.h - what the two files schema_regex*.c share. */
#ifndef PROTO_SCHEMA_SCHEMA_REGEX_H
#define PROTO_SCHEMA_SCHEMA_REGEX_H

#include "base/buf.h"
#include "proto/schema/schema_private.h"

#define REGEX_GROUPS_MAX 200  /* capturing ones */
#define REGEX_NESTING_MAX 100 /* of groups */
#define REGEX_NONE "(?!)"     /* matches nowhere */

struct regex_name {
	const char *p;
	size_t len;
	unsigned group;
};

struct regex_level {
	bool look;	 /* a lookahead or lookbehind */
	uint32_t weight; /* of what stands in the group so far */
};

struct regex {
	const char *p, *end;
	struct buf out;
	struct schema_text *errmsg;
	unsigned groups; /* in the whole expression */
	struct regex_name names[REGEX_GROUPS_MAX];
	size_t nnames;
	struct regex_level level[REGEX_NESTING_MAX + 1];
	unsigned depth;
	unsigned looks;	 /* levels that are lookarounds */
	uint32_t item;	 /* weight of the last item */
	bool repeatable; /* the last item may be quantified */
	uint32_t per_byte;
	bool in_class;
	const char *spelt; /* so far it is in strict, as ECMA-262 has it */
	struct buf strict;
};

static inline bool regex_at_end(const struct regex *r)
{
	return r->p == r->end;
}

int regex_bad(struct regex *r, const char *errmsg); /* -EINVAL */
bool regex_next_is(const struct regex *r, const char *s);
bool regex_accept(struct regex *r, const char *s); /* and moves on */
void regex_put(struct regex *r, const char *s);
/* The item before is done with; the next one begins. */
void regex_item(struct regex *r, bool repeatable);
void regex_literal(struct regex *r, uint32_t cp);
/* [FROM, TO) is leniency: ECMA-262 spells it WITH. */
void regex_spell(struct regex *r, const char *from, const char *to,
		 const char *with);

/* schema_regex_atom.c */
uint32_t regex_take_char(struct regex *r); /* one of valid UTF-8 */
int regex_class(struct regex *r);	   /* after the "[" */
/*
 * After the backslash. An escape for one character: 1 and *OUT. One for a
 * set (it is put): 1. Another kind: 0. Or -EINVAL.
 */
int regex_take_escape(struct regex *r, uint32_t *out);
int regex_set_escape(struct regex *r, bool in_class);
int regex_bad_escape(struct regex *r); /* it is none that is known */

#endif
