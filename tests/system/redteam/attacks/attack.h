/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack.h - the attacking programs in one binary: the inputs {"do": NAME} select the
 * attack. An attack prints its result as JSON, unless the attack ends the process.
 */
#ifndef TESTS_SYSTEM_REDTEAM_ATTACKS_ATTACK_H
#define TESTS_SYSTEM_REDTEAM_ATTACKS_ATTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct attack {
	const char *name;
	void (*run)(void);
};

/* A NULL name ends each list. */
extern const struct attack resource_attacks[], escape_attacks[], leak_attacks[],
    signal_attacks[], shared_attacks[], counter_attacks[], record_attacks[],
    memory_attacks[], held_attacks[], option_attacks[];

extern char inputs[1 << 16]; /* the inputs as received, NUL-terminated */

/* {"errno":"NAME"}: errno if FAILED, else "0". */
void tell_errno(bool failed);
/* {"errno":"NAME","bounded":BOOL}: errno, and whether N is from 1 to MOST. */
void tell_end(int n, int most);
/* The code of a thread that waits for ever. */
void *thread_rest(void *arg);
/* On descriptor 3. */
void tell_progress(const char *message);

/* Try the system call NAME; false: no such name is known. */
bool try_call(const char *name);

#endif
