/* SPDX-License-Identifier: Apache-2.0 */
/* history_file.h - the file with the lines that were typed before. */
#ifndef CLI_HISTORY_FILE_H
#define CLI_HISTORY_FILE_H

/*
 * Return the path of the history of LANGUAGE, the caller's, and make its
 * folder; NULL: the user has no folder for such files.
 */
char *history_file(const char *language);

#endif
