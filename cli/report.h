/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - refusals and ended runs, told to people on stderr. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

/*
 * What was refused, why, and what would help; the exit status. ABOUT is the
 * template or the run that was named, or NULL.
 */
int report_refusal(struct json_object *refusal, const char *about);

/* The exit status that a run's VIEW stands for. */
int report_status(struct json_object *view);
/* Of one that succeeded: that it did, and its time, unless CLI is quiet. */
void report_success(const struct cli *cli, struct json_object *view);
/* How a run that did not succeed ended, with its failed steps. */
void report_end(const struct cli *cli, struct json_object *view);
/* The last line of one that failed: how to ask more of it, with CLI's flags. */
void report_explain(const struct cli *cli, struct json_object *view);

/* How many VIEW says are missing; 0: none. */
uint64_t lost_artifacts_count(struct json_object *view);

/*
 * Call SAY with a line for each reason: "not kept: a, b and 3 more: the
 * server's disk is full". The line is lent. Of one alone that is the run's error
 * there is no more to be said.
 */
void lost_artifacts_print(struct json_object *view,
			  void (*say)(void *arg, const char *line), void *arg);

#endif
