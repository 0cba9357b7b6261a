/* SPDX-License-Identifier: Apache-2.0 */
/* state_dir.h - a folder for a private server's state, while it lives. */
#ifndef CLI_STATE_DIR_H
#define CLI_STATE_DIR_H

/* A new one. The caller frees it; NULL, and it has been said why. */
char *state_dir_make(void);
/* Remove PATH and all that is in it, and free it. */
void state_dir_remove(char *path);

#endif
