/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - how well runs are caged here, as the zygotes have measured it.
 */
#ifndef SUPERVISOR_START_MEASURE_H
#define SUPERVISOR_START_MEASURE_H

#include "supervisor/context.h"
#include "supervisor/spawn/isolation.h"

/*
 * The zygote of Lua has measured REPORT. 0, or the exit status after a line that
 * says errmsg: REQUIRE (ISOLATION_NONE: any cage) is not met.
 */
int measure_lua(const struct context *ctx, enum isolation_level require,
		const struct zygote_proto_event *report);
/* That of programs has, or (NULL) there is none to be had, which ERRMSG says. */
void measure_programs(const struct context *ctx,
		      const struct zygote_proto_event *report,
		      const char *errmsg);
/* Is it known of all that can run? */
bool measure_is_done(const struct context *ctx);

#endif
