/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_private.h - declarations for the files of a build.
 *   build.c        the cage, and its life; sends the result
 *   build_tools.c  the programs that fetch
 */
#ifndef WORKER_FETCH_BUILD_PRIVATE_H
#define WORKER_FETCH_BUILD_PRIVATE_H

#include "sandbox/sandbox_program.h"

struct build_tool;

struct build {
	const struct build_tool *tool;
	/* to be filled, in the working folder of the tool */
	const char *folder;
	/* a file in FOLDER that only the tool needs; or NULL */
	const char *skipped;
	char *index, *proxy; /* URLs; NULL: not given */
};

/* Report a failure to the command, in a sentence. Returns EXIT_FAILURE. */
int build_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- build_tools.c ---- */

/* Fill B for the tool NAME. False: unknown. */
bool build_tools_find(struct build *b, const char *name);

/*
 * In the cage, as PID 1: run all steps, each with the remaining layers of the cage, and
 * send the printed text. 0, or -1 after a report.
 */
int build_tools_run(const struct build *b, const struct sandbox *sb,
		    const struct sandbox_program *p);

#endif
