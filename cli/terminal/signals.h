/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - SIGINT, SIGTERM and SIGHUP as a descriptor for poll(). */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/*
 * From now on note the first of these signals; the second ends the process at
 * once with status 128 + the signal's number. SIGPIPE is ignored.
 */
void signals_watch(void);
/* Return a descriptor, readable after the first signal; or -1 before. */
int signals_fd(void);
int signals_noted(void); /* the first signal's number, or 0 */
/* Make signals_fd() unreadable again: client_wait() can wait after the first. */
void signals_seen(void);
/* Forget the noted signal: the next one is the first again. */
void signals_forget(void);
/* Restore default actions, in a child before exec. */
void signals_reset(void);

#endif
