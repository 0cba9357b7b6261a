/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_name.h - makes a name for a file of a run from a name that a client
 * wrote.
 */
#ifndef SUPERVISOR_INPUTS_FILE_NAME_H
#define SUPERVISOR_INPUTS_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define FILE_NAME_MAX 255 /* bytes */

/*
 * Return the last part of NAME, made safe: controls and bytes that are not
 * UTF-8 become '_', leading dots go, and the end is cut between characters. The
 * caller frees the name. NULL: nothing is left.
 */
char *file_name_safe(const char *name);

/*
 * Return NAME, a safe name, with "-2" and so on before its extension; N is 2 or
 * more. The result differs from NAME, even where the length has to be cut. The
 * caller frees the result.
 */
char *file_name_numbered(const char *name, unsigned n);

#endif
