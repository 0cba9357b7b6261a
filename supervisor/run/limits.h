/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what a run is held to, by base/limits.def: what template, caller,
 * requestor and server allow together, and who can change it.
 */
#ifndef SUPERVISOR_RUN_LIMITS_H
#define SUPERVISOR_RUN_LIMITS_H

#include <json-c/json.h>
#include <stdint.h>

#include "supervisor/config/config.h"
#include "supervisor/run/run.h"

/*
 * Fill in R's limits: of what the manifest asks for, or else the server's
 * default, what the requestor's section and the server allow. TIMEOUT_MS is
 * the caller's wish, or 0.
 */
void limits_set(struct run *r, const struct config *c, int64_t timeout_ms);
/* Those that the cage of R's program is to hold it to. */
struct program_limits limits_of_program(const struct run *r);

/*
 * What a run of T for Q would be held to without a wish of its caller's, by
 * the manifest's keys: {maxTimeoutMs: {allowed, unit, setBy, whoCanRaise}, …},
 * where setBy is "manifest", "server: max_cpu_ms" (a key of [limits]) or
 * "requestor \"alice\": max_cpu_ms"; the caller's.
 */
struct json_object *limits_preview(const struct template *t,
				   const struct requestor *q,
				   const struct config *c);

/*
 * Details for R's limit B, of which USED (below 0: nobody knows how much, and
 * they do not say); the caller's.
 */
struct json_object *limits_details(const struct run *r, enum limit b,
				   int64_t used);
/* "the operator: max_cpu_ms in [limits]"; the caller's. */
char *limits_who_can_raise(const struct run *r, enum limit b);

/* R met its limit B, when it wanted USED (> 0): it may go on without. */
void limits_hit(struct run *r, enum limit b, int64_t used);
/* Details for each limit that it met so; the caller's, or NULL: none. */
struct json_object *limits_hit_details(const struct run *r);

/*
 * A worker says that a limit was met, as details of its own: what was allowed
 * and who can raise it we know better. Changes DETAILS, unless it names no
 * limit of ours.
 */
void limits_correct(const struct run *r, struct json_object *details);

#endif
