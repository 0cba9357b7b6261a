/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack.h - programs that attack, all in one: which is said by the inputs,
 * {"do": NAME}. Each prints what it came to, as JSON, unless it is the end of
 * it.
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

/* Each ends with a NULL name. */
extern const struct attack resource_attacks[], escape_attacks[], leak_attacks[],
    signal_attacks[], shared_attacks[], counter_attacks[], record_attacks[],
    held_attacks[];

extern char inputs[1 << 16]; /* as they came, NUL-ended */

/* {"errno":"NAME"}: errno if FAILED, else "0". */
void tell_errno(bool failed);
/* On descriptor 3. */
void tell_progress(const char *message);

/* Every system call that is tried by name; false: there is none of NAME. */
bool try_call(const char *name);

#endif
