/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - requests of the supervisor that are no actions. */
#ifndef BROWSER_CONTROL_H
#define BROWSER_CONTROL_H

#include "browser/browser.h"

/* Is TOOL one? Then it is answered, and BODY is taken. */
bool control(struct browser *b, uint32_t seq, const char *tool,
	     struct json_object *body);

#endif
