/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sdnotify.h - what a service manager is told; sd_notify(3), by hand.
 */
#ifndef SUPERVISOR_START_SDNOTIFY_H
#define SUPERVISOR_START_SDNOTIFY_H

#include <stdint.h>

/*
 * Send STATE ("READY=1\nSTATUS=…") as one datagram to $NOTIFY_SOCKET. Without
 * one nothing happens. 0 or -errno.
 */
int sdnotify_send(const char *state);

/* Half of $WATCHDOG_USEC in ms, when that is meant for us; else 0. */
int64_t sdnotify_watchdog_ms(void);

/*
 * How many sockets the manager passes, from descriptor 3 on
 * (sd_listen_fds(3)); they are made close-on-exec, and the variables, and
 * those of the others above, are forgotten by the first of these calls.
 */
int sdnotify_listen_fds(void);

#endif
