/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - waits for a time, a signal or a frame, for channel.c and the Lua scheduler.
 * The functions cannot fail: the caller checks afterwards why the wait ended.
 */
#include "worker/wait.h"

#include <linux/futex.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/zygote_proto.h"

#define US_PER_S 1000000
#define WAIT_MAX_US (3600ll * US_PER_S)

static _Atomic uint32_t word;
/* the timeout of a ppoll(2) that is about to begin */
static volatile struct timespec rest;

uint32_t wait_ticket(void)
{
	return atomic_load(&word);
}

void wait_wake(void)
{
	atomic_fetch_add(&word, 1);
	rest.tv_sec = 0;
	rest.tv_nsec = 0;
}

static bool time_left(struct timespec *ts, int64_t until_us)
{
	int64_t left = until_us - clock_mono_us();

	if (left <= 0)
		return false;
	if (left > WAIT_MAX_US)
		left = WAIT_MAX_US;
	ts->tv_sec = left / US_PER_S;
	ts->tv_nsec = left % US_PER_S * 1000;
	return true;
}

void wait_until(uint32_t ticket, int64_t until_us)
{
	struct timespec ts;

	if (!time_left(&ts, until_us))
		return;
	(void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, ticket, &ts, NULL,
		      0);
}

/*
 * A signal handler that calls wait_wake() after the ticket was compared sets the timeout
 * to zero: the kernel reads the timeout at the begin of ppoll(2), and a later signal
 * interrupts ppoll(2). libc would copy the timeout earlier, hence the bare system call.
 */
void wait_until_told(uint32_t ticket, int64_t until_us, bool answers,
		     short events)
{
	const struct pollfd run = {.fd = ZYGOTE_PROTO_RUN_FD, .events = POLLIN};
	struct pollfd p[2] = {run, run};
	unsigned n = answers ? 1 : 0;
	struct timespec ts;

	if (!time_left(&ts, until_us))
		return;
	if (events != 0)
		p[n++] = (struct pollfd){.fd = ZYGOTE_PROTO_CAGE_FD,
					 .events = events};
	rest.tv_sec = ts.tv_sec;
	rest.tv_nsec = ts.tv_nsec;
	atomic_signal_fence(memory_order_seq_cst);
	if (wait_ticket() == ticket)
		(void)syscall(SYS_ppoll, p, n, &rest, NULL, 0);
}
