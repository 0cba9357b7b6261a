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

#define FOLDER_ENTRIES_MAX 2048 /* files and folders */
#define FOLDER_DEPTH_MAX 16	/* folders in folders */
#define FOLDER_PATH_MAX 1024	/* bytes of a relative name */
#define FOLDER_BYTES_MAX ((size_t)64 << 20) /* of all files together */

struct folder {
	char *names[FOLDER_ENTRIES_MAX]; /* relative; sorted as by strcmp(3) */
	size_t n;
	size_t entries;	 /* folders too */
	uint64_t bytes;	 /* as their metadata say */
};

/*
 * What lies in FD (O_PATH will do). 0 and *F, for folder_free(); or -EINVAL,
 * with the sentence in WHY (SIZE bytes), *F freed: unreadable, out of bounds,
 * or neither file nor folder.
 */
int folder_list(int fd, struct folder **f, char *why, size_t size);
void folder_free(struct folder *f); /* NULL is fine */

/*
 * Open PATH, relative to FD, for reading: a plain file, with its metadata in
 * *ST. The descriptor; or -EMEDIUMTYPE: another kind of file; -EAGAIN: it
 * changed meanwhile; -ELOOP, -ENOTDIR: a link or a file on the way; -EXDEV:
 * mounted there; or another -errno.
 */
int folder_open_file(int fd, const char *path, struct stat *st);

/*
 * What a package's digest has of a file before its bytes: PATH with its NUL,
 * and its size as eight bytes, little-endian. To OUT, which has room for
 * FOLDER_HEAD_MAX; how many.
 */
#define FOLDER_HEAD_MAX (FOLDER_PATH_MAX + 1 + 8)
size_t folder_file_head(char *out, const char *path, uint64_t size);

#endif
