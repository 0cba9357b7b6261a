/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package_copy.c - copies a package for "template learn", and replaces files. Links and
 * special files are left out: no package has such files. A copy beyond the bound is
 * refused.
 */
#include "cli/grant/package_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/terminal.h"

#define BYTES_MAX ((size_t)512 << 20)
#define OPEN_FILES 16

/* The copy under way: nftw(3) has no argument for its callback. */
static struct {
	const char *to;
	size_t skip; /* bytes of the source's path */
	size_t left; /* bytes that may still be copied */
	int err;
} copy;

static int write_file(const char *path, int flags, mode_t mode,
		      const char *text, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
	int rc = 0;

	if (fd < 0)
		return -errno;
	while (n > 0 && rc == 0) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno != EINTR)
			rc = -errno;
		if (done > 0) {
			text += done;
			n -= (size_t)done;
		}
	}
	if (rc == 0 && fchmod(fd, mode) != 0)
		rc = -errno;
	if (close(fd) != 0 && rc == 0)
		rc = -errno;
	return rc;
}

static int copy_file(const char *from, const char *to, mode_t mode)
{
	int fd = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct buf text = {0};
	int rc;

	if (fd < 0)
		return -errno;
	rc = buf_read(&text, fd, copy.left);
	close(fd);
	if (rc == 0) {
		copy.left -= buf_len(&text);
		rc = write_file(to, O_EXCL, mode, buf_data(&text),
				buf_len(&text));
	}
	buf_fini(&text);
	return rc;
}

static int copy_one(const char *path, const struct stat *st, int type,
		    struct FTW *ftw)
{
	char *to = xasprintf("%s%s", copy.to, path + copy.skip);
	int rc = 0;

	(void)ftw;
	if (type == FTW_D)
		rc = mkdir(to, 0755) == 0 ? 0 : -errno;
	else if (type == FTW_F && S_ISREG(st->st_mode))
		rc = copy_file(path, to,
			       (st->st_mode & 0111) != 0 ? 0755 : 0644);
	else if (type == FTW_DNR || type == FTW_NS)
		rc = -EACCES;
	if (rc != 0)
		message_print("%s: %s", path, strerror(-rc));
	free(to);
	copy.err = rc;
	return rc;
}

int package_copy(const char *from, const char *to)
{
	char *plain = xstrdup(from);
	size_t n = strlen(plain);
	int rc;

	while (n > 1 && plain[n - 1] == '/')
		plain[--n] = '\0';
	copy.to = to;
	copy.skip = n;
	copy.left = BYTES_MAX;
	copy.err = 0;
	rc = nftw(plain, copy_one, OPEN_FILES, FTW_PHYS);
	if (rc == -1) {
		copy.err = -errno;
		message_print("%s: %s", plain, strerror(errno));
	}
	free(plain);
	return rc == 0 ? 0 : copy.err;
}

int package_copy_replace(const char *path, const char *text)
{
	char *part = xasprintf("%s.part", path);
	int rc;

	(void)unlink(part);
	rc = write_file(part, O_EXCL | O_NOFOLLOW, 0644, text, strlen(text));
	if (rc == 0 && rename(part, path) != 0)
		rc = -errno;
	if (rc != 0) {
		(void)unlink(part);
		message_print("%s: %s", path, strerror(-rc));
	}
	free(part);
	return rc;
}
