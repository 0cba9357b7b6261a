/* SPDX-License-Identifier: Apache-2.0 */
/* landlock.h - denies files, ports and signals to other processes; landlock(7). */
#ifndef SANDBOX_LANDLOCK_H
#define SANDBOX_LANDLOCK_H

#include "sandbox/sandbox_types.h"

#define LANDLOCK_ABI_NET 4 /* the first with TCP */
/* the first with signals and abstract sockets */
#define LANDLOCK_ABI_SCOPE 6

/*
 * Deny everything that Landlock of the running kernel can deny. Requires no_new_privs.
 * Fills landlock_abi; 0 or -errno, which also stands in err[SANDBOX_LANDLOCK].
 */
int landlock_enter(struct sandbox *sb);

struct landlock_leave { /* exceptions; all members are lent */
	/*
	 * Readable files, and folders with all their files; paths that do not
	 * exist are skipped. Ends with NULL; NULL: none.
	 */
	const char *const *read;
	bool connect; /* allow TCP connections to any port */
	/* allow TCP connections to a single port; 0: none */
	unsigned connect_port;
	const unsigned *connect_ports; /* and to N_PORTS more */
	size_t n_ports;
};

/*
 * Deny everything that Landlock of the running kernel can deny, except L.
 * Requires no_new_privs. Returns the ABI, or -errno without Landlock.
 */
int landlock_leave(const struct landlock_leave *l);

/*
 * For programs: fill landlock_abi and err[SANDBOX_LANDLOCK] without restricting anything.
 */
void landlock_find(struct sandbox *sb);

/*
 * Deny everything except files, since a program has a root of its own, and TCP
 * connections to PORT (0: none). 0 or -errno.
 */
int landlock_keep_files(const struct sandbox *sb, unsigned port);

#endif
