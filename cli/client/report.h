/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - refusals and ended runs, told to people on stderr. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/terminal/cli.h"

/*
 * Print a refusal: the error, its code, and a hint. ABOUT is the template or
 * the run that the user named, or NULL. Returns the exit status.
 */
int report_refusal(struct json_object *refusal, const char *about);

/* Return the exit status that stands for a run's VIEW. */
int report_status(struct json_object *view);
/*
 * Print that the run of VIEW succeeded, and its time, unless CLI is quiet.
 * Prints nothing for a run with another end or with missing artifacts.
 */
void report_success(const struct cli *cli, struct json_object *view);
/*
 * Print how a run ended, with its failed steps: a run without success, or with
 * artifacts missing.
 */
void report_end(const struct cli *cli, struct json_object *view);
/*
 * Return the exit code in the result of a run of given code, 0 to 255; 0: the
 * result has none.
 */
int report_exit_code(struct json_object *view);
/*
 * Print the last line about a run that failed: "hint: paddock explain", with
 * the flags of CLI.
 */
void report_explain(const struct cli *cli, struct json_object *view);

/* Return how many artifacts VIEW lists as missing. */
uint64_t lost_artifacts_count(struct json_object *view);

/*
 * Call SAY with a line for each reason: "not kept: a, b and 3 more: the
 * server's disk is full". Lends LINE. A single missing artifact is not repeated
 * if the run's error is about it.
 */
void lost_artifacts_print(struct json_object *view,
			  void (*say)(void *arg, const char *line), void *arg);

#endif
