/* SPDX-License-Identifier: Apache-2.0 */
/* dir_remove.h - removes a folder with all in it, following no link. */
#ifndef BASE_OS_DIR_REMOVE_H
#define BASE_OS_DIR_REMOVE_H

/*
 * Remove NAME below the folder AT: a file, a link (not its target), or a folder with
 * all in it, whatever other processes do there meanwhile. 0, also when there is
 * no NAME; or -errno: something is left.
 */
int dir_remove(int at, const char *name);

#endif
