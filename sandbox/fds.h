/* SPDX-License-Identifier: Apache-2.0 */
/* fds.h - which descriptors a process keeps. */
#ifndef SANDBOX_FDS_H
#define SANDBOX_FDS_H

#include <stdbool.h>

int fds_close_from(int first); /* FIRST and all above; 0 or -errno */

/* Moves RUN_FD to SANDBOX_RUN_FD; it and /dev/null, three times, stay open. */
int fds_worker(int run_fd);

/* The same, and *HOLD_FD stays open, as another number; 0: there is none. */
int fds_shim(int run_fd, int *hold_fd);

/* Are /dev/null three times and a socket all that is open? */
bool fds_are_closed(void);

#endif
