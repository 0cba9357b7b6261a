/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxied_request.h - a request that waits here for a remote run, and may be asked
 * the run's questions: it is a guest there (remote_waiters.h), and comes back
 * with answers as it would at the run's machine.
 */
#ifndef SUPERVISOR_CLUSTER_PROXIED_REQUEST_H
#define SUPERVISOR_CLUSTER_PROXIED_REQUEST_H

#include "supervisor/run/run.h"
#include "supervisor/session/request.h"

struct proxied_request;

/*
 * Make REQ, which watches R, a guest that comes back to ROUND with ANSWERS (lent,
 * or NULL). REQ's ops tell the result later (asked_abroad, not_heard). The visit
 * is the caller's; NULL: the answers are too large to be sent (CLUSTER_ANSWERS_MAX).
 */
struct proxied_request *proxied_request_new(struct request *req, struct run *r,
					    uint32_t round,
					    struct json_object *answers);
/*
 * Free V: REQ waits no more. With CANCEL the run ends, unless another client
 * waits for it. NULL is fine.
 */
void proxied_request_leave(struct proxied_request *v, bool cancel);

/*
 * For runs_ops: R's ROW was read. It may have questions for R's visits; a visit
 * that is asked is over. ROW NULL: R's owner is gone, and R is to be tried
 * again (not_heard, -EAGAIN).
 */
void proxied_request_shown(struct run *r, const struct store_run *row);

#endif
