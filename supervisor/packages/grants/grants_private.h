/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_private.h - shares the kinds of permissions between grants.c,
 * grants_json.c and grants_draft.c.
 */
#ifndef SUPERVISOR_GRANTS_GRANTS_PRIVATE_H
#define SUPERVISOR_GRANTS_GRANTS_PRIVATE_H

#include "base/buf.h"
#include "supervisor/packages/grants/grants.h"

struct grants_kind {
	const char *key;    /* the key in [grant] */
	const char *member; /* the member in the manifest's permissions */
	const char *shown;  /* the name in views */
	const char *asks;   /* "T asks ..." for one word, in sentences */
	const char *many;   /* as ASKS, for several words */
	/* NULL, or: why no operator can grant this kind */
	const char *nobody;
	bool (*covers)(const struct config_grant *g, const char *word);
};

#define GRANTS_KINDS ((size_t)6)
#define GRANTS_TOOLS (&grants_kinds[0])
#define GRANTS_LOCKS (&grants_kinds[GRANTS_KINDS - 1])
extern const struct grants_kind grants_kinds[GRANTS_KINDS];

enum grants_which { GRANTS_ASKED, GRANTS_HELD, GRANTS_LACKED };

/*
 * Return the words of K that T asks for, limited by WHICH; an array, the
 * caller's.
 */
struct json_object *grants_words(const struct template *t,
				 const struct config *c,
				 const struct grants_kind *k,
				 enum grants_which which);
/* Is T granted WORD of K? */
bool grants_covers(const struct template *t, const struct config *c,
		   const struct grants_kind *k, const char *word);
/*
 * Append a line of paddock.conf for K with the words of LIST; a word that cannot be
 * written or granted becomes a remark.
 */
void grants_put_line(struct buf *b, const struct grants_kind *k,
		     struct json_object *list);
/* Are there grants of T's name that hold for other packages alone? */
bool grants_is_other_package(const struct template *t, const struct config *c);
/* Can WORD be written in paddock.conf? An unknown tool cannot. */
bool grants_is_known(const struct grants_kind *k, const char *word);

#endif
