/* SPDX-License-Identifier: Apache-2.0 */
/* run_line.h - from inside a run: a line to the run, and the answer. */
#ifndef CLI_CALL_RUN_LINE_H
#define CLI_CALL_RUN_LINE_H

#include <json-c/json.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Send the object LINE, with its id 1 if ANSWER is not NULL, and wait for the text of
 * ANSWER. 0, or -1 with ERRMSG where no run listens.
 */
int run_line(struct json_object *line, struct buf *answer, char *errmsg,
	     size_t size);

#endif
