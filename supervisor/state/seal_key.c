/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_key.c - makes and reads STATE/seal.key, for who seals a requestState
 * first. A file that cannot be, or that others could have read or written, is
 * told by a sentence, and a key of memory serves instead.
 */
#include "supervisor/state/seal_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "supervisor/state/state_file.h"

static void make_key(unsigned char out[SEAL_KEY_BYTES])
{
	if (getrandom(out, SEAL_KEY_BYTES, 0) != SEAL_KEY_BYTES)
		abort();
}

/* ---- a file that is there ---- */

/* What is wrong with it, and what would pass; NULL: nothing. */
static const char *fault_of(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is no regular file";
	if (st->st_uid != geteuid())
		return "belongs to another user than the one that serves";
	if ((st->st_mode & 0177) != 0)
		return "has another mode than 0600, so others may know it";
	if (st->st_size != SEAL_KEY_BYTES)
		return "has not 32 bytes";
	return NULL;
}

static int read_all(int fd, unsigned char out[SEAL_KEY_BYTES])
{
	ssize_t n;

	do
		n = pread(fd, out, SEAL_KEY_BYTES, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n == SEAL_KEY_BYTES ? 0 : -EIO;
}

/* -EINVAL: *FAULT says what is wrong with what is there. */
static int read_key(unsigned char out[SEAL_KEY_BYTES], const char *path,
		    const char **fault)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int rc = 0;

	if (fd < 0) {
		if (errno == ELOOP)
			*fault = "is a symbolic link";
		return errno == ELOOP ? -EINVAL : -errno;
	}
	if (fstat(fd, &st) != 0)
		rc = -errno;
	else if ((*fault = fault_of(&st)) != NULL)
		rc = -EINVAL;
	else
		rc = read_all(fd, out);
	close(fd);
	return rc;
}

/* ---- a new one ---- */

static int write_key(int fd)
{
	unsigned char key[SEAL_KEY_BYTES];
	ssize_t n;

	make_key(key);
	do
		n = write(fd, key, sizeof(key));
	while (n < 0 && errno == EINTR);
	explicit_bzero(key, sizeof(key));
	if (n < 0)
		return -errno;
	if (n != SEAL_KEY_BYTES)
		return -ENOSPC;
	return fsync(fd) == 0 ? 0 : -errno;
}

/* Whole under a name of its own, then under PATH, unless another was first. */
static int make_file(const char *state_dir, const char *path)
{
	char *tmp;
	int rc = state_file_mkdirs(state_dir), fd;

	if (rc != 0)
		return rc;
	tmp = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(tmp, O_CLOEXEC); /* 0600 */
	rc = fd < 0 ? -errno : write_key(fd);
	if (rc == 0 && link(tmp, path) != 0 && errno != EEXIST)
		rc = -errno;
	if (fd >= 0) {
		close(fd);
		unlink(tmp);
	}
	free(tmp);
	return rc == 0 ? state_file_sync(state_dir) : rc;
}

int seal_key_load(unsigned char out[SEAL_KEY_BYTES], const char *state_dir,
		  char *errmsg, size_t size)
{
	char *path = xasprintf("%s/" SEAL_KEY_FILE, state_dir);
	const char *fault = NULL;
	int rc = read_key(out, path, &fault);

	if (rc == -ENOENT) {
		rc = make_file(state_dir, path);
		if (rc == 0)
			rc = read_key(out, path, &fault);
	}
	if (rc != 0) {
		make_key(out);
		errmsg_set(errmsg, size,
			   "%s %s; until this server ends another key serves, "
			   "of which no other knows. Whoever runs it can %s",
			   path, fault != NULL ? fault : strerror(-rc),
			   fault != NULL ? "remove that file, and a new one is "
					   "made"
					 : "let the file be made and read");
	}
	free(path);
	return rc;
}
