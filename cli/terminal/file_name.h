/* SPDX-License-Identifier: Apache-2.0 */
/* file_name.h - file names from artifact names, which are untrusted. */
#ifndef CLI_FILE_NAME_H
#define CLI_FILE_NAME_H

#include <stddef.h>

#define FILE_NAME_SIZE 201 /* with the NUL; leaves room for a number */

/*
 * Make one harmless path component of NAME: the part after the last slash or
 * backslash, without leading dots; '_' for bytes that are not UTF-8, for
 * characters that act on a terminal, and for a '-' in front, which would look
 * like a flag; "artifact" when nothing is left. A long name keeps its
 * extension.
 */
void file_name_sanitize(char out[FILE_NAME_SIZE], const char *name);

/* Put the number N before the extension: "a.csv" and 2 make "a-2.csv". */
#define FILE_NAME_NUMBERED_SIZE (FILE_NAME_SIZE + 12)
void file_name_numbered(char out[FILE_NAME_NUMBERED_SIZE], const char *name,
			unsigned n);

#endif
