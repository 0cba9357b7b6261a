/* SPDX-License-Identifier: Apache-2.0 */
/* prompts.h - the prompts of templates: prompts/list, prompts/get. */
#ifndef SUPERVISOR_METHODS_PROMPTS_H
#define SUPERVISOR_METHODS_PROMPTS_H

#include "supervisor/session/request.h"
#include "supervisor/packages/templates/catalogue_index.h"

#define PROMPT_MAX ((size_t)8 << 20) /* bytes of all messages of a prompt */

void prompts_list(struct request *req);
void prompts_get(struct request *req);

/* Return the prompt NAME, borrowed, if REQ's client may have it; else NULL. */
const struct catalogue_entry *prompts_find(const struct request *req,
					   const char *name);

#endif
