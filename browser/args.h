/* SPDX-License-Identifier: Apache-2.0 */
/* args.h - the caller of an action, and its arguments. */
#ifndef BROWSER_ARGS_H
#define BROWSER_ARGS_H

#include "browser/browser.h"

/*
 * Fill C from BODY (lent; see PROTOCOL.md). 0, or -1 and a fault; then some
 * fields may be empty.
 */
int args_take(struct call *c, struct json_object *body);

#endif
