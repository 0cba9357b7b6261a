/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost_artifacts.h - artifacts that a run made to be kept, and that are not
 * kept.
 *
 * The rule: a template that was told of the loss (run.artifact() raised,
 * descriptor 4 said so) and went on decides for itself. For a lost file of
 * out/, of which the template was not told, the run fails. Where the template
 * supports partial success, either loss makes the run a partial success. The
 * view lists the lost artifacts with their errors, whatever the end is.
 */
#ifndef SUPERVISOR_RUN_LOST_ARTIFACTS_H
#define SUPERVISOR_RUN_LOST_ARTIFACTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "ipc/msg.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/run.h"

/* listed artifacts; the last counts the rest */
#define LOST_ARTIFACTS_MAX 50

/* A lost artifact, or the first of COUNT that are lost for the same reason. */
struct lost_artifact {
	struct str name;
	int64_t size;
	uint64_t count;
	bool told;    /* the template was told, and went on */
	bool no_file; /* a link or a FIFO: never kept */
};

/* Note that R lacks ONE because of ERRMSG; all is copied. */
void lost_artifacts_add(struct run *r, const struct lost_artifact *one,
			const struct tool_error *errmsg);
/*
 * Count a lost artifact as untold: the template ended before the last refusal
 * reached it. False: no refusal is counted.
 */
bool lost_artifacts_unreported(struct run *r);
/* Forget the loss of NAME: the template tried again, and NAME is kept. */
void lost_artifacts_remove(struct run *r, const char *name);

/*
 * Returns the event that ends R, instead of EV; sets R's error when a loss
 * makes it EV_FAIL.
 */
enum run_event lost_artifacts_weigh(struct run *r, enum run_event ev);

/*
 * Returns [{name, size, count?, errorCode, message, details?}]; NULL: nothing
 * is lost.
 */
struct json_object *lost_artifacts_json(const struct run *r);

void lost_artifacts_free(struct lost_artifacts *m); /* NULL is fine */

#endif
