/* SPDX-License-Identifier: Apache-2.0 */
/* caps.h - capabilities(7): few in the zygote, none in a worker. */
#ifndef SANDBOX_CAPS_H
#define SANDBOX_CAPS_H

#include "sandbox/sandbox_types.h"

/*
 * Irrevocably: no ambient, inheritable or bounding capability, root's uid means
 * nothing (securebits, locked), exec gains nothing (no_new_privs). A change of
 * uid keeps what is held. Fills err[] of CAPS and NNP.
 */
void caps_lock(struct sandbox *sb);

#define CAPS_KILL 1u  /* to end a self-test */
#define CAPS_MOUNT 2u /* to give each program files of its own: SYS_ADMIN */

/* Keep SETUID and SETGID, and those in MORE, of what is held. 0 or -errno. */
int caps_keep(unsigned more);

int caps_none(void); /* drop them all; 0 or -errno */

/* Are all five sets empty and the securebits locked? */
bool caps_are_none(void);

#endif
