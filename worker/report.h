/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what both runtimes tell the supervisor, cleaned as it must be. */
#ifndef WORKER_REPORT_H
#define WORKER_REPORT_H

#include <stddef.h>
#include <sys/resource.h>

#include "ipc/msg.h"

/* A log line. Progress that is held back is the caller's to send before. */
void report_log(unsigned level, const char *p, size_t n);

/* Something that the template made is no artifact. */
void report_lost(const struct msg_lost *lost);

/*
 * The two messages that end a run: steps that are open are closed before, and
 * progress is sent. DETAILS is the text of an object, or empty.
 */
/* USED: by this process until now; NULL: the supervisor counts it alone. */
void report_result(enum msg_result_kind kind, const struct rusage *used,
		   const char *p, size_t n);
void report_fail(const char *code, const char *message, size_t len,
		 struct str details);

#endif
