/* SPDX-License-Identifier: Apache-2.0 */
/* flags.h - reads paddockd's command line. */
#ifndef SUPERVISOR_START_FLAGS_H
#define SUPERVISOR_START_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "supervisor/spawn/isolation.h"

struct config;

#define FLAGS_MAX 256

struct flags {
	uid_t uid; /* the starting user; at a reload another user runs */
	bool stdio, passing, check, print;
	bool grants;	      /* --check, and print grants */
	bool faults;	      /* --check, and print faults */
	bool templates_alone; /* --check looks at templates only */
	const char *config_file;
	const char *import; /* a state folder to copy; or NULL */
	enum isolation_level require;
	struct {
		const char *key, *value;
	} set[FLAGS_MAX];
	size_t n_set;
};

/* Read the flags into F. -1: go on; else the status to exit with. */
int flags_read(struct flags *f, int argc, char **argv);

/*
 * Read the files, then apply FLAGS; at the start, and again for HUP. The caller
 * owns the configuration; NULL with ERRMSG.
 */
struct config *flags_config(void *flags, char *errmsg, size_t size);

#endif
