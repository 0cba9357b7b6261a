/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dir_walk.h - all plain files below an untrusted folder: in a fixed order,
 * within bounds, following no link and entering no other mount.
 */
#ifndef BASE_OS_DIR_WALK_H
#define BASE_OS_DIR_WALK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define DIR_WALK_ENTRIES_MAX 32768	       /* most files and folders */
#define DIR_WALK_DEPTH_MAX 32		       /* most folders in each other */
#define DIR_WALK_PATH_MAX 1024		       /* bytes of a relative name */
#define DIR_WALK_BYTES_MAX ((size_t)512 << 20) /* bytes of all files together */

struct dir_walk {
	/* relative to the folder; sorted as by strcmp(3) */
	char **names;
	size_t n, room;
	size_t entries; /* count of files and folders */
	uint64_t bytes; /* sum of the files' sizes, by metadata */
};

/*
 * List the content of the folder FD (O_PATH will do). 0 and *F, for
 * dir_walk_free(); or -EINVAL, with a sentence in ERRMSG (SIZE bytes) and *F
 * freed: unreadable, out of bounds, or neither file nor folder; or an errno
 * that passes (errno_passes.h).
 */
int dir_walk_list(int fd, struct dir_walk **f, char *errmsg, size_t size);
/* List as dir_walk_list() does, without the entry BUT of FD itself. */
int dir_walk_list_but(int fd, const char *but, struct dir_walk **f,
		      char *errmsg, size_t size);
void dir_walk_free(struct dir_walk *f); /* frees F; NULL is fine */

/*
 * Open PATH, relative to FD, for reading: a plain file, with its metadata in
 * *ST. The descriptor; or -EMEDIUMTYPE: another kind of file; -EAGAIN: the file
 * changed meanwhile; -ELOOP, -ENOTDIR: a link or a file on the way; -EXDEV:
 * another mount; or another -errno.
 */
int dir_walk_open_file(int fd, const char *path, struct stat *st);

/*
 * Write the part of a package's digest before a file's bytes to OUT
 * (DIR_WALK_HEAD_MAX bytes) and return its length: PATH with its NUL, and SIZE
 * as eight bytes, little-endian.
 */
#define DIR_WALK_HEAD_MAX (DIR_WALK_PATH_MAX + 1 + 8)
size_t dir_walk_file_head(char *out, const char *path, uint64_t size);

#endif
