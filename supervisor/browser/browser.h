/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.h - who may do what with the browser: runs by run.call, clients by
 * tools of their own. What is asked goes to paddock-browser, which checks
 * arguments and addresses, and knows whose each session is.
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
#include "supervisor/worker/worker.h"

struct browser; /* of one server: ctx.browser */

/* Nothing is started yet. PROGRAM is paddock-browser's path, lent for good. */
struct browser *browser_new(struct context *ctx, const char *program);
void browser_stop(struct browser *b); /* the program; NULL is fine */
void browser_free(struct browser *b); /* and what is left; NULL is fine */
bool browser_exited(struct browser *b, pid_t pid, int status);

/* The program that would be started; NULL: there is none. */
const char *browser_chromium(const struct config *config);
/* Why there is no browser here, and what would help; NULL: there is one. */
const char *browser_lacks(const struct config *config);

/*
 * DONE is called, perhaps later, unless C is dropped before, with what its
 * client may know of the browser, DONE's to put: {available, reason?, path?,
 * version?, sandboxed?, cage?}; the last three while it has a session, so that nobody
 * sees by them what others do. C.state is in use until then.
 */
void browser_view(struct request *c,
		  void (*done)(struct request *c, struct json_object *view));

/* Lines of the log: what runs, and for whom; perhaps later. */
void browser_log(struct browser *b);

/* May T run, as to the browser? One that needs it is refused in R without. */
bool browser_allow(const struct template *t, const struct config *config,
		   struct tool_error *r);

/* ASK is a CALL of R's; see worker_on_question. */
void browser_ask(struct browser *b, struct run *r,
		 const struct worker_question *ask);
void browser_drop(struct run *r, uint32_t seq); /* see worker_on_drop */

/* May the client of S use ACTION itself? */
bool browser_offers(const struct session *s,
		    const struct browser_proto_action *action);
/* C is answered with what ACTION gives for ARGS (lent), which are unchecked. */
void browser_call(struct request *c, const struct browser_proto_action *action,
		  struct json_object *args);

/*
 * Is ID a session that C's client may give to a run? DONE is called, perhaps
 * later, unless C is dropped before; C.state is in use until then.
 */
void browser_find_session(struct request *c, const char *id,
			  void (*done)(struct request *c, bool found));

/* Requestors may be gone: so are their sessions. */
void browser_requestors_changed(struct browser *b);

#endif
