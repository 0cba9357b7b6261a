/* SPDX-License-Identifier: Apache-2.0 */
/* run_line.h - from inside a run: a line to the run, and the answer. */
#ifndef CLI_CALL_RUN_LINE_H
#define CLI_CALL_RUN_LINE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Send the object LINE, with its id 1 if ANSWERED, and wait for the answer: NULL, with
 * ERRMSG, where no run listens; else an object, the caller's: without ANSWERED an empty
 * one.
 */
struct json_object *run_line(struct json_object *line, bool answered,
			     char *errmsg, size_t size);

#endif
