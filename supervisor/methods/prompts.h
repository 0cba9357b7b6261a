/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.h - the prompts that templates offer: prompts/list, prompts/get. */
#ifndef SUPERVISOR_METHODS_PROMPTS_H
#define SUPERVISOR_METHODS_PROMPTS_H

#include "supervisor/session/request.h"
#include "supervisor/templates/catalogue_index.h"

#define PROMPT_MAX ((size_t)8 << 20) /* bytes of all that its messages say */

void prompts_list(struct request *c);
void prompts_get(struct request *c);

/* The prompt NAME, if C's client may have it; else NULL. Borrowed. */
const struct catalogue_entry *prompts_find(const struct request *c,
					   const char *name);

#endif
