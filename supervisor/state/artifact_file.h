/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_file.h - an artifact while it arrives: a file under STATE/artifacts/tmp/,
 * named for its instance so that a later recovery can remove it.
 */
#ifndef SUPERVISOR_STATE_ARTIFACT_FILE_H
#define SUPERVISOR_STATE_ARTIFACT_FILE_H

#include <stddef.h>
#include <stdint.h>

struct blob; /* opaque: a file, its digest so far */

/* NULL and errno when the file cannot be made. Copies its arguments. */
struct blob *blob_new(const char *state_dir, const char *instance);
int blob_write(struct blob *b, const void *data, size_t len); /* 0 or -errno */
int64_t blob_size(const struct blob *b);

/*
 * Close it and give its path (the caller frees it, and the file is the
 * caller's now) and SHA-256 in hex (65 bytes). B is freed. NULL: the file
 * could not be closed cleanly, and has been removed.
 */
char *blob_finish(struct blob *b, char sha256[65]);
void blob_free(struct blob *b); /* removes the file; NULL is fine */

#endif
