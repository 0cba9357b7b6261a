/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - refusals and ended runs, told to people on stderr. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <json-c/json.h>

/* What was refused, why, and what would help. CLI_TROUBLE. */
int report_refusal(struct json_object *refusal);

/* The exit status that a run's VIEW stands for. */
int report_status(struct json_object *view);
/* How a run that did not succeed ended, with its failed steps. */
void report_end(struct json_object *view);

/* What the user of this command can do about CODE; NULL: nothing is known. */
const char *report_hint(const char *code);

#endif
