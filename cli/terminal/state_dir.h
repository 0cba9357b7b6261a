/* SPDX-License-Identifier: Apache-2.0 */
/* state_dir.h - temporary folders for private servers' state. */
#ifndef CLI_STATE_DIR_H
#define CLI_STATE_DIR_H

/* Make a folder, whose path the caller frees; NULL: the reason printed. */
char *state_dir_make(void);
/* Remove PATH with its content, and free PATH. */
void state_dir_remove(char *path);

#endif
