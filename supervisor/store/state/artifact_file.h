/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_file.h - an artifact under way: a file under STATE/artifacts/tmp/,
 * named for its instance so that a later recovery can remove the file.
 */
#ifndef SUPERVISOR_STATE_ARTIFACT_FILE_H
#define SUPERVISOR_STATE_ARTIFACT_FILE_H

#include <stddef.h>
#include <stdint.h>

struct artifact_file; /* opaque: a file, its digest so far */

/* Make the file; copies the arguments. NULL and errno on failure. */
struct artifact_file *artifact_file_new(const char *state_dir,
					const char *instance);
int artifact_file_write(struct artifact_file *b, const void *data,
			size_t len); /* returns 0 or -errno */

/*
 * artifact_file_begin_sync(): have the kernel begin to write, so that a sync at
 * the end is short. artifact_file_sync(): that sync, 0 or -errno. Both may take
 * long: for a thread.
 */
void artifact_file_begin_sync(struct artifact_file *b);
int artifact_file_sync(struct artifact_file *b);

/*
 * Close the file and return its path (the caller frees the path, and owns the
 * file now) and SHA-256 in hex (65 bytes). B is freed. NULL: the file could not
 * be closed cleanly, and has been removed.
 */
char *artifact_file_finish(struct artifact_file *b, char sha256[65]);
/* removes the file; NULL is fine */
void artifact_file_free(struct artifact_file *b);

#endif
