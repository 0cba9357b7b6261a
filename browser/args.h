/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - who calls, and its arguments against its action's table. */
#ifndef BROWSER_ARGS_H
#define BROWSER_ARGS_H

#include "browser/browser.h"

/*
 * Fill C from BODY (lent), PROTOCOL.md's. 0, or -1 and a fault, and then some
 * of it may not be there.
 */
int args_take(struct call *c, struct json_object *body);

#endif
