/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.h - serves an operator's signals, and informs a service manager.
 *
 *   HUP        read configuration and templates again (reload.h), and
 *              reopen the logs
 *   USR1       a line of status to the log
 *   TERM, INT  drain: start nothing more, let running runs end; again: QUIT
 *   QUIT       stop now; running runs are recorded as interrupted
 *   TSTP, CONT accept and queue, but start nothing; go on
 *
 * On stdio, TERM and INT are QUIT: the one client ends the server, and is
 * answered.
 */
#ifndef SUPERVISOR_DAEMON_H
#define SUPERVISOR_DAEMON_H

#include <signal.h>

#include "supervisor/reload.h"

struct context;
struct daemon;

/*
 * Hold the signals until the daemon watches them; call before any child starts.
 * Return the signals.
 */
sigset_t daemon_hold_signals(void);
/*
 * Make the daemon and watch the signals; call before any thread starts.
 * READ_CONFIG and ARG serve HUP.
 */
struct daemon *daemon_new(struct server *srv, struct context *ctx,
			  config_reader read_config, void *arg);
void daemon_free(struct daemon *d); /* NULL is fine */

/*
 * Listen on the socket, tell the service manager when the server is ready, keep
 * its watchdog fed. 0, or the exit status after a line with the reason.
 */
int daemon_open(struct daemon *d);
/* To be called when the cage has been measured. */
void daemon_ready(void *daemon);
/*
 * To be called when the store has been tried: an error that does not pass ends
 * the start.
 */
void daemon_opened(void *daemon, int rc, const char *errmsg);

#endif
