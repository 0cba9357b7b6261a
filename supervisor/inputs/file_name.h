/* SPDX-License-Identifier: Apache-2.0 */
/* file_name.h - a name that a file of a run can have, of what somebody wrote. */
#ifndef SUPERVISOR_INPUTS_FILE_NAME_H
#define SUPERVISOR_INPUTS_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define FILE_NAME_MAX 255 /* bytes */

/*
 * The last part of NAME, without what no name may have: controls and what is no
 * UTF-8 become '_', dots in front go, and the end is cut at a character. The
 * caller's; NULL: nothing is left.
 */
char *file_name_safe(const char *name);

/* The same with "-2" and so on before its extension; N is 2 or more. */
char *file_name_numbered(const char *name, unsigned n);

#endif
