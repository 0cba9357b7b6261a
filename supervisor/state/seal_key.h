/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_key.h - the key that requestStates are sealed with: STATE/seal.key, which
 * all instances on one state share, and which outlives them.
 */
#ifndef SUPERVISOR_STATE_SEAL_KEY_H
#define SUPERVISOR_STATE_SEAL_KEY_H

#include <stddef.h>

#define SEAL_KEY_FILE "seal.key"
#define SEAL_KEY_BYTES 32

/*
 * Read the key below STATE_DIR, or make it when there is none: instances that do
 * so at once get the same. It blocks for a sync of the disk when it makes one.
 * 0; or -errno, OUT is a random key of this process alone, and ERRMSG (SIZE
 * bytes) is the sentence on the file, which what OUT seals does not outlive.
 * For the first use: starting has no side effect.
 */
int seal_key_load(unsigned char out[SEAL_KEY_BYTES], const char *state_dir,
		  char *errmsg, size_t size);

#endif
