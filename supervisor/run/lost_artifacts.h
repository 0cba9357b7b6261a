/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_artifacts.h - what a run made to be kept, and that is not kept.
 *
 * The rule: a template that was told (run.artifact() raised, descriptor 4 said
 * so) and went on decides for itself; of what nobody told it, a file of out/,
 * the run fails. Where the template supports partial success, either makes the
 * run that. What is missing, and why, is in the view whatever the end is.
 */
#ifndef SUPERVISOR_RUN_LOST_ARTIFACTS_H
#define SUPERVISOR_RUN_LOST_ARTIFACTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "ipc/msg.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/run.h"

/* that are listed; the last one counts the rest */
#define LOST_ARTIFACTS_MAX 50

/* One, or the first of COUNT that are missing for the same reason. */
struct lost_artifact {
	struct str name;
	int64_t size;
	uint64_t count;
	bool told;    /* the template knows it, and went on */
	bool no_file; /* nobody could expect it: a link, a FIFO */
};

/* R lacks ONE for ERRMSG; all is copied. */
void lost_artifacts_add(struct run *r, const struct lost_artifact *one,
			const struct tool_error *errmsg);
/* The template has ended, and does not know of the last. False: there is none. */
bool lost_artifacts_unreported(struct run *r);
/* The template tried again, and NAME is kept after all. */
void lost_artifacts_remove(struct run *r, const char *name);

/* The event that ends R, which was EV; sets R's error when that is EV_FAIL. */
enum run_event lost_artifacts_weigh(struct run *r, enum run_event ev);

/* [{name, size, count?, errorCode, message, details?}]; NULL: all is there. */
struct json_object *lost_artifacts_json(const struct run *r);

void lost_artifacts_free(struct lost_artifacts *m); /* NULL is fine */

#endif
