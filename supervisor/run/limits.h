/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - a run's limits, by base/limits.def: the least of the template's,
 * the caller's, the requestor's and the server's, and who can change each.
 */
#ifndef SUPERVISOR_RUN_LIMITS_H
#define SUPERVISOR_RUN_LIMITS_H

#include <json-c/json.h>
#include <stdint.h>

#include "supervisor/config/config.h"
#include "supervisor/run/run.h"

/*
 * Fill in R's limits: the least of the manifest's (else the server's default),
 * the requestor section's and the server's. TIMEOUT_MS is the caller's wish, or
 * 0.
 */
void limits_set(struct run *r, const struct config *c, int64_t timeout_ms);
/* Returns the limits that the cage of R's program enforces. */
struct program_limits limits_of_program(const struct run *r);

/*
 * Returns the limits of a run of T for Q, without a caller's wish, by the
 * manifest's keys: {maxTimeoutMs: {allowed, unit, setBy, whoCanRaise}, etc.};
 * setBy is "manifest", "server: max_cpu_ms" (a key of [limits]) or "requestor
 * \"alice\": max_cpu_ms". The caller's.
 */
struct json_object *limits_preview(const struct template *t,
				   const struct requestor *q,
				   const struct config *c);

/*
 * Returns error details for R's limit B, of which USED was used (below 0:
 * unknown, and left out); the caller's.
 */
struct json_object *limits_details(const struct run *r, enum limit b,
				   int64_t used);
/* Returns a text like "the operator: max_cpu_ms in [limits]"; the caller's. */
char *limits_who_can_raise(const struct run *r, enum limit b);

/*
 * Note that R met its limit B, when R wanted USED (> 0): R may go on without.
 */
void limits_hit(struct run *r, enum limit b, int64_t used);
/*
 * Returns details for each limit that limits_hit() noted; the caller's, or
 * NULL: none.
 */
struct json_object *limits_hit_details(const struct run *r);

/*
 * Correct DETAILS of a worker that met a limit: the supervisor knows better how
 * much was allowed, and who can raise the limit. DETAILS that name no limit of
 * ours stay.
 */
void limits_correct(const struct run *r, struct json_object *details);

#endif
