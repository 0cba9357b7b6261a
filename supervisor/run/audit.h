/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.h - who did what, which run, with what outcome: a JSON line each.
 */
#ifndef SUPERVISOR_RUN_AUDIT_H
#define SUPERVISOR_RUN_AUDIT_H

#include "supervisor/spawn/isolation.h"
#include "supervisor/run/run.h"

/*
 * So many entries of a kind a minute are written for a requestor, but those of
 * runs' beginnings and ends, which are written all. The others are counted.
 */
#define AUDIT_MINUTE_MAX 600
/* Tell how many were held back; as log_held_back(). */
void audit_held_back(bool final);

/* Append to PATH from now on, or (again) after it was rotated; NULL: no audit
   log. 0, or -errno with the old file still in use. */
int audit_open(const char *path);

/* -errno while entries cannot be written, or 0. They are lost then, and the first
   that is written again is followed by an entry "lost", with how many. */
int audit_failing(void);

/* WHO did WHAT ("run_created", "run_cancel_asked"), and R is the run. */
void audit_run(const char *what, const struct run *r);
/* R's question SEQ was asked ("input_asked"), answered or refused; HOW: by
   which method, with which action or errorCode, or NULL. Not the content. */
void audit_input(const char *what, const struct run *r, uint32_t seq,
		 const char *how);
/* TOOL of the browser was used for REQUESTOR, by run ID or (NULL) a client:
   CODE is what came of it, NULL: it was done. */
void audit_browser(const struct requestor *requestor, const char *id,
		   const char *tool, const char *code);
/* REQUESTOR has deleted N runs: that one (ID), or those that ended before
   BEFORE_MS, of that template and status (NULL: any). */
void audit_deleted(const struct requestor *requestor, const char *id,
		   const char *template_id, const char *status,
		   int64_t before_ms, int64_t n);
/* The same of what it uploaded: that one, or what came before BEFORE_MS. */
void audit_uploads_deleted(const struct requestor *requestor, const char *id,
			   int64_t before_ms, int64_t n);
/* An attempt at R has ended, and another is to follow: its number and error. */
void audit_attempt(const struct run *r);
/* R has ended: its outcome, how long it took, how it was isolated. */
void audit_end(const struct run *r, const struct isolation *iso);
/* REQUESTOR did WHAT with task ID, which is now STATUS (NULL: not said). */
void audit_task(const char *what, const struct requestor *requestor,
		const char *id, const char *status);
/* REQUESTOR asked for TOOL about ID, and was refused: CODE. NULLs are left
   out, and so is what is too long to be a name. */
void audit_refused(const struct requestor *requestor, const char *tool,
		   const char *id, const char *code);

#endif
