/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_file.h - an artifact while it arrives: a file under STATE/artifacts/tmp/,
 * named for its instance so that a later recovery can remove it.
 */
#ifndef SUPERVISOR_STATE_ARTIFACT_FILE_H
#define SUPERVISOR_STATE_ARTIFACT_FILE_H

#include <stddef.h>
#include <stdint.h>

struct artifact_file; /* opaque: a file, its digest so far */

/* NULL and errno when the file cannot be made. Copies its arguments. */
struct artifact_file *artifact_file_new(const char *state_dir,
					const char *instance);
int artifact_file_write(struct artifact_file *b, const void *data,
			size_t len); /* 0 or -errno */

/*
 * Have the kernel begin to write what has come, so that a sync at the end is
 * short; and that sync, 0 or -errno. Both may take long: for a thread.
 */
void artifact_file_begin_sync(struct artifact_file *b);
int artifact_file_sync(struct artifact_file *b);

/*
 * Close it and give its path (the caller frees it, and the file is the
 * caller's now) and SHA-256 in hex (65 bytes). B is freed. NULL: the file
 * could not be closed cleanly, and has been removed.
 */
char *artifact_file_finish(struct artifact_file *b, char sha256[65]);
/* removes the file; NULL is fine */
void artifact_file_free(struct artifact_file *b);

#endif
