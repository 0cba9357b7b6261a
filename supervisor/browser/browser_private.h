/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_private.h - shared by the files of browser.h alone:
 *
 *   browser.c         whether there is a browser; the program and calls to it
 *   browser_run.c     calls of runs
 *   browser_client.c  calls of clients
 *   browser_status.c  the state, for clients and for the log
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_PRIVATE_H
#define SUPERVISOR_BROWSER_BROWSER_PRIVATE_H

#include "supervisor/browser/browser_process.h"
#include "supervisor/browser/browser.h"

#define BROWSER_REQUEST_MS 10000 /* for calls which do not need Chromium */

struct browser {
	struct context *ctx;
	struct browser_process *process;
};

/*
 * Return the body of an action's CALL: ipc/PROTOCOL.md. R: NULL for a client's
 * call.
 */
struct json_object *browser_body(const struct requestor *q,
				 enum template_trust trust, const struct run *r,
				 struct json_object *args, int64_t timeout_ms);
/* Send REQUEST with the single member KEY, without waiting for the answer. */
void browser_tell(struct browser *b, const char *request, const char *key,
		  const char *value);

#endif
