/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - the process that knows policy and keys, and starts a child for each run. The
 * keeper reads nothing but packets of the supervisor.
 */
#ifndef EGRESS_KEEPER_H
#define EGRESS_KEEPER_H

#define KEEPER_FILES_MAX 256

/*
 * Serve the supervisor at EGRESS_FD until the supervisor closes. FILES, which ends with
 * NULL, are the only files of secrets that are read. The exit status; the process is
 * single-threaded.
 */
int keeper_run(const char *const *files);

#endif
