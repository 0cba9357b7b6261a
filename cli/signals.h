/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - SIGINT, SIGTERM and SIGHUP as something that poll() sees. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/*
 * From now on the first of them is noted, and the second ends the process at
 * once with 128 + its number. SIGPIPE is ignored.
 */
void signals_watch(void);
/* readable once one was noted; -1 before signals_watch() */
int signals_fd(void);
int signals_noted(void); /* its number, or 0 */
void signals_seen(void); /* SIGNALS_FD becomes unreadable again */
/* In a child before exec: everything as it is by default. */
void signals_reset(void);

#endif
