/* SPDX-License-Identifier: Apache-2.0 */
/* package_copy.h - a copy of a package, whose manifest may be changed. */
#ifndef CLI_GRANT_PACKAGE_COPY_H
#define CLI_GRANT_PACKAGE_COPY_H

/*
 * Copy the folders and plain files of FROM into the new folder TO. 0, or -errno after a
 * line on stderr; a part of the copy may remain.
 */
int package_copy(const char *from, const char *to);

/* Replace the file PATH by TEXT, whole or not at all. 0, or -errno, as above. */
int package_copy_replace(const char *path, const char *text);

#endif
