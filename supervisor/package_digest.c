#include "supervisor/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/nolink.h"
#include "base/why.h"

#define BLOCK_BYTES ((size_t)64 << 10)

/* The files found so far, and what they amount to. */
struct listing {
	int root;			  /* borrowed */
	char *names[PACKAGE_ENTRIES_MAX]; /* owned: relative to the root */
	size_t n;
	size_t entries; /* folders too */
	uintmax_t bytes;
	char *why;
	size_t size;
};

static int list_dir(struct listing *l, int fd, const char *prefix, int depth);

static int list_file(struct listing *l, char *path, const struct stat *st)
{
	l->names[l->n++] = path;
	if (!S_ISREG(st->st_mode))
		return why_set(l->why, l->size,
			       "%s is neither a plain file nor a folder; a "
			       "package has no links, FIFOs or devices",
			       path);
	l->bytes += (uintmax_t)st->st_size;
	if ((uintmax_t)st->st_size > PACKAGE_BYTES_MAX ||
	    l->bytes > PACKAGE_BYTES_MAX)
		return why_set(l->why, l->size,
			       "the files of the package have more than %zu "
			       "bytes together",
			       PACKAGE_BYTES_MAX);
	return 0;
}

static int list_sub(struct listing *l, int at, const char *name, char *path,
		    int depth)
{
	int fd, rc;

	if (depth >= PACKAGE_DEPTH_MAX) {
		rc = why_set(l->why, l->size,
			     "%s: folders lie more than %d deep", path,
			     PACKAGE_DEPTH_MAX);
		goto out;
	}
	fd = nolink_open_here(at, name, O_RDONLY | O_DIRECTORY);
	if (fd == -EXDEV)
		rc = why_set(l->why, l->size,
			     "%s: something is mounted there; a package has no "
			     "mounts in it",
			     path);
	else if (fd < 0)
		rc = why_set(l->why, l->size, "%s: %s", path, strerror(-fd));
	else
		rc = list_dir(l, fd, path, depth + 1);
out:
	free(path);
	return rc;
}

static int list_entry(struct listing *l, int at, const char *prefix,
		      const char *name, int depth)
{
	struct stat st;
	char *path;

	if (++l->entries > PACKAGE_ENTRIES_MAX)
		return why_set(l->why, l->size,
			       "the package has more than %d files and folders",
			       PACKAGE_ENTRIES_MAX);
	if (strlen(prefix) + 1 + strlen(name) > PACKAGE_PATH_MAX)
		return why_set(l->why, l->size,
			       "%s: a name in it has more than %d bytes",
			       prefix, PACKAGE_PATH_MAX);
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return why_set(l->why, l->size, "%s: %s", name,
			       strerror(errno));
	path = xasprintf("%s%s%s", prefix, *prefix != '\0' ? "/" : "", name);
	if (S_ISDIR(st.st_mode))
		return list_sub(l, at, name, path, depth);
	return list_file(l, path, &st);
}

/* Takes FD. */
static int list_dir(struct listing *l, int fd, const char *prefix, int depth)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	int rc = 0;

	if (d == NULL) {
		close(fd);
		return why_set(l->why, l->size, "%s: %s", prefix,
			       strerror(errno));
	}
	while (rc == 0 && (errno = 0, e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			rc = list_entry(l, dirfd(d), prefix, e->d_name, depth);
	if (rc == 0 && errno != 0)
		rc =
		    why_set(l->why, l->size, "%s: %s", prefix, strerror(errno));
	closedir(d);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All of FILE, which must be as long as its metadata said. 0 or -errno. */
static int hash_bytes(EVP_MD_CTX *md, int file, uintmax_t want)
{
	char *block = xcalloc(1, BLOCK_BYTES);
	int rc = 0;

	for (;;) {
		ssize_t n = read(file, block, BLOCK_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			rc = -errno;
		else if ((uintmax_t)n > want || (n == 0 && want > 0))
			rc = -ESTALE;
		if (rc < 0 || n == 0)
			break;
		EVP_DigestUpdate(md, block, (size_t)n);
		want -= (uintmax_t)n;
	}
	free(block);
	return rc;
}

static int hash_file(struct listing *l, EVP_MD_CTX *md, const char *path)
{
	struct stat st;
	unsigned char size[8];
	int rc, file = package_open_file(l->root, path, &st, l->why, l->size);

	if (file < 0)
		return file;
	for (size_t i = 0; i < sizeof(size); i++)
		size[i] = (unsigned char)((uint64_t)st.st_size >> (8 * i));
	EVP_DigestUpdate(md, path, strlen(path) + 1);
	EVP_DigestUpdate(md, size, sizeof(size));
	rc = hash_bytes(md, file, (uintmax_t)st.st_size);
	close(file);
	if (rc < 0)
		return why_set(l->why, l->size, "%s: %s", path,
			       rc == -ESTALE ? "it changed while it was read"
					     : strerror(-rc));
	return 0;
}

/* A change of any of these is one of ctime, which nobody can set. */
static int hash_metadata(struct listing *l, EVP_MD_CTX *md, const char *path)
{
	struct stat st;

	if (fstatat(l->root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return why_set(l->why, l->size, "%s: %s", path,
			       strerror(errno));
	EVP_DigestUpdate(md, path, strlen(path) + 1);
	EVP_DigestUpdate(md, &st.st_dev, sizeof(st.st_dev));
	EVP_DigestUpdate(md, &st.st_ino, sizeof(st.st_ino));
	/* the folder's own times change with what a template has no part in */
	if (strcmp(path, ".") == 0)
		return 0;
	EVP_DigestUpdate(md, &st.st_mode, sizeof(st.st_mode));
	EVP_DigestUpdate(md, &st.st_size, sizeof(st.st_size));
	EVP_DigestUpdate(md, &st.st_ctim, sizeof(st.st_ctim));
	return 0;
}

typedef int hash_one(struct listing *l, EVP_MD_CTX *md, const char *path);

static int hash_all(struct listing *l, hash_one *hash, char hex[65])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int rc = 0;

	if (md == NULL)
		abort();
	EVP_DigestInit_ex(md, EVP_sha256(), NULL);
	for (size_t i = 0; rc == 0 && i < l->n; i++)
		rc = hash(l, md, l->names[i]);
	if (rc == 0 && hash == hash_metadata)
		rc = hash(l, md, ".");
	EVP_DigestFinal_ex(md, sum, NULL);
	EVP_MD_CTX_free(md);
	for (size_t i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	return rc;
}

static int digest(int fd, hash_one *hash, char hex[65], char *why, size_t size)
{
	struct listing *l = xcalloc(1, sizeof(*l));
	int rc, top = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	l->root = fd;
	l->why = why;
	l->size = size;
	if (top < 0)
		rc = why_set(why, size, "cannot list the folder: %s",
			     strerror(errno));
	else
		rc = list_dir(l, top, "", 0);
	if (rc == 0) {
		qsort(l->names, l->n, sizeof(l->names[0]), by_name);
		rc = hash_all(l, hash, hex);
	}
	for (size_t i = 0; i < l->n; i++)
		free(l->names[i]);
	free(l);
	return rc;
}

int package_digest(int fd, char hex[65], char *why, size_t size)
{
	return digest(fd, hash_file, hex, why, size);
}

int package_stamp(int fd, char hex[65], char *why, size_t size)
{
	return digest(fd, hash_metadata, hex, why, size);
}
