/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_backlog.h - answers that wait until their client reads, and the rows of ended
 * runs that such answers are made of.
 */
#ifndef SUPERVISOR_SESSION_REQUEST_BACKLOG_H
#define SUPERVISOR_SESSION_REQUEST_BACKLOG_H

#include "supervisor/session/request.h"

/*
 * Does REQ's client not read, or read much already? Then a large answer which can
 * be had again is not made yet, since it would take memory. AGAIN (with REQ) is
 * called in REQ's turn, to ask once more.
 */
bool request_backlog_holds(struct request *req, event_callback_fn again);
/*
 * R has ended and is recorded. If REQ's client does not read, answer later from
 * R's row, by run_stored() of REQ's ops. False: answer now.
 */
bool request_backlog_defer(struct request *req, const struct run *r);
/*
 * RUN_ID has ended, and is recorded: read its row, once REQ's client reads what
 * it asked for before, and answer REQ from the row, by run_stored() of REQ's ops.
 */
void request_backlog_present(struct request *req, const char *run_id);
/* REQ needs no answer any more: take REQ out of the backlog, if there. */
void request_backlog_leave(struct request *req);

#endif
