/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_row.h - reads the row of a run of another server into struct run.
 */
#ifndef SUPERVISOR_CLUSTER_REMOTE_ROW_H
#define SUPERVISOR_CLUSTER_REMOTE_ROW_H

#include "supervisor/run/run.h"
#include "supervisor/store/store.h"

/* Was a round of GUEST, a remote client, heard? See remote_run.heard. */
bool remote_row_heard(const struct store_run *row, const char *guest);

/*
 * Did ROW's run end with a whole reply of the template, an MCP result?
 */
bool remote_row_is_reply(const struct store_run *row);

enum run_state remote_row_state(const struct store_run *row);

/* Tell R's watchers the new lines of LOG (or NULL), the log of the remote run R. */
void remote_row_tell_log(struct run *r, const char *log);

/* End R, a remote run, in the state of ROW, which has ended, with VIEW (or NULL). */
void remote_row_end(struct run *r, const struct store_run *row,
		    struct json_object *view);

/* Give ROW, a claimed run, back to the other servers: ROW keeps the place in the queue. */
void remote_row_leave(struct store *s, const struct store_run *row);

#endif
