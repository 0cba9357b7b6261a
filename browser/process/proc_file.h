/* SPDX-License-Identifier: Apache-2.0 */
/* proc_file.h - what /proc says of a process. */
#ifndef BROWSER_PROCESS_PROC_FILE_H
#define BROWSER_PROCESS_PROC_FILE_H

#include <stddef.h>
#include <sys/types.h>

#define PROC_FILE_MAX 4096 /* bytes of one, with the NUL */

/* The first bytes of /proc/PID/NAME and a NUL: how many; 0: none can be read. */
size_t proc_file(pid_t pid, const char *name, char text[PROC_FILE_MAX]);

#endif
