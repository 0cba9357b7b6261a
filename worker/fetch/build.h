/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.h - fetches the modules that a package's lock names, in a cage: the third
 * thing that paddock-worker is, for "paddock template build".
 */
#ifndef WORKER_FETCH_BUILD_H
#define WORKER_FETCH_BUILD_H

/*
 * By ARGV: what builds ("pip" or "npm"), "index=URL" and "proxy=URL". The lock
 * comes by BUILD_FD, a stream as base/os/file_stream.h has it, and so do what
 * was printed, the files of the folder that was filled, or what went wrong,
 * back. Nothing else of the package is seen. The exit status.
 */
#define BUILD_FD 3
int build_run(int argc, char **argv);

#endif
