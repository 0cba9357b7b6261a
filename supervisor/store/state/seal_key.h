/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_key.h - the key that seals requestStates: STATE/seal.key, shared by all
 * instances on one state, and kept beyond their end.
 */
#ifndef SUPERVISOR_STATE_SEAL_KEY_H
#define SUPERVISOR_STATE_SEAL_KEY_H

#include <stddef.h>

#define SEAL_KEY_FILE "seal.key"
#define SEAL_KEY_BYTES 32

/*
 * Read the key below STATE_DIR, or make the key when there is none: instances
 * doing so at once get the same key. Blocks for a sync of the disk when making
 * a key. 0; or -errno, OUT is a random key of this process alone, and ERRMSG
 * (SIZE bytes) is a sentence on the file: seals by OUT end with the process.
 * Call at the first use: starting has no side effect.
 */
int seal_key_load(unsigned char out[SEAL_KEY_BYTES], const char *state_dir,
		  char *errmsg, size_t size);

#endif
