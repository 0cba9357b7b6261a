/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_private.h - what the parts of browser.h share; nobody else includes it.
 *
 *   browser.c         is there one; the program, and what it is told
 *   browser_run.c     what runs call
 *   browser_client.c  what clients call
 *   browser_status.c  how it is, for clients and for the log
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_PRIVATE_H
#define SUPERVISOR_BROWSER_BROWSER_PRIVATE_H

#include "supervisor/browser/browser_process.h"
#include "supervisor/browser/browser.h"

#define BROWSER_REQUEST_MS 10000 /* for what takes no browser */

struct browser {
	struct context *ctx;
	struct browser_process *process;
};

/* The body of an action's CALL: ipc/PROTOCOL.md. R: NULL for a client's own. */
struct json_object *browser_body(const struct requestor *q,
				 enum template_trust trust, const struct run *r,
				 struct json_object *args, int64_t timeout_ms);
/* REQUEST with the one member KEY; nobody waits for its answer. */
void browser_tell(struct browser *b, const char *request, const char *key,
		  const char *value);

#endif
