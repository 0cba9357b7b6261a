/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what a child tells the supervisor about the run; ipc/egress_proto.h. */
#ifndef EGRESS_RUN_REPORT_H
#define EGRESS_RUN_REPORT_H

#include "egress/run/child.h"

/* for a report to be taken; then the supervisor is lost, and the child ends */
#define REPORT_WAIT_S 60

/* The members that differ; all are lent, and NULL is "". */
struct report {
	enum egress_kind kind;
	enum egress_reason reason;
	uint32_t connection;
	const char *host;
	unsigned port;
	const char *method;
	const char *path; /* PATH_LEN bytes */
	size_t path_len;
	const char *secret, *address;
	uint64_t bytes_up, bytes_down;
};

/* Send R, and wait where the supervisor is slow: so no run makes reports faster than
 * they are read. */
void report_send(struct child *child, const struct report *r);

#endif
