/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.h - decides how program templates see the host, and whether a
 * program may run here.
 */
#ifndef SUPERVISOR_WORKER_PROGRAMS_H
#define SUPERVISOR_WORKER_PROGRAMS_H

#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/config/config.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/spawn/isolation.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/run.h"
#include "supervisor/run/warm/spawned.h"

#define PROGRAMS_SMALL                                                         \
	((uint64_t)4 << 20) /* a package up to this size is copied */
/* most bytes of all small packages */
#define PROGRAMS_SMALL_ALL ((uint64_t)64 << 20)

/* Show to C's programs the packages of ALL, and the paths granted by CONFIG. */
void programs_show(struct spawner *c, const struct catalogue *all,
		   const struct config *config);

/*
 * Return the folder of artifacts of CONFIG's state, without a link; the caller
 * frees the path. NULL: there is none yet.
 */
char *programs_artifacts(const struct config *config);

/* May T run, whose permissions are all granted? If not, R has the reason. */
bool programs_allow(const struct template *t, const struct config *config,
		    const struct isolation *iso, struct tool_error *r);

/*
 * Return {available, reason?, weak?}: can any program be caged here? The caller
 * frees the object.
 */
struct json_object *programs_view(const struct isolation *iso);

/*
 * Return the job for R's worker, with all permissions granted; borrowed from R.
 */
struct spawner_job programs_job(const struct run *r);

/*
 * Hold B, the shim of the program's run R, which waits for RUN, and all its
 * children to R's limits, by a cgroup; also a shim that was held before its
 * run. Returns as cgroup_run_begin().
 */
int programs_hold(const struct run *r, const struct spawned *b);

/*
 * Does C allow ARGV? Asked by the process that starts zygotes with root's
 * rights. Allowed are packages in C's template folders, paths that C grants,
 * and no argument unknown to a zygote. A package argument whose folder has been
 * replaced is turned into an "unshown" argument.
 */
bool programs_may_start(const struct config *c, char *const argv[]);

#endif
