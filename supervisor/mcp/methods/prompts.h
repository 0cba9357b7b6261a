/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.h - the prompts of templates: prompts/list, prompts/get. */
#ifndef SUPERVISOR_METHODS_PROMPTS_H
#define SUPERVISOR_METHODS_PROMPTS_H

#include "supervisor/session/request.h"
#include "supervisor/packages/templates/catalogue_index.h"

#define PROMPT_MAX ((size_t)8 << 20) /* bytes of all messages of a prompt */

void prompts_list(struct request *c);
void prompts_get(struct request *c);

/* Return the prompt NAME, borrowed, if C's client may have it; else NULL. */
const struct catalogue_entry *prompts_find(const struct request *c,
					   const char *name);

#endif
