/* SPDX-License-Identifier: Apache-2.0 */
/* isolation.h - the measures of the zygote's self-test, as a level and a report. */
#ifndef SUPERVISOR_SPAWN_ISOLATION_H
#define SUPERVISOR_SPAWN_ISOLATION_H

#include <json-c/json.h>
#include <stdbool.h>

#include "ipc/zygote_proto.h"

/* Ordered by strength. Namespaces count more than Landlock: userns may lack Landlock. */
enum isolation_level {
	ISOLATION_NONE, /* not measured yet, or no seccomp */
	ISOLATION_RESTRICTED,
	ISOLATION_CONTAINER,
	ISOLATION_USERNS,
	ISOLATION_FULL,
	ISOLATION_LEVELS
};

/* a zygote's text, and the server's */
#define ISOLATION_WHY (ZYGOTE_PROTO_TEXT_MAX + 256)

struct isolation { /* zeroed: not measured yet */
	enum isolation_level level;
	struct zygote_proto_event report;
	bool programs_known; /* a zygote of programs has measured the cage */
	char no_programs
	    [ISOLATION_WHY]; /* the cause if no programs run; or "" */
	/*
	 * the cause if a trial start of a program failed, without a path; "":
	 * the program ran, or no trial (health/interpreters.c)
	 */
	char no_start[ISOLATION_WHY];
	char no_start_why[ISOLATION_WHY]; /* the worker's message, or "" */
	bool no_start_sure;		  /* no program can run, by the cause */
	bool no_groups;			  /* and no run can have a cgroup */
	char weak[ISOLATION_WHY]; /* weakness of the programs' cage; "": none */
	char missing[256]; /* as "cgroup landlock"; "": nothing is missing */
	struct json_object *view; /* {level, landlockAbi, cgroup, missing[]} */
};

/* CGROUP: "v2", "v1" or "none". */
void isolation_set(struct isolation *iso,
		   const struct zygote_proto_event *report, const char *cgroup);
void isolation_fini(struct isolation *iso);

const char *isolation_name(enum isolation_level level);
/* -EINVAL: no such level. */
int isolation_level_of(const char *name);

/* Return why no program is run, or NULL: programs are run. */
const char *isolation_no_programs(const struct isolation *iso);

/* Write the layers that ISO lacks for LEVEL: "netns cgroup"; "": no layer. */
void isolation_lacks(const struct isolation *iso, enum isolation_level level,
		     char *out, size_t size);

#endif
