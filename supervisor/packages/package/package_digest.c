/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_digest.c - SHA-256 over all files of a package, and over their
 * metadata. template_load.c takes both when it loads, template_look.c compares
 * them later, package_check.c tells authors. -EINVAL where a file cannot be
 * read, is out of bounds, or differs from bytes read before.
 */
#include "supervisor/packages/package/package.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/dir_walk.h"
#include "base/mem.h"
#include "base/text/errmsg.h"

#define BLOCK_BYTES ((size_t)64 << 10)

/* The files found, and the bytes read before. */
struct listing {
	int root; /* borrowed */
	struct dir_walk *f;
	size_t n_files;
	uint64_t n_bytes; /* size of all files, by their metadata */
	const struct package_bytes *kept;
	size_t n_replayable;
	size_t met;  /* how many of KEPT were found */
	char *block; /* buffer of BLOCK_BYTES, for hash_bytes() */
	/* SHA-256 of the metadata, in the same pass; or NULL */
	struct sha256_ctx *stamp;
	char *errmsg;
	size_t size;
};

/*
 * Are the N bytes at offset FROM of PATH, whose size is WHOLE, the bytes read
 * before?
 */
static bool is_as_kept(const struct listing *l, const char *path,
		       uintmax_t whole, uintmax_t from, const char *data,
		       size_t n)
{
	for (size_t i = 0; i < l->n_replayable; i++) {
		const struct package_bytes *k = &l->kept[i];

		if (strcmp(k->path, path) == 0 &&
		    (k->len != whole || memcmp(k->data + from, data, n) != 0))
			return false;
	}
	return true;
}

static void hash_entry(struct sha256_ctx *md, const void *p, size_t n)
{
	sha256_update(md, n, p);
}

/*
 * No digest is remembered from one start to the next. Grants are bound to
 * digests, and the writer of a package is not trusted: bytes stored through a
 * mapping that was written to before change neither mtime nor ctime until the
 * kernel has written them back, on tmpfs never. No time, number or size proves
 * the bytes unchanged.
 */

/* Hash all of FILE, which must be as long as its metadata said. 0 or -errno. */
static int hash_bytes(const struct listing *l, struct sha256_ctx *md,
		      const char *path, int file, uintmax_t want)
{
	char *block = l->block;
	uintmax_t at = 0;
	int rc = 0;

	for (;;) {
		ssize_t n = read(file, block, BLOCK_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		else if ((uintmax_t)n > want - at || (n == 0 && want > at) ||
			 !is_as_kept(l, path, want, at, block, (size_t)n))
			rc = -ESTALE;
		if (rc < 0 || n == 0)
			break;
		hash_entry(md, block, (size_t)n);
		at += (uintmax_t)n;
	}
	return rc;
}

/*
 * Hash the metadata. Any change to these changes ctime, too, which no user can
 * set.
 */
static void add_metadata(struct sha256_ctx *md, const char *path,
			 const struct stat *st)
{
	hash_entry(md, path, strlen(path) + 1);
	hash_entry(md, &st->st_dev, sizeof(st->st_dev));
	hash_entry(md, &st->st_ino, sizeof(st->st_ino));
	/* the folder's own times change for reasons of no concern to a
	   template */
	if (strcmp(path, ".") == 0)
		return;
	hash_entry(md, &st->st_mode, sizeof(st->st_mode));
	hash_entry(md, &st->st_size, sizeof(st->st_size));
	hash_entry(md, &st->st_ctim, sizeof(st->st_ctim));
}

/*
 * Hash the file PATH. The metadata are read before the bytes: a write meanwhile
 * changes them.
 */
static int hash_file(struct listing *l, struct sha256_ctx *md, const char *path)
{
	char head[DIR_WALK_HEAD_MAX];
	struct stat st;
	int rc,
	    file = package_open_file(l->root, path, &st, l->errmsg, l->size);

	if (file < 0)
		return file;
	for (size_t i = 0; i < l->n_replayable; i++)
		l->met += strcmp(l->kept[i].path, path) == 0;
	if (l->stamp != NULL)
		add_metadata(l->stamp, path, &st);
	hash_entry(md, head,
		   dir_walk_file_head(head, path, (uint64_t)st.st_size));
	rc = hash_bytes(l, md, path, file, (uintmax_t)st.st_size);
	close(file);
	if (rc < 0)
		return errmsg_of(-rc, l->errmsg, l->size, "%s: %s", path,
				 rc == -ESTALE ? "it changed while it was read"
					       : strerror(-rc));
	return 0;
}

static int hash_metadata(struct listing *l, struct sha256_ctx *md,
			 const char *path)
{
	struct stat st;

	if (fstatat(l->root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errmsg_of(errno, l->errmsg, l->size, "%s: %s", path,
				 strerror(errno));
	add_metadata(md, path, &st);
	return 0;
}

typedef int hash_one(struct listing *l, struct sha256_ctx *md,
		     const char *path);

static void end_hash(struct sha256_ctx *md, char hex[65])
{
	unsigned char sum[SHA256_DIGEST_SIZE];

	sha256_digest(md, sizeof(sum), sum);
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
}

static int digest_listing(struct listing *l, hash_one *hash, char hex[65])
{
	int rc = dir_walk_list(l->root, &l->f, l->errmsg, l->size);
	struct sha256_ctx md;

	if (rc == 0 && hash == hash_file)
		l->block = xcalloc(1, BLOCK_BYTES);
	sha256_init(&md);
	for (size_t i = 0; rc == 0 && i < l->f->n; i++)
		rc = hash(l, &md, l->f->names[i]);
	if (rc == 0 && hash == hash_metadata)
		rc = hash(l, &md, ".");
	end_hash(&md, hex);
	free(l->block);
	l->n_files = rc == 0 ? l->f->n : 0;
	l->n_bytes = rc == 0 ? l->f->bytes : 0;
	dir_walk_free(l->f);
	if (rc == 0 && l->met != l->n_replayable)
		rc = errmsg_set(l->errmsg, l->size,
				"the package changed while it was read");
	return rc;
}

int package_digest(int fd, const struct package_bytes *kept, size_t n,
		   char hex[65], char *errmsg, size_t size)
{
	struct listing l = {.root = fd,
			    .kept = kept,
			    .n_replayable = n,
			    .errmsg = errmsg,
			    .size = size};

	return digest_listing(&l, hash_file, hex);
}

int package_digest_stamped(int fd, const struct package_bytes *kept, size_t n,
			   char hex[65], char stamp[65],
			   struct package_size *all, char *errmsg, size_t size)
{
	struct sha256_ctx metadata;
	struct listing l = {.root = fd,
			    .kept = kept,
			    .n_replayable = n,
			    .stamp = &metadata,
			    .errmsg = errmsg,
			    .size = size};
	int rc;

	sha256_init(&metadata);
	rc = digest_listing(&l, hash_file, hex);
	if (rc == 0)
		rc = hash_metadata(&l, &metadata, ".");
	end_hash(&metadata, stamp);
	*all = (struct package_size){l.n_files, l.n_bytes};
	return rc;
}

int package_stamp(int fd, char hex[65], struct package_size *all, char *errmsg,
		  size_t size)
{
	struct listing l = {.root = fd, .errmsg = errmsg, .size = size};
	int rc = digest_listing(&l, hash_metadata, hex);

	*all = (struct package_size){l.n_files, l.n_bytes};
	return rc;
}
