/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_json.h - a run as the contract's tools show it.
 */
#ifndef SUPERVISOR_RUN_RUN_JSON_H
#define SUPERVISOR_RUN_RUN_JSON_H

#include <json-c/json.h>

#include "supervisor/spawn/isolation.h"
#include "supervisor/run/run.h"

/* How often clients are told to ask how a run goes. */
#define RUN_JSON_POLL_AFTER_MS 1000

/* What get_task_run says of R, ended or not; the caller's. */
char *run_json_text(const struct run *r, const struct isolation *iso);

/* The same of a row without a view: another instance's, or interrupted. */
struct json_object *run_json_row(const struct store_run *row);

/*
 * The same of an open row, as its owner shows it; or SILENT, a sentence without
 * its stop, says why that is not known (else it is NULL).
 */
struct json_object *run_json_open_row(const struct store_run *row,
				      const char *silent);

/* {runId, status, createdAt, mode, templateVersion, pollAfterMs, …} */
struct json_object *run_json_handle(const struct run *r);
struct json_object *run_json_row_handle(const struct store_run *row);
/* {runId, status, mode}: of an ended one whose output is elsewhere. */
struct json_object *run_json_ended_handle(const char *id,
					  enum store_status status,
					  const char *mode);

/* One line of list_task_runs; NODE may be NULL. */
struct json_object *run_json_summary(const struct store_run *row,
				     const char *node);

const char *run_json_status(enum store_status status);
/* The status named NAME, or -EINVAL. */
int run_json_status_parse(const char *name);

#endif
