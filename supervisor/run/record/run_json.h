/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_json.h - runs and rows as the JSON of the contract's tools.
 */
#ifndef SUPERVISOR_RUN_RECORD_RUN_JSON_H
#define SUPERVISOR_RUN_RECORD_RUN_JSON_H

#include <json-c/json.h>

#include "supervisor/spawn/isolation.h"
#include "supervisor/run/run.h"

/* The polling interval for clients, in ms. */
#define RUN_JSON_POLL_AFTER_MS 1000

/* Returns get_task_run's view of R, ended or not, as text; the caller's. */
char *run_json_text(const struct run *r, const struct isolation *iso);

/*
 * Returns the view of a row without a view: another instance's, or an
 * interrupted run's.
 */
struct json_object *run_json_row(const struct store_run *row);

/*
 * Returns the view of an open row, as the owner shows it. SILENT (or NULL), a
 * sentence without full stop, is the reason when the owner's view is not known.
 */
struct json_object *run_json_open_row(const struct store_run *row,
				      const char *silent);

/*
 * Return {runId, status, createdAt, mode, templateVersion, pollAfterMs,
 * retriedFrom?}
 */
struct json_object *run_json_handle(const struct run *r);
struct json_object *run_json_row_handle(const struct store_run *row);
/*
 * Returns {runId, status, mode}: of an ended run whose output is read
 * elsewhere.
 */
struct json_object *run_json_ended_handle(const char *id,
					  enum store_status status,
					  const char *mode);

/* Returns an item of list_task_runs; NODE may be NULL. */
struct json_object *run_json_summary(const struct store_run *row,
				     const char *node);

const char *run_json_status(enum store_status status);
/* Returns the status named NAME, or -EINVAL. */
int run_json_status_parse(const char *name);

#endif
