/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_paths.h - the host's paths visible to every program template,
 * read-only, beside the granted paths. The builder of the root and the checker
 * of packages must agree.
 */
#ifndef BASE_OS_SYSTEM_PATHS_H
#define BASE_OS_SYSTEM_PATHS_H

/* Folders of programs and libraries, in the order of showing. */
#define SYSTEM_PATHS                                                           \
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"

/* PATH, for programs that start programs. */
#define SYSTEM_PATHS_ENV "/usr/local/bin:/usr/bin:/bin"

#endif
