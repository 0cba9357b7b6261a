/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - waiting, in a sandbox that cannot block signals: on a futex, or
 * until the run's socket, or the stream of a run with network, is ready.
 *
 * Take a ticket, check whether there is anything to do, then wait with the
 * ticket: a signal handler that called wait_wake() in between is not missed.
 */
#ifndef WORKER_WAIT_H
#define WORKER_WAIT_H

#include <stdbool.h>
#include <stdint.h>

uint32_t wait_ticket(void);
void wait_wake(void); /* async-signal-safe: invalidates every ticket */

/* Until UNTIL_US (clock_mono_us()), at most an hour, a signal, or an invalid ticket. */
void wait_until(uint32_t ticket, int64_t until_us);

/*
 * The same, or until a frame can be received, if ANSWERS, or until the stream of
 * worker/channel.h is ready for one of EVENTS; 0: no matter.
 */
void wait_until_told(uint32_t ticket, int64_t until_us, bool answers,
		     short events);

#endif
