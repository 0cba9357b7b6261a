/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.h - what an operator says by signals, and a service manager is told.
 *
 *   HUP        read configuration and templates again, all or nothing, and
 *              reopen the logs
 *   USR1       a line of status to the log
 *   TERM, INT  drain: start nothing more, let what runs end; a second: QUIT
 *   QUIT       stop now; what runs is recorded as interrupted
 *   TSTP, CONT accept and queue, but start nothing; go on
 *
 * On stdio, TERM and INT are QUIT: the one client is ending us.
 */
#ifndef SUPERVISOR_DAEMON_H
#define SUPERVISOR_DAEMON_H

#include "supervisor/reload.h"

struct context;
struct daemon;

/* From here on they wait until somebody watches them, before any child. */
void daemon_hold_signals(void);
/* Watch the signals, before any thread. READ_CONFIG and ARG serve HUP. */
struct daemon *daemon_new(struct server *srv, struct context *ctx,
			  config_reader read_config, void *arg);
void daemon_free(struct daemon *d); /* NULL is fine */

/*
 * Listen on the socket, tell the service manager when that is ready, keep its
 * watchdog content. 0, or the exit status after a line that says why.
 */
int daemon_open(struct daemon *d);
/* The cage has been measured… */
void daemon_ready(void *daemon);
/* …and the store tried: what does not pass by itself ends the start. */
void daemon_opened(void *daemon, int rc, const char *errmsg);

#endif
