/* SPDX-License-Identifier: Apache-2.0 */
/*
 * package.h - reads the files of a template package, without trusting them.
 *
 * Whatever lies in the folder (links, FIFOs, devices, floods), nothing here
 * follows a link out, waits, or reads more than the bounds below. A function
 * that fails writes the fault to ERRMSG (SIZE bytes). Beside -EINVAL, for a
 * package that is wrong, each function may return an errno that passes
 * (errno_passes.h), which says nothing of the package.
 */
#ifndef SUPERVISOR_PACKAGE_PACKAGE_H
#define SUPERVISOR_PACKAGE_PACKAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/os/dir_walk.h"

#define MANIFEST_FILE "template.json"

#define PACKAGE_FILE_MAX ((size_t)1 << 20) /* most bytes of manifest or code */

/* Open the folder DIR for the functions below; -EINVAL on failure. */
int package_open(const char *dir, char *errmsg, size_t size);

/*
 * Open PATH, relative to the package FD: a regular file, reached through no
 * symbolic link. Returns the descriptor, with the metadata in *ST; or -EINVAL.
 */
int package_open_file(int fd, const char *path, struct stat *st, char *errmsg,
		      size_t size);

/*
 * Read all of PATH, at most PACKAGE_FILE_MAX bytes. 0 and *DATA, NUL-ended, the
 * caller's; or -EINVAL.
 */
int package_read(int fd, const char *path, char **data, size_t *len,
		 char *errmsg, size_t size);

struct package_size {
	size_t files;
	uint64_t bytes;
};

struct package_bytes { /* lent */
	const char *path;
	const char *data;
	size_t len;
};

/*
 * Make the SHA-256, as hex, over every file below FD in the order of names: the
 * name with its NUL, the size as eight bytes (little-endian), the bytes. 0, or
 * -EINVAL: unreadable, out of bounds, neither file nor folder, or one of the N
 * files of KEPT has other bytes now: so the digest is of the bytes that were
 * read before.
 */
int package_digest(int fd, const struct package_bytes *kept, size_t n,
		   char hex[65], char *errmsg, size_t size);

/*
 * Make the SHA-256 over the metadata of the files, *ALL of them, and of the
 * folder: an equal stamp later means that nothing was changed or replaced.
 */
int package_stamp(int fd, char hex[65], struct package_size *all, char *errmsg,
		  size_t size);

/*
 * Make digest and stamp in one pass: STAMP is from before each file was read.
 */
int package_digest_stamped(int fd, const struct package_bytes *kept, size_t n,
			   char hex[65], char stamp[65],
			   struct package_size *all, char *errmsg, size_t size);

#endif
