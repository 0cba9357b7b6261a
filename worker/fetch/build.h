/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - fetches the modules of a package's lock, in a cage: the third function of
 * paddock-worker, for "paddock template build".
 */
#ifndef WORKER_FETCH_BUILD_H
#define WORKER_FETCH_BUILD_H

/*
 * ARGV has the tool ("pip" or "npm"), "index=URL" and "proxy=URL". The lock arrives on
 * BUILD_FD, as a stream of base/os/file_stream.h. The printed text, and the files of the
 * filled folder or an error, go back on BUILD_FD. Nothing else of the package is visible.
 * Returns the exit status.
 */
#define BUILD_FD 3
int build_run(int argc, char **argv);

#endif
