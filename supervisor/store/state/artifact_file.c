/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_file.c - writes an artifact into STATE/artifacts/tmp, and digests
 * the bytes, for threads/file_sink.c and store/import/. The first failed write
 * is remembered and returned from then on; freeing removes the file.
 */
#include "supervisor/store/state/artifact_file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/store/state/state_file.h"

struct artifact_file {
	char *path;
	int fd;
	int rc; /* the first failure, kept for good */
	struct sha256_ctx digest;
};

static int file_start(struct artifact_file *b, const char *state_dir)
{
	char *dir = xasprintf("%s/" STORE_TMP_DIR, state_dir);
	int rc = state_file_mkdirs(dir);

	free(dir);
	if (rc != 0)
		return rc;
	b->fd = mkostemp(b->path, O_CLOEXEC);
	return b->fd < 0 ? -errno : 0;
}

struct artifact_file *artifact_file_new(const char *state_dir,
					const char *instance)
{
	struct artifact_file *b = xcalloc(1, sizeof(*b));
	int rc;

	b->fd = -1;
	b->path =
	    xasprintf("%s/" STORE_TMP_DIR "/%s.XXXXXX", state_dir, instance);
	sha256_init(&b->digest);
	rc = file_start(b, state_dir);
	if (rc == 0)
		return b;
	artifact_file_free(b);
	errno = -rc;
	return NULL;
}

int artifact_file_write(struct artifact_file *b, const void *data, size_t len)
{
	const char *p = data;
	size_t left = len;

	while (b->rc == 0 && left > 0) {
		ssize_t n = write(b->fd, p, left);

		if (n < 0 && errno != EINTR)
			b->rc = -errno;
		if (n > 0) {
			p += n;
			left -= (size_t)n;
		}
	}
	if (b->rc == 0)
		sha256_update(&b->digest, len, data);
	return b->rc;
}

void artifact_file_begin_sync(struct artifact_file *b)
{
	(void)sync_file_range(b->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int artifact_file_sync(struct artifact_file *b)
{
	if (b->rc == 0 && fsync(b->fd) != 0)
		b->rc = -errno;
	return b->rc;
}

char *artifact_file_finish(struct artifact_file *b, char sha256[65])
{
	unsigned char sum[SHA256_DIGEST_SIZE];
	char *path = NULL;
	int rc = b->rc;

	if (rc == 0) {
		sha256_digest(&b->digest, sizeof(sum), sum);
		for (size_t i = 0; i < sizeof(sum); i++)
			snprintf(sha256 + 2 * i, 3, "%02x", sum[i]);
	}
	/* some file systems report only now that the disk is full */
	if (close(b->fd) != 0 && rc == 0)
		rc = -errno;
	b->fd = -1;
	if (rc == 0) {
		path = b->path;
		b->path = NULL;
	} else {
		unlink(b->path);
	}
	artifact_file_free(b);
	errno = -rc;
	return path;
}

void artifact_file_free(struct artifact_file *b)
{
	if (b == NULL)
		return;
	if (b->fd >= 0) {
		close(b->fd);
		unlink(b->path);
	}
	free(b->path);
	free(b);
}
