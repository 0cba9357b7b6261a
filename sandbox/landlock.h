/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.h - no file, no port, no signal to other processes; landlock(7). */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include "sandbox/sandbox_types.h"

#define LANDLOCK_ABI_NET 4   /* first to deny TCP */
#define LANDLOCK_ABI_SCOPE 6 /* first to deny signals and abstract sockets */

/*
 * Deny all that this kernel's Landlock can deny. Needs no_new_privs. Fills
 * landlock_abi; 0 or -errno, which is also in err[SANDBOX_LANDLOCK].
 */
int landlock_enter(struct sandbox *sb);

struct landlock_leave { /* all lent */
	/*
	 * Files, and folders with all in them, that may be read; those that do
	 * not exist are skipped. NULL-ended; NULL: none.
	 */
	const char *const *read;
	bool connect;	       /* TCP, to any port */
	unsigned connect_port; /* or to this one; 0: none */
};

/*
 * Deny all that this kernel's Landlock can deny but for L. Needs no_new_privs.
 * The ABI, or -errno: there is none.
 */
int landlock_leave(const struct landlock_leave *l);

/* For programs: record which ABI there is, without applying it. As above. */
void landlock_find(struct sandbox *sb);

/* Apply it, but for files: programs have a root of their own. 0 or -errno. */
int landlock_keep_files(const struct sandbox *sb);

#endif
