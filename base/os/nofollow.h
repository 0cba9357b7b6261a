/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nofollow.h - files by their paths, through no symbolic link.
 *
 * A path that no link is followed in names one thing at a time, and what was
 * opened is what was named: so open once, look at the descriptor, and use it.
 * Needs Linux 5.6 (openat2(2)); without it nothing is opened (-ENOSYS).
 */
#ifndef BASE_OS_NOFOLLOW_H
#define BASE_OS_NOFOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Open PATH with FLAGS and O_CLOEXEC; no part of it may be a symbolic link, or
 * one of /proc's. AT_FDCWD: PATH is absolute. Else PATH is relative to the
 * folder AT, and does not lead out of it. The descriptor, or -errno: -ELOOP
 * for a link, -EXDEV for what leads out.
 */
int nofollow_open(int at, const char *path, int flags);

/* The same below AT, but -EXDEV for what is mounted there, too. */
int nofollow_open_here(int at, const char *path, int flags);

/*
 * For a message: how much of PATH, which is absolute, is its first part that is
 * a link; 0: none is, now.
 */
size_t nofollow_link_len(const char *path);

/*
 * Is PATH the plain relative name of a file: no empty, "." or ".." part and
 * no control character?
 */
bool nofollow_is_plain(const char *path);

/* Which file a descriptor is of. Two that live at once differ in it. */
struct file_id {
	uint64_t dev, ino; /* both 0: of none */
};

/* FD's. 0 or -errno. */
int file_id_of(int fd, struct file_id *id);
bool file_id_same(const struct file_id *a, const struct file_id *b);

#endif
