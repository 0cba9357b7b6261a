/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_core.h - a crash of a process leaves no memory image, in a file or a
 * program.
 */
#ifndef PADDOCK_BASE_OS_NO_CORE_H
#define PADDOCK_BASE_OS_NO_CORE_H

/*
 * The limit, in bytes. No core is so small, so no file is written. When
 * core_pattern is a pipe, the kernel starts its program for any limit but 1,
 * even for 0: as root, outside every namespace, with the memory on its stdin.
 */
#define NO_CORE_BYTES 1

/* Set the limit for this process and its children. 0 or -errno. */
int no_core(void);

/*
 * Return a sentence on a program that still gets the memory of a crash: the
 * listener of a socket (core_pattern "@...", Linux 6.16), for which no limit
 * counts; or a pipe's program, when our parent left a limit of 0, which cannot
 * be raised. NULL: no program.
 */
const char *no_core_why(void);

#endif
