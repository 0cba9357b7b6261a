/* SPDX-License-Identifier: Apache-2.0 */
/* run_daemon.h - run paddockd for what it says, not as a server. */
#ifndef CLI_RUN_DAEMON_H
#define CLI_RUN_DAEMON_H

#include "base/buf.h"
#include "cli/opt.h"

#define RUN_DAEMON_OUTPUT_MAX ((size_t)64 << 20)

/*
 * Run ARGS (without the program itself) to its end; what it writes is
 * appended to OUT and ERR. Its exit status (128 + a signal's number), or
 * -errno when it cannot be run.
 */
int run_daemon(const char *program, const struct opt_list *args,
	       struct buf *out, struct buf *err);

#endif
