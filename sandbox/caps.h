/* SPDX-License-Identifier: Apache-2.0 */
/* caps.h - capabilities(7): few in the zygote, none in a worker. */
#ifndef SANDBOX_CAPS_H
#define SANDBOX_CAPS_H

#include "sandbox/sandbox_types.h"

/*
 * Irrevocably remove all ambient, inheritable and bounding capabilities, the privileges
 * of uid 0 (locked securebits) and the gain of privileges by exec (no_new_privs). A
 * change of uid keeps the permitted capabilities. Fills err[] of CAPS and NNP.
 */
void caps_lock(struct sandbox *sb);

#define CAPS_KILL 1u  /* kill(2), to end a self-test */
#define CAPS_MOUNT 2u /* CAP_SYS_ADMIN, to mount a root for each program */
/* CAP_NET_ADMIN, for a loopback interface in the network namespace of a program */
#define CAPS_NETWORK 4u

/*
 * Drop all capabilities except SETUID, SETGID and the capabilities in MORE. 0 or -errno.
 */
int caps_keep(unsigned more);

int caps_none(void); /* drop all capabilities; 0 or -errno */

/* Are all five sets empty and the securebits locked? */
bool caps_are_none(void);

#endif
