/* SPDX-License-Identifier: Apache-2.0 */
/* diagnostics_fixture.h - the first error of a manifest as one line in errmsg. */
#ifndef TESTS_UNIT_SUPERVISOR_TEMPLATES_DIAGNOSTICS_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_TEMPLATES_DIAGNOSTICS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/packages/templates/manifest.h"

static char errmsg[1024];

/*
 * Write the first error of F as "template.json#/pointer: text" into errmsg: most tests
 * compare the error, not the line.
 */
static inline void first_error(struct diagnostics *f)
{
	const struct diagnostic *g = NULL;

	diagnostics_sort(f);
	if (f->n > 0 && f->all[0].level == DIAGNOSTIC_ERROR)
		g = &f->all[0];
	if (g != NULL && g->file != NULL)
		snprintf(errmsg, sizeof(errmsg), "%s#%s: %s", g->file,
			 g->pointer != NULL ? g->pointer : "", g->text);
	else
		snprintf(errmsg, sizeof(errmsg), "%s",
			 g != NULL ? g->text : "");
}

/* Call manifest_parse(), with the first error in errmsg. */
static inline struct template *manifest_of(const char *text, size_t len)
{
	struct diagnostics f = {0};
	struct template *t = manifest_parse(text, len, &f);

	first_error(&f);
	diagnostics_fini(&f);
	return t;
}

/* "template.json:1:7: text (/pointer)", as a load says, in the form above. */
static inline void point(void)
{
	char *from = strchr(errmsg, ' '), *to = strrchr(errmsg, '(');
	size_t file = strcspn(errmsg, ":");
	char *whole;

	if (from == NULL || to == NULL || to[1] != '/' || errmsg[file] != ':' ||
	    strncmp(errmsg, "template.json", file) != 0)
		return;
	whole = xasprintf("%.*s#%.*s: %.*s", (int)file, errmsg,
			  (int)strcspn(to + 1, ")"), to + 1,
			  (int)(to - 1 - (from + 1)), from + 1);
	snprintf(errmsg, sizeof(errmsg), "%s", whole);
	free(whole);
}

#endif
