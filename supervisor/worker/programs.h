/* SPDX-License-Identifier: Apache-2.0 */
/*
 * programs.h - templates that are programs: what they may see, and whether
 * one may run here.
 */
#ifndef SUPERVISOR_WORKER_PROGRAMS_H
#define SUPERVISOR_WORKER_PROGRAMS_H

#include "supervisor/templates/catalogue.h"
#include "supervisor/config/config.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/spawn/isolation.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/run/run.h"
#include "supervisor/warm/born.h"

/* C's programs see the packages of ALL, and what CONFIG grants them to read. */
void programs_show(struct spawner *c, const struct catalogue *all,
		   const struct config *config);

/*
 * Where CONFIG's state has its artifacts: without a link, the caller's; NULL:
 * it has none yet.
 */
char *programs_artifacts(const struct config *config);

/* May T run, to which all is granted? A program that may not is refused in R. */
bool programs_allow(const struct template *t, const struct config *config,
		    const struct isolation *iso, struct tool_error *r);

/* {available, reason?}: can any be caged here? The caller's. */
struct json_object *programs_view(const struct isolation *iso);

/* What R's worker is for, all that it asks for granted; borrowed from R. */
struct spawner_job programs_job(const struct run *r);

/*
 * B is the shim of R, a program's, which waits for RUN: hold it and
 * what it starts to R's limits, by a cgroup, also one that was held before it had
 * a run. As cgroup_run_begin().
 */
int programs_hold(const struct run *r, const struct born *b);

/*
 * For who starts zygotes with root's rights: does C allow ARGV? That is, no
 * packages but those in its template folders, no paths but those that
 * it grants, and nothing that a zygote does not know. A package whose folder
 * is not the one that ARGV says becomes, there, one that is not shown.
 */
bool programs_may_start(const struct config *c, char *const argv[]);

#endif
