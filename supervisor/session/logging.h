/* SPDX-License-Identifier: Apache-2.0 */
/* logging.h - what runs log, as notifications/message. */
#ifndef SUPERVISOR_SESSION_LOGGING_H
#define SUPERVISOR_SESSION_LOGGING_H

#include "supervisor/session/session.h"

/*
 * Tell S what R SAID (NOTICE_LOG), by STREAM, unless it is below S's level or S
 * does not read. TASK_ID: of the task that it belongs to; NULL: of none.
 */
void logging_tell(struct session *s, void *stream, const struct run *r,
		  const struct run_notice *said, const char *task_id);

#endif
