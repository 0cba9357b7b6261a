/* SPDX-License-Identifier: Apache-2.0 */
/* fds.h - which descriptors a process keeps. */
#ifndef SANDBOX_FDS_H
#define SANDBOX_FDS_H

#include <stdbool.h>

int fds_close_from(int first); /* FIRST and all above; 0 or -errno */

/* RUN_FD becomes SANDBOX_RUN_FD; it, null ×3 and nothing else stay. */
int fds_worker(int run_fd);

/* Is it so: three times /dev/null, a socket, and nothing above? */
bool fds_are_closed(void);

#endif
