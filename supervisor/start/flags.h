/* SPDX-License-Identifier: Apache-2.0 */
/* flags.h - what paddockd was asked on its command line. */
#ifndef SUPERVISOR_START_FLAGS_H
#define SUPERVISOR_START_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "supervisor/spawn/isolation.h"

struct config;

#define FLAGS_MAX 256

struct flags {
	uid_t uid; /* who started us: a reload is somebody else's */
	bool stdio, passing, check, print;
	bool grants;	      /* a check, too, which prints them */
	bool faults;	      /* likewise */
	bool templates_alone; /* are looked at by that check */
	const char *config_file;
	const char *import; /* a state folder that is to be copied; or NULL */
	enum isolation_level require;
	struct {
		const char *key, *value;
	} set[FLAGS_MAX];
	size_t n_set;
};

/* -1: go on; else the status to exit with. */
int flags_read(struct flags *f, int argc, char **argv);

/*
 * Files, then FLAGS; at the start, and again for HUP. The caller's; NULL with
 * ERRMSG.
 */
struct config *flags_config(void *flags, char *errmsg, size_t size);

#endif
