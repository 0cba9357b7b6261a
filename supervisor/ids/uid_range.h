/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid_range.h - the user ids that a server which root started gives to its workers:
 * a range that is nobody's and no other server's. Without root there is none:
 * then workers are who we are.
 */
#ifndef SUPERVISOR_IDS_UID_RANGE_H
#define SUPERVISOR_IDS_UID_RANGE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * As root: find a range and hold it until this process ends, however it does.
 * 0, or -errno with ERRMSG: nothing is to be run then. Otherwise: 0.
 */
int uid_range_take(char *errmsg, size_t size);

/*
 * For a moment, in which no template's code is run: the same without a file
 * being made, and so without a lock where no other server has ever had one.
 */
int uid_range_try(char *errmsg, size_t size);

/*
 * A zygote's ARGV (lent) with what it is told of the range behind the first:
 * "ids=1879048704". The array is the caller's to free.
 */
char **uid_range_argv(char *const argv[]);

/* Of that range paddock-browser's own, which no worker gets; 0: none. */
uid_t uid_range_browser(void);

/* As root: who serves where nobody else is named. 0, or -EINVAL with ERRMSG. */
int uid_range_spare(uid_t *id, char *errmsg, size_t size);

#endif
