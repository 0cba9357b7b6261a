/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - sleeping, in a cage that blocks no signal: on a futex, or until the
 * run's socket has something to say.
 *
 * Take a ticket, look whether there is anything to do, then nap with the
 * ticket: a signal handler that called wait_wake() in between is not missed.
 */
#ifndef WORKER_WAIT_H
#define WORKER_WAIT_H

#include <stdint.h>

uint32_t wait_ticket(void);
void wait_wake(void); /* async-signal-safe: every ticket so far is void */

/* Until UNTIL_US (clock_mono_us()) or an hour, a signal, or a void ticket. */
void wait_until(uint32_t ticket, int64_t until_us);

/* The same, or until a frame can be received. */
void wait_until_told(uint32_t ticket, int64_t until_us);

#endif
