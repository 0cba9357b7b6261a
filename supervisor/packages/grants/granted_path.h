/* SPDX-License-Identifier: Apache-2.0 */
/*
 * granted_path.h - is a path of the host among the paths that an operator
 * granted?
 *
 * A grant names folders and files; a manifest names a path that is granted or
 * lies below a granted folder. No process follows a link for such a path,
 * neither here nor where a program is shown the path: a path names only the
 * object that lies there. So a user who may make links below a granted folder
 * grants nothing by links.
 */
#ifndef SUPERVISOR_GRANTS_GRANTED_PATH_H
#define SUPERVISOR_GRANTS_GRANTED_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/os/nofollow.h"

/*
 * Is PATH, absolute and plain (nofollow_is_plain()), FOLDER or below it? Names
 * alone are compared: nothing is looked at, so nothing is known of links.
 */
bool granted_path_names(const char *folder, const char *path);

/*
 * As granted_path_names() for the folders of LIST, as read_paths has them:
 * spaces between. NULL: an empty list.
 */
bool granted_path_listed(const char *list, const char *path);

/*
 * Open PATH through no link, below the first folder of LIST (as above; each
 * absolute) that names it, and identify the file in *ID. 0; or *ID is empty,
 * ERRMSG (SIZE bytes) is a clause about PATH for people ("/srv/a is missing"),
 * and:
 *   -EACCES       no folder names PATH
 *   -EPERM        granted, but this process may not go there; the process that
 *                 starts programs may, and finds the same by the same rules
 *   -ENOENT       granted, but nothing lies there: no harm, no data
 *   -ELOOP        a part of PATH, or of the folder's own path, is a link
 *   -EMEDIUMTYPE  neither a file nor a folder
 *   -ENOSYS       the kernel cannot open without links (before Linux 5.6)
 * or another -errno. Nothing is read, and no device or FIFO is woken.
 */
int granted_path_find(const char *list, const char *path, struct file_id *id,
		      char *errmsg, size_t size);

#endif
