/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdnotify.h - tells a service manager of readiness and status; sd_notify(3),
 * by hand.
 */
#ifndef SUPERVISOR_START_SDNOTIFY_H
#define SUPERVISOR_START_SDNOTIFY_H

#include <stdint.h>

/*
 * Send STATE ("READY=1\nSTATUS=text") as one datagram to $NOTIFY_SOCKET.
 * Without the variable nothing happens. 0 or -errno.
 */
int sdnotify_send(const char *state);

/* Return half of $WATCHDOG_USEC in ms, when meant for this process; else 0. */
int64_t sdnotify_watchdog_ms(void);

/*
 * Return how many sockets the manager passes, from descriptor 3 on
 * (sd_listen_fds(3)), and make them close-on-exec. The first call of any
 * function above removes all variables of the manager from the environment.
 */
int sdnotify_listen_fds(void);

#endif
