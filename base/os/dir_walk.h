/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dir_walk.h - all plain files below a folder that nobody trusts: found in one
 * order, within bounds, through no link and into no other mount.
 */
#ifndef BASE_OS_DIR_WALK_H
#define BASE_OS_DIR_WALK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DIR_WALK_ENTRIES_MAX 32768	       /* files and folders */
#define DIR_WALK_DEPTH_MAX 32		       /* folders in folders */
#define DIR_WALK_PATH_MAX 1024		       /* bytes of a relative name */
#define DIR_WALK_BYTES_MAX ((size_t)512 << 20) /* of all files together */

struct dir_walk {
	/* relative; sorted as by strcmp(3) */
	char **names;
	size_t n, room;
	size_t entries; /* folders too */
	uint64_t bytes; /* as their metadata say */
};

/*
 * What lies in FD (O_PATH will do). 0 and *F, for dir_walk_free(); or -EINVAL,
 * with the sentence in ERRMSG (SIZE bytes), *F freed: unreadable, out of bounds,
 * or neither file nor folder.
 */
int dir_walk_list(int fd, struct dir_walk **f, char *errmsg, size_t size);
/* The same, but for what is called BUT in FD itself. */
int dir_walk_list_but(int fd, const char *but, struct dir_walk **f,
		      char *errmsg, size_t size);
void dir_walk_free(struct dir_walk *f); /* NULL is fine */

/*
 * Open PATH, relative to FD, for reading: a plain file, with its metadata in
 * *ST. The descriptor; or -EMEDIUMTYPE: another kind of file; -EAGAIN: it
 * changed meanwhile; -ELOOP, -ENOTDIR: a link or a file on the way; -EXDEV:
 * mounted there; or another -errno.
 */
int dir_walk_open_file(int fd, const char *path, struct stat *st);

/*
 * The part of a package's digest that precedes the bytes of a file: PATH with
 * its NUL, and the size as eight bytes, little-endian. To OUT
 * (DIR_WALK_HEAD_MAX bytes); its length.
 */
#define DIR_WALK_HEAD_MAX (DIR_WALK_PATH_MAX + 1 + 8)
size_t dir_walk_file_head(char *out, const char *path, uint64_t size);

#endif
