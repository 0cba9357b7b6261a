/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h - the audit log: the actor, the run and the outcome of each action,
 * as a JSON line.
 */
#ifndef SUPERVISOR_RUN_AUDIT_H
#define SUPERVISOR_RUN_AUDIT_H

#include "ipc/egress_proto.h"
#include "supervisor/spawn/isolation.h"
#include "supervisor/run/run.h"

/*
 * The entries of a kind in a minute for a requestor. Further entries are
 * counted. Beginnings and ends of runs have no such bound.
 */
#define AUDIT_MINUTE_MAX 600
/* Write the number of held-back entries; as log_held_back(). */
void audit_held_back(bool final);

/*
 * Append to PATH from now on, or (again) after PATH was rotated; NULL: no audit
 * log. 0, or -errno with the old file still in use.
 */
int audit_open(const char *path);

/*
 * Returns -errno while entries cannot be written, or 0. Entries are lost
 * meanwhile; the first entry after a loss is followed by an entry "lost" with
 * the number.
 */
int audit_failing(void);

/*
 * Write an entry WHAT ("run_created", "run_cancel_asked") of R's requestor
 * about R.
 */
void audit_run(const char *what, const struct run *r);
/* Write that PARENT, which is run again, got the result of CHILD. */
void audit_reused(const struct run *parent, const struct store_run *child);
/*
 * Write about R's question SEQ: asked ("input_asked"), answered or refused.
 * HOW: the method, the action or the errorCode, or NULL. The content is not
 * written.
 */
void audit_input(const char *what, const struct run *r, uint32_t seq,
		 const char *how);
/*
 * Write that TOOL of the browser was used for REQUESTOR, by run ID or (NULL) a
 * client. CODE: the error; NULL: the tool succeeded.
 */
void audit_browser(const struct requestor *requestor, const char *id,
		   const char *tool, const char *code);
/*
 * Write that R connected to a host ("network"), was refused, or sent a request with a
 * secret, by REPORT.
 */
void audit_network(const struct run *r, const struct egress_report *report);
/*
 * Write that REQUESTOR has deleted N runs: the run ID; or runs that ended
 * before BEFORE_MS, of the given template and status (NULL: any).
 */
void audit_deleted(const struct requestor *requestor, const char *id,
		   const char *template_id, const char *status,
		   int64_t before_ms, int64_t n);
/* Write that REQUESTOR uploaded the artifact ID, which the store has. */
void audit_uploaded(const struct requestor *requestor, const char *id,
		    int64_t bytes, const char *sha256);
/*
 * Write that REQUESTOR deleted N of its uploads: the artifact ID, or all
 * uploads of before BEFORE_MS.
 */
void audit_uploads_deleted(const struct requestor *requestor, const char *id,
			   int64_t before_ms, int64_t n);
/* Write the number and error of R's last attempt; another attempt follows. */
void audit_attempt(const struct run *r);
/* Write R's end: its outcome, duration and isolation. */
void audit_end(const struct run *r, const struct isolation *iso);
/*
 * Write an entry WHAT ("grant_proposed", "grant_approved", "grant_rejected") of REQUESTOR
 * about the proposal ID of OWNER, for the package DIGEST of a template.
 */
void audit_grant(const char *what, const struct requestor *requestor,
		 const char *id, const char *owner, const char *template_id,
		 const char *digest);
/*
 * Write an entry WHAT of REQUESTOR about task ID, with STATUS (NULL: not said).
 */
void audit_task(const char *what, const struct requestor *requestor,
		const char *id, const char *status);
/*
 * Write that REQUESTOR asked for TOOL about ID, and was refused: CODE. NULL is
 * left out, and so is a text too long for a name.
 */
void audit_refused(const struct requestor *requestor, const char *tool,
		   const char *id, const char *code);

#endif
