/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon.h - what an operator says by signals, and a service manager hears.
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

#include "supervisor/server.h"

/* Reads the configuration again as at the start; NULL with ERRMSG. */
typedef struct config *(*daemon_read)(void *arg, char *errmsg, size_t size);

/* From here on they wait until somebody watches them, before any child. */
void daemon_hold_signals(void);
/* Watch the signals, before any thread. READ_CONFIG and ARG serve HUP. */
void daemon_watch(struct server *srv, daemon_read read_config, void *arg);

/*
 * Listen on the socket, tell the service manager when that is ready, keep its
 * watchdog content. 0, or the exit status after a line that says why.
 */
int daemon_open(struct server *srv);
void daemon_close(struct server *srv);

#endif
