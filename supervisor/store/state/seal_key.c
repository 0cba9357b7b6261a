/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_key.c - makes and reads STATE/seal.key, when a requestState is first
 * sealed. A file that cannot be made or read, or that other users could have
 * read or written, is reported by a sentence, and a key in memory serves
 * instead.
 */
#include "supervisor/store/state/seal_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text/errmsg.h"
#include "supervisor/store/state/state_file.h"

static void make_key(unsigned char out[SEAL_KEY_BYTES])
{
	if (getrandom(out, SEAL_KEY_BYTES, 0) != SEAL_KEY_BYTES)
		abort();
}

/* ---- an existing file ---- */

/* Return the fault of the file, for people; NULL: there is none. */
static const char *key_file_fault(const struct stat *st)
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

/* Read the key. -EINVAL: *FAULT has the fault of the file. */
static int read_key(unsigned char out[SEAL_KEY_BYTES], const char *path,
		    const char **fault)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n;
	int rc = 0;

	if (fd < 0) {
		if (errno == ELOOP)
			*fault = "is a symbolic link";
		return errno == ELOOP ? -EINVAL : -errno;
	}
	if (fstat(fd, &st) != 0) {
		rc = -errno;
	} else if ((*fault = key_file_fault(&st)) != NULL) {
		rc = -EINVAL;
	} else {
		do
			n = pread(fd, out, SEAL_KEY_BYTES, 0);
		while (n < 0 && errno == EINTR);
		if (n != SEAL_KEY_BYTES)
			rc = n < 0 ? -errno : -EIO;
	}
	close(fd);
	return rc;
}

/* ---- a new file ---- */

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

/*
 * Make a whole file under a temporary name, then link it as PATH, unless
 * another process was first.
 */
static int make_key_file(const char *state_dir, const char *path)
{
	char *tmp;
	int rc = state_file_mkdirs(state_dir), fd;

	if (rc != 0)
		return rc;
	tmp = xasprintf("%s.XXXXXX", path);
	fd = mkostemp(tmp, O_CLOEXEC); /* makes the file with mode 0600 */
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
		rc = make_key_file(state_dir, path);
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
