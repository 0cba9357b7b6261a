/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - judges how well runs are caged here, as the zygotes have
 * measured.
 */
#ifndef SUPERVISOR_START_MEASURE_H
#define SUPERVISOR_START_MEASURE_H

#include "supervisor/context.h"
#include "supervisor/spawn/isolation.h"

/*
 * Take REPORT, measured by the zygote of Lua. 0, or the exit status after a
 * line that reports the fault: REQUIRE (ISOLATION_NONE: any cage) is not met.
 */
int measure_lua(const struct context *ctx, enum isolation_level require,
		const struct zygote_proto_event *report);
/*
 * Take REPORT, measured by the zygote of programs; NULL: there is no such
 * zygote, for the reason ERRMSG.
 */
void measure_programs(const struct context *ctx,
		      const struct zygote_proto_event *report,
		      const char *errmsg);
/* Have the zygotes of all loaded templates reported? */
bool measure_is_done(const struct context *ctx);

#endif
