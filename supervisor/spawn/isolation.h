/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolation.h - the measures of the zygote's self-test, as a level and a
 * report.
 */
#ifndef SUPERVISOR_SPAWN_ISOLATION_H
#define SUPERVISOR_SPAWN_ISOLATION_H

#include <json-c/json.h>
#include <stdbool.h>

#include "ipc/zygote_proto.h"

/* Ordered by strength. Namespaces outweigh Landlock: userns may lack it. */
enum isolation_level {
	ISOLATION_NONE, /* not measured yet, or no seccomp */
	ISOLATION_RESTRICTED,
	ISOLATION_CONTAINER,
	ISOLATION_USERNS,
	ISOLATION_FULL,
	ISOLATION_LEVELS
};

/* a zygote's text, and ours */
#define ISOLATION_WHY (ZYGOTE_PROTO_TEXT_MAX + 256)

struct isolation { /* all-zero: not measured yet */
	enum isolation_level level;
	struct zygote_proto_event report;
	bool programs_known; /* it is measured whether they can be caged */
	char no_programs[ISOLATION_WHY]; /* why none is run; "": they are */
	/*
	 * why a program that was started to try did not run, without a path; "":
	 * it ran, or none was tried (worker/interpreters.c)
	 */
	char no_start[ISOLATION_WHY];
	char
	    no_start_why[ISOLATION_WHY]; /* what the worker said of it, or "" */
	bool no_start_sure; /* no program can be run, by the cause */
	bool no_groups;	    /* since no run can have a cgroup */
	/* how programs are caged less; "": they are not */
	char weak[ISOLATION_WHY];
	char missing[256];	  /* "cgroup landlock"; "" when nothing is */
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

/* What ISO lacks for LEVEL: "netns cgroup"; "" when it has all. */
void isolation_lacks(const struct isolation *iso, enum isolation_level level,
		     char *out, size_t size);

#endif
