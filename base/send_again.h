/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send_again.h - the next try to write to a socket that took no bytes: at once
 * when the socket has room, after a pause when the kernel had no memory, since
 * poll(2) reports room for bytes that the kernel cannot hold.
 */
#ifndef BASE_SEND_AGAIN_H
#define BASE_SEND_AGAIN_H

#include <errno.h>
#include <poll.h>
#include <stdint.h>

#include "base/clock.h"

#define SEND_AGAIN_MS 10

/* Can a write that failed by RC (of sys_send_error()) succeed later? */
static inline int send_again_may(int rc)
{
	return rc == -EAGAIN || rc == -ENOBUFS;
}

/*
 * Have EV, an event of libevent for writing to FD, call its function for the
 * next try after a write that failed by RC. A macro, since the programs without
 * an event loop use base/ as well.
 */
#define SEND_AGAIN(ev, fd, rc)                                                 \
	do {                                                                   \
		event_del(ev);                                                 \
		event_assign(                                                  \
		    ev, event_get_base(ev), (rc) == -ENOBUFS ? -1 : (fd),      \
		    (rc) == -ENOBUFS ? 0 : EV_WRITE, event_get_callback(ev),   \
		    event_get_callback_arg(ev));                               \
		event_add(ev, (rc) == -ENOBUFS ? CLOCK_TIMEVAL(SEND_AGAIN_MS)  \
					       : NULL);                        \
	} while (0)

/*
 * Wait, without an event loop, for the next try of a write to FD that failed by
 * RC, MS milliseconds at most.
 */
static inline void send_again_wait(int fd, int rc, int64_t ms)
{
	struct pollfd out = {.fd = fd, .events = POLLOUT};

	if (rc == -ENOBUFS)
		(void)poll(NULL, 0,
			   (int)(ms < SEND_AGAIN_MS ? ms : SEND_AGAIN_MS));
	else
		(void)poll(&out, 1, (int)ms);
}

#endif
