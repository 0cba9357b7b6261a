/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_log.h - a run's log: lines with their time and level, up to
 * limits.logged_bytes; of later lines the end is kept.
 */
#ifndef SUPERVISOR_RUN_RUN_LOG_H
#define SUPERVISOR_RUN_RUN_LOG_H

#include "ipc/msg.h"
#include "supervisor/run/run.h"

#define RUN_LOG_END_MAX 4096u /* bytes kept of the end */

/*
 * Add an entry of LEVEL, a name of MCP's; TEXT's further lines are indented. 0
 * or -errno: there was no room, and the entry is lost.
 */
int run_log_add(struct run *r, const char *level, struct str text);

/* End the log: the kept end of the later lines is put behind the beginning. */
void run_log_close(struct run *r);

/*
 * Put the end of the log into R's error details, when R failed by a limit, a
 * time-out or a crash, and no answer has the printed text.
 */
void run_log_tell(struct run *r);

#endif
