/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rootfs_copy.c - copies packages that are granted by digest, for the zygote of
 * programs. Each file is read once, to hash and to copy the same bytes. A
 * package with a wrong digest, too many bytes or an unreadable file is left out
 * with a clause for people; the other packages continue.
 */
#include "sandbox/rootfs/rootfs_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/dir_walk.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text/errmsg.h"
#include "sandbox/rootfs/mounts.h"

#define WHY_MAX 400
/* a digest covers neither modes nor times, so all copies have the same */
#define MODE 0755
#define TIME 315532800 /* 1980: the oldest time that archives can have */

struct copy {
	const struct rootfs *t;
	struct rootfs_path *p;
	int from, to;
	uint64_t bytes; /* of all files, at the time of the listing */
	uint64_t left;	/* of BYTES, not read yet */
	const uint64_t *all;
	struct sha256 sum;
};

__attribute__((format(printf, 3, 4))) static int fail(struct copy *c, int rc,
						      const char *fmt, ...)
{
	char text[WHY_MAX], errmsg[WHY_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	errmsg_set(errmsg, sizeof(errmsg), "%s",
		   text); /* file names are untrusted */
	free(c->p->errmsg);
	c->p->errmsg = xstrdup(errmsg);
	return rc;
}

/* Does the size of the package, BYTES, fit into the bounds? */
static int account_bytes(struct copy *c, uint64_t bytes)
{
	const struct rootfs *t = c->t;

	c->bytes = c->left = bytes;
	c->p->used = bytes;
	c->p->used_by_all = bytes <= t->copy_bytes;
	if (bytes > t->copy_bytes)
		return fail(c, -EFBIG,
			    "its files have more bytes than "
			    "max_package_copy_bytes");
	c->p->used = *c->all + bytes;
	if (c->p->used > t->copies_bytes)
		return fail(c, -EFBIG,
			    "all packages that are copied have more bytes than "
			    "max_package_copies_bytes");
	return 0;
}

/* Root reads files that workers may not read: a copy must not reveal such files. */
static int may_copy(struct copy *c, const char *name, mode_t mode)
{
	mode_t need = S_ISDIR(mode) ? S_IXOTH : S_IROTH;

	if (!c->t->others || (mode & need) != 0)
		return 0;
	return fail(c, -EACCES,
		    "%s: others may not read it, but workers are others here "
		    "(chmod -R o+rX would do)",
		    name);
}

/* Create the parent folders of NAME. */
static int make_copied_folders(struct copy *c, const char *name)
{
	char path[DIR_WALK_PATH_MAX + 1];
	int rc = 0;

	for (const char *at = name; rc == 0; at++) {
		struct stat st;

		at = strchr(at, '/');
		if (at == NULL)
			break;
		snprintf(path, sizeof(path), "%.*s", (int)(at - name), name);
		if (fstatat(c->from, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    (mkdirat(c->to, path, MODE) != 0 && errno != EEXIST))
			rc = fail(c, -errno, "%s: %s", path, strerror(errno));
		else
			rc = may_copy(c, path, st.st_mode);
	}
	return rc;
}

static int write_copied(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			data += done;
			n -= (size_t)done;
		}
	}
	return 0;
}

/* Copy exactly SIZE bytes. */
static int copy_package_bytes(struct copy *c, int from, int to, uint64_t size)
{
	static char block[1 << 16];

	for (;;) {
		ssize_t n = read(from, block, sizeof(block));
		int rc;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if ((uint64_t)n > size || (n == 0 && size > 0))
			return -ESTALE;
		if (n == 0)
			return 0;
		sha256_add(&c->sum, block, (size_t)n);
		rc = write_copied(to, block, (size_t)n);
		if (rc != 0)
			return rc;
		size -= (uint64_t)n;
	}
}

static int copy_open(struct copy *c, const char *name, int from,
		     const struct stat *st)
{
	static const struct timespec times[2] = {{.tv_sec = TIME},
						 {.tv_sec = TIME}};
	char head[DIR_WALK_HEAD_MAX];
	int to, rc = may_copy(c, name, st->st_mode);

	if (rc != 0)
		return rc;
	if ((uint64_t)st->st_size > c->left)
		return fail(c, -ESTALE, "%s: it grew while it was copied",
			    name);
	c->left -= (uint64_t)st->st_size;
	sha256_add(&c->sum, head,
		   dir_walk_file_head(head, name, (uint64_t)st->st_size));
	to = openat(c->to, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
	if (to < 0)
		return fail(c, -errno, "%s: %s", name, strerror(errno));
	rc = copy_package_bytes(c, from, to, (uint64_t)st->st_size);
	if (rc == 0 && futimens(to, times) != 0)
		rc = -errno;
	close(to);
	if (rc != 0)
		return fail(c, rc, "%s: %s", name,
			    rc == -ESTALE ? "it changed while it was read"
					  : strerror(-rc));
	return 0;
}

static int copy_package_file(struct copy *c, const char *name)
{
	int rc = make_copied_folders(c, name), from;
	struct stat st;

	if (rc != 0)
		return rc;
	from = dir_walk_open_file(c->from, name, &st);
	if (from < 0)
		return fail(c, from, "%s: %s", name, strerror(-from));
	rc = copy_open(c, name, from, &st);
	close(from);
	return rc;
}

static int compare(struct copy *c)
{
	char hex[65];

	sha256_end(&c->sum, hex);
	if (strcmp(hex, c->p->digest) == 0)
		return 0;
	return fail(c, -ESTALE,
		    "its files had the digest %s when programs were prepared, "
		    "and %s is what it was loaded and granted with",
		    hex, c->p->digest);
}

static int copy_all(struct copy *c)
{
	char errmsg[WHY_MAX];
	struct dir_walk *f;
	int rc = dir_walk_list(c->from, &f, errmsg, sizeof(errmsg));

	if (rc != 0)
		return fail(c, rc, "%s", errmsg);
	sha256_begin(&c->sum);
	rc = account_bytes(c, f->bytes);
	for (size_t i = 0; i < f->n && rc == 0; i++)
		rc = copy_package_file(c, f->names[i]);
	if (rc == 0)
		rc = compare(c);
	for (size_t i = 0; i < f->n && rc != 0; i++)
		(void)unlinkat(c->to, f->names[i], 0);
	dir_walk_free(f);
	return rc;
}

int rootfs_copy(const struct rootfs *t, struct rootfs_path *p, int fd, int root,
		const char *to, uint64_t *all)
{
	struct copy c = {.t = t, .p = p, .from = fd, .all = all};
	int rc;

	c.to = mounts_point(root, to, S_IFDIR);
	if (c.to < 0)
		return c.to;
	rc = copy_all(&c);
	close(c.to);
	if (rc == 0)
		*all += c.bytes;
	return rc;
}
