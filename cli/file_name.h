/* SPDX-License-Identifier: Apache-2.0 */
/* file_name.h - file names from artifact names, which are untrusted. */
#ifndef CLI_FILE_NAME_H
#define CLI_FILE_NAME_H

#include <stddef.h>

#define FILE_NAME_SIZE 201 /* with the NUL; leaves room for a number */

/*
 * One harmless path component for NAME: what follows its last slash or
 * backslash, without leading dots; '_' for what is not UTF-8, acts on a
 * terminal or would make it look like a flag; "artifact" when nothing is left.
 * A long one keeps its extension.
 */
void file_name_sanitize(char out[FILE_NAME_SIZE], const char *name);

/* "a.csv" and 2 make "a-2.csv". OUT has room for FILE_NAME_SIZE + 12. */
#define FILE_NAME_NUMBERED_SIZE (FILE_NAME_SIZE + 12)
void file_name_numbered(char out[FILE_NAME_NUMBERED_SIZE], const char *name,
			unsigned n);

#endif
