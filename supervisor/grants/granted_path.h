/* SPDX-License-Identifier: Apache-2.0 */
/*
 * granted_path.h - is a path of the host among those that an operator granted?
 *
 * A grant names folders and files; a manifest names a path that is one of
 * them or lies below one. Nobody follows a link for it, neither here nor
 * where it is shown to a program: a path names what lies there itself. So who
 * may make links below a granted folder grants nothing by them.
 */
#ifndef SUPERVISOR_GRANTS_GRANTED_PATH_H
#define SUPERVISOR_GRANTS_GRANTED_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/os/nofollow.h"

/*
 * Is PATH, absolute and plain (nofollow_is_plain()), FOLDER or below it? By
 * their names alone: nothing is looked at, and so nothing is known of links.
 */
bool granted_path_names(const char *folder, const char *path);

/* The same for LIST, as read_paths has it: spaces between. NULL: none. */
bool granted_path_listed(const char *list, const char *path);

/*
 * Open PATH below the first folder of LIST (as above; each absolute) that names
 * it, through no link: which file it is in *ID. 0; or *ID is none's, ERRMSG (SIZE
 * bytes) is a clause about PATH for people ("/srv/a is …"), and:
 *   -EACCES       no folder names it
 *   -EPERM        it is granted, but this process may not go there; who
 *                 starts programs may, and finds the same by the same rules
 *   -ENOENT       it is granted, but nothing lies there: no harm, no data
 *   -ELOOP        a part of it, or of the folder's own path, is a link
 *   -EMEDIUMTYPE  neither a file nor a folder
 *   -ENOSYS       the kernel cannot open without links (before Linux 5.6)
 * or another -errno. Nothing is read, and no device or FIFO is woken.
 */
int granted_path_find(const char *list, const char *path, struct file_id *id,
		      char *errmsg, size_t size);

#endif
