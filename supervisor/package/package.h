/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package.h - the files of a template package, read without trusting them.
 *
 * Whatever lies in the folder (links, FIFOs, devices, floods), nothing here
 * follows it out, waits for it, or reads more than the bounds below. Each
 * function writes to ERRMSG (SIZE bytes) what was wrong when it fails.
 */
#ifndef SUPERVISOR_PACKAGE_PACKAGE_H
#define SUPERVISOR_PACKAGE_PACKAGE_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/os/dir_walk.h"

#define MANIFEST_FILE "template.json"

#define PACKAGE_FILE_MAX ((size_t)1 << 20) /* bytes of manifest or code */

/* The folder DIR, opened for the functions below; or -EINVAL. */
int package_open(const char *dir, char *errmsg, size_t size);

/*
 * Open PATH, relative to the package FD: a regular file, reached through no
 * symbolic link. The file, with its metadata in *ST; or -EINVAL.
 */
int package_open_file(int fd, const char *path, struct stat *st, char *errmsg,
		      size_t size);

/*
 * Read all of PATH, at most PACKAGE_FILE_MAX bytes. 0 and *DATA, NUL-ended,
 * the caller's; or -EINVAL.
 */
int package_read(int fd, const char *path, char **data, size_t *len,
		 char *errmsg, size_t size);

/*
 * The SHA-256, as hex, over every file below FD in the order of their names:
 * the name with its NUL, the size as eight bytes (little-endian), the bytes.
 * 0, or -EINVAL: unreadable, out of bounds, neither file nor folder, or one of
 * the N files of KEPT has other bytes by now than those that are kept of it: so
 * what was read before is what the digest is of.
 */
struct package_bytes { /* lent */
	const char *path;
	const char *data;
	size_t len;
};
int package_digest(int fd, const struct package_bytes *kept, size_t n,
		   char hex[65], char *errmsg, size_t size);

/*
 * The same over what the metadata say of the files, *FILES of them, and of the
 * folder: equal again, and nothing has been changed, or put in its place.
 */
int package_stamp(int fd, char hex[65], size_t *files, char *errmsg,
		  size_t size);

/* Both at once, in less time: STAMP is from before each file was read. */
int package_digest_stamped(int fd, const struct package_bytes *kept, size_t n,
			   char hex[65], char stamp[65], size_t *files,
			   char *errmsg, size_t size);

#endif
