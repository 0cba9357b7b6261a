/* SPDX-License-Identifier: Apache-2.0 */
/* build_cage.h - paddock-worker, which fetches what a lock names in a cage. */
#ifndef CLI_BUILD_CAGE_H
#define CLI_BUILD_CAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/build_lock.h"

struct build_cage {
	const char *index; /* URL; NULL: the tool's own */
	const char *proxy; /* likewise: none */
	bool verbose;	   /* show what the tool prints */
	int worker;	   /* lent: of build_cage_open() */
	int into;	   /* lent: the empty folder for what is fetched */
	/* out: */
	size_t files;
	uint64_t bytes;
};

/* The program that builds: a descriptor; or -1, and it was said. */
int build_cage_open(void);

/* Build from L. 0; or an exit status, and it was said why. */
int build_cage_run(struct build_cage *b, const struct build_lock *l);

#endif
