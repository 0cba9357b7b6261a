/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - use of the browser: by runs through run.call, by clients through
 * tools. Calls go to paddock-browser, which checks arguments and addresses, and
 * knows the owner of each session.
 */
#ifndef SUPERVISOR_BROWSER_BROWSER_H
#define SUPERVISOR_BROWSER_BROWSER_H

#include <stdbool.h>
#include <sys/types.h>

#include "ipc/browser_proto.h"
#include "supervisor/session/request.h"
#include "supervisor/config/config.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/run.h"
#include "supervisor/context.h"
#include "supervisor/run/worker/worker.h"

struct browser; /* of a server: ctx.browser */

/*
 * Make the browser; nothing is started yet. PROGRAM is paddock-browser's path,
 * *lent* for good.
 */
struct browser *browser_new(struct context *ctx, const char *program);
void browser_stop(struct browser *b); /* ends the program; NULL is fine */
void browser_free(struct browser *b); /* NULL is fine */
bool browser_exited(struct browser *b, pid_t pid, int status);

/*
 * Return why paddock-browser did not start, or did not answer, when it was last
 * needed; NULL: no fault is known.
 */
const char *browser_trouble(const struct browser *b);

/*
 * Open a tab and call DONE with NULL, or with why the browser does not work
 * (lent for the call). B is not freed before.
 */
void browser_try(struct browser *b, void (*done)(void *arg, const char *errmsg),
		 void *arg);

/* Return the Chromium program to start, or NULL. */
const char *browser_chromium(const struct config *config);
/*
 * Return why there is no browser, and what would help; NULL: there is a
 * browser.
 */
const char *browser_lacks(const struct config *config);

/*
 * Call DONE, now or later, unless REQ is dropped before, with what REQ's client may
 * know of the browser, which DONE owns: {available, reason?, path?, version?,
 * sandboxed?, cage?}; the last three only while the client has a session, so
 * that the view does not disclose what others do. REQ.state is in use until then.
 */
void browser_view(struct request *req,
		  void (*done)(struct request *req, struct json_object *view));

/* Log the state of the browser, and its users; perhaps later. */
void browser_log(struct browser *b);

/* May T run, as to the browser? If not, R says why. */
bool browser_allow(const struct template *t, const struct config *config,
		   struct tool_error *r);

/* Answer ASK, a CALL of R; see worker_on_question. */
void browser_ask(struct browser *b, struct run *r,
		 const struct worker_question *ask);
void browser_drop(struct run *r, uint32_t seq); /* see worker_on_drop */

/* May the client of S call ACTION itself? */
bool browser_offers(const struct session *s,
		    const struct browser_proto_action *action);
/* Answer REQ with the result of ACTION for ARGS (*lent*), which are unchecked. */
void browser_call(struct request *req,
		  const struct browser_proto_action *action,
		  struct json_object *args);

/*
 * Is ID a session which REQ's client may give to a run? Calls DONE, now or later,
 * unless REQ is dropped before; REQ.state is in use until then.
 */
void browser_find_session(struct request *req, const char *id,
			  void (*done)(struct request *req, bool found));

/* End the sessions of requestors who are gone. */
void browser_requestors_changed(struct browser *b);

#endif
