/* SPDX-License-Identifier: Apache-2.0 */
/* dir_remove.h - a folder and all in it, removed through no link. */
#ifndef BASE_OS_DIR_REMOVE_H
#define BASE_OS_DIR_REMOVE_H

/*
 * Remove NAME below the folder AT: a file, a link itself, or a folder with all in
 * it, whatever others do there meanwhile. 0, which it is when there was none; or
 * -errno: something is left.
 */
int dir_remove(int at, const char *name);

#endif
