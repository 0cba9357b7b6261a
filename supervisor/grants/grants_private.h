/* SPDX-License-Identifier: Apache-2.0 */
/* grants_private.h - the kinds of permissions, for grants.c and grants_json.c. */
#ifndef SUPERVISOR_GRANTS_GRANTS_PRIVATE_H
#define SUPERVISOR_GRANTS_GRANTS_PRIVATE_H

#include "supervisor/grants/grants.h"

struct grants_kind {
	const char *key;    /* of [grant] */
	const char *member; /* of the manifest's permissions */
	const char *shown;  /* in views */
	const char *asks;   /* "T asks …" for one */
	const char *many;   /* and for several */
	const char *nobody; /* NULL, or: why it can be had by none */
	bool (*covers)(const struct config_grant *g, const char *word);
};

#define GRANTS_KINDS ((size_t)5)
#define GRANTS_TOOLS (&grants_kinds[0])
#define GRANTS_LOCKS (&grants_kinds[GRANTS_KINDS - 1])
extern const struct grants_kind grants_kinds[GRANTS_KINDS];

enum grants_which { GRANTS_ASKED, GRANTS_HELD, GRANTS_LACKED };

/* Those words of K that T asks for; an array, the caller's. */
struct json_object *grants_words(const struct template *t,
				 const struct config *c,
				 const struct grants_kind *k,
				 enum grants_which which);
/* Are there grants of T's name that hold for other packages alone? */
bool grants_is_other_package(const struct template *t, const struct config *c);
/* Can WORD be written in paddock.conf? A tool that there is not cannot. */
bool grants_is_known(const struct grants_kind *k, const char *word);

#endif
