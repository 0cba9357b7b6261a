/* landlock.h - no file, no port, no stranger's process; landlock(7). */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include "sandbox/sandbox.h"

#define LANDLOCK_ABI_NET 4   /* first to deny TCP */
#define LANDLOCK_ABI_SCOPE 6 /* first to deny signals and abstract sockets */

/*
 * Deny all that this kernel's Landlock can deny. Needs no_new_privs. Fills
 * landlock_abi; 0 or -errno, which is also in err[SANDBOX_LANDLOCK].
 */
int landlock_enter(struct sandbox *sb);

/* For programs, which have files of their own: what is there? As above. */
void landlock_find(struct sandbox *sb);

/* Deny all of that but for files. 0 or -errno. */
int landlock_keep_files(const struct sandbox *sb);

#endif
