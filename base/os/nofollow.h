/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nofollow.h - opens files by their paths, following no symbolic link.
 *
 * A check of a path can be outdated before the use of the path. So open the
 * path once, without following links, check the descriptor, and use the
 * descriptor. Needs Linux 5.6 (openat2(2)); without openat2 nothing is opened
 * (-ENOSYS).
 */
#ifndef BASE_OS_NOFOLLOW_H
#define BASE_OS_NOFOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Open PATH with FLAGS and O_CLOEXEC; no part of PATH may be a symbolic link,
 * or a link of /proc. AT_FDCWD: PATH is absolute. Else PATH is relative to the
 * folder AT, and must not lead out of AT. The descriptor, or -errno: -ELOOP for
 * a link, -EXDEV for a path out of AT.
 */
int nofollow_open(int at, const char *path, int flags);

/* Open as nofollow_open() does below AT, but -EXDEV for another mount, too. */
int nofollow_open_here(int at, const char *path, int flags);

/*
 * Return the length of the first part of PATH (absolute) that is a link, for a
 * message; 0: there is no link now.
 */
size_t nofollow_link_len(const char *path);

/*
 * Is PATH the plain relative name of a file: no empty, "." or ".." part and
 * no control character?
 */
bool nofollow_is_plain(const char *path);

/*
 * The identity of a file; two files existing at once have different identities.
 */
struct file_id {
	uint64_t dev, ino; /* 0 and 0: no file */
};

/* Write the identity of FD's file. 0 or -errno. */
int file_id_of(int fd, struct file_id *id);
bool file_id_same(const struct file_id *a, const struct file_id *b);

#endif
