/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - messages of both runtimes to the supervisor, with cleaned text. */
#ifndef WORKER_REPORT_H
#define WORKER_REPORT_H

#include <stddef.h>
#include <sys/resource.h>

#include "ipc/msg.h"

/* Send a log line. The caller sends held progress before. */
void report_log(unsigned level, const char *p, size_t n);

/* Report a file of the template that became no artifact. */
void report_lost(const struct msg_lost *lost);

/*
 * Send one of the two messages that end a run: open steps are closed and held progress is
 * sent before. DETAILS is the text of a JSON object, or empty.
 */
/* USED: use of resources by this process; NULL: only the supervisor counts. */
void report_result(enum msg_result_kind kind, const struct rusage *used,
		   const char *p, size_t n);
void report_fail(const char *code, const char *message, size_t len,
		 struct str details);

#endif
