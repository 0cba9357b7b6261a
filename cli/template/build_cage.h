/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_cage.h - runs paddock-worker in a cage, to fetch the packages of a
 * lock.
 */
#ifndef CLI_BUILD_CAGE_H
#define CLI_BUILD_CAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/template/build_lock.h"

struct build_cage {
	const char *index; /* URL; NULL: the tool's own */
	const char *proxy; /* URL; NULL: none */
	bool verbose;	   /* show what the tool prints */
	int worker;	   /* lent: from build_cage_open() */
	int into;	   /* lent: the empty folder for fetched files */
	/* results of build_cage_run(): */
	size_t files;
	uint64_t bytes;
};

/* Open paddock-worker. Returns a descriptor; or -1, the reason printed. */
int build_cage_open(void);

/* Fetch the packages of L. 0; or an exit status, the reason printed. */
int build_cage_run(struct build_cage *b, const struct build_lock *l);

#endif
