/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_paths.h - what of the machine every program template sees, read-only, beside
 * what it is granted: who builds its root and who checks a package must agree.
 */
#ifndef BASE_OS_SYSTEM_PATHS_H
#define BASE_OS_SYSTEM_PATHS_H

/* With programs and libraries, in the order in which they are shown. */
#define SYSTEM_PATHS                                                           \
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"

/* PATH, where programs find others. */
#define SYSTEM_PATHS_ENV "/usr/local/bin:/usr/bin:/bin"

#endif
