/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid_range.h - the user ids for workers of a server that root started: a range
 * that no user and no other server has. Without root there is no range, and
 * workers have the server's uid.
 */
#ifndef SUPERVISOR_IDS_UID_RANGE_H
#define SUPERVISOR_IDS_UID_RANGE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * As root: find a range and hold it until this process ends in any way. 0, or
 * -errno with ERRMSG: nothing may be run then. Not root: 0.
 */
int uid_range_take(char *errmsg, size_t size);

/*
 * As uid_range_take() for a moment in which no template's code runs: no file is
 * made, so there is no lock where no server has ever had one.
 */
int uid_range_try(char *errmsg, size_t size);

/*
 * Return a zygote's ARGV (lent) with the first user id of the range added behind
 * the program's name, as "ids=1879048704". The caller frees the array.
 */
char **uid_range_argv(char *const argv[]);

/*
 * Return paddock-browser's own uid of the range, which no worker gets; 0: none.
 */
uid_t uid_range_browser(void);

/*
 * Return the uid of the child PLACE of paddock-egress, which nobody else gets;
 * 0: none. PLACE is below UID_RANGE_EGRESS.
 */
uid_t uid_range_egress(unsigned place);
#define UID_RANGE_EGRESS 250u

/*
 * As root: find the uid to serve as where no user is named. 0, or -EINVAL with
 * ERRMSG.
 */
int uid_range_spare(uid_t *id, char *errmsg, size_t size);

#endif
