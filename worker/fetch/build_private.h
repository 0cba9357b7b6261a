/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_private.h - what the files of a build share.
 *   build.c        the cage, and its life
 *   build_tools.c  the programs that fetch
 *   build_send.c   what they left
 */
#ifndef WORKER_FETCH_BUILD_PRIVATE_H
#define WORKER_FETCH_BUILD_PRIVATE_H

#include "sandbox/sandbox_program.h"

struct build_tool;

struct build {
	const struct build_tool *tool;
	const char *folder;  /* that is filled, in the folder that it runs in */
	const char *skipped; /* a file in it that is only the tool's; or NULL */
	char *index, *proxy; /* URLs; NULL: none was given */
};

/* Tell the command that it failed, in a sentence. EXIT_FAILURE. */
int build_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- build_tools.c ---- */

/* Fill in B for NAME. False: there is none. */
bool build_tools_find(struct build *b, const char *name);

/*
 * In the cage, as PID 1: run them all, each with the rest of the cage, and send
 * what they print. 0, or -1 and it was told why.
 */
int build_tools_run(const struct build *b, const struct sandbox *sb,
		    const struct sandbox_program *p);

/* ---- build_send.c ---- */

/* Send the files of B's folder, which lies in OUT. As above. */
int build_send(const struct build *b, int out);

#endif
