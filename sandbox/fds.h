/* SPDX-License-Identifier: Apache-2.0 */
/* fds.h - the descriptors that a process keeps. */
#ifndef SANDBOX_FDS_H
#define SANDBOX_FDS_H

#include <stdbool.h>

int fds_close_from(int first); /* FIRST and all higher numbers; 0 or -errno */

/* Move RUN_FD to SANDBOX_RUN_FD and close all others but 0 to 2, which are /dev/null. */
int fds_worker(int run_fd);

/* As fds_worker(), but *HOLD_FD stays open under a new number; 0: no such descriptor. */
int fds_shim(int run_fd, int *hold_fd);

/* Are a socket and three times /dev/null the only open descriptors? */
bool fds_are_closed(void);

#endif
