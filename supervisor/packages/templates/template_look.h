/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_look.h - finds whether the folder that a program runs from is still
 * as it was loaded.
 *
 * The owner of the package decides how long a look takes, so a thread looks
 * (threads/package_look.h); the loop keeps the result.
 */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_LOOK_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_LOOK_H

#include "supervisor/packages/templates/template.h"

/*
 * A larger package is not read again: other metadata make it another package.
 */
#define TEMPLATE_LOOK_BYTES ((uint64_t)4 << 20)

struct template_look {
	const struct template *t; /* lent */
	char stamp[65]; /* in: the known stamp; out: the stamp found */
	int rc;
	bool lasts; /* every later look would fail, too, until a reload */
	int64_t us; /* duration of the look */
	char errmsg[1024];
};

/*
 * Is a look at T needless? 0: T is unchanged, -ESTALE: T was changed. Else
 * -EINPROGRESS.
 */
int template_look_known(const struct template *t);

/* Prepare L for a look at T, on the loop. */
void template_look_init(struct template_look *l, const struct template *t);
/*
 * Look, on any thread. L.RC is 0, -ESTALE with a remedy in L.ERRMSG, or another
 * errno, a passing failure that says nothing of the package.
 */
void template_look(struct template_look *l);
/* Keep the result of L in T, L's template, on the loop. */
void template_look_keep(const struct template_look *l, struct template *t);

#endif
