/* SPDX-License-Identifier: Apache-2.0 */
/* template_index.h - a template as a search knows and shows it. */
#ifndef SUPERVISOR_TEMPLATES_TEMPLATE_INDEX_H
#define SUPERVISOR_TEMPLATES_TEMPLATE_INDEX_H

#include "supervisor/packages/templates/template.h"

/* bytes of a description in a search's answer */
#define TEMPLATE_INDEX_DESCRIPTION 300

/* Fill T->words and T->signature from the manifest, once. */
void template_index(struct template *t);

/*
 * Return {templateId, version, name, description, inputs}; WHOLE: with all of
 * the description, and inputsSchema in place of the signature. The caller's.
 */
struct json_object *template_index_view(const struct template *t, bool whole);

#endif
