/* SPDX-License-Identifier: Apache-2.0 */
/* confine.h - the cage of a child of paddock-egress, from after the fork on. */
#ifndef EGRESS_RUN_CONFINE_H
#define EGRESS_RUN_CONFINE_H

#include <linux/filter.h>
#include <sys/types.h>

#include "egress/policy/settings.h"

/*
 * Keep the descriptors 0 to 2 and the N of FDS, which become 3 and the next ones; the
 * process dies with PARENT.
 */
void confine_begin(pid_t parent, int *fds, unsigned n);
/*
 * Give up the user, files, other ports and nearly all system calls, once everything is
 * open. Ends the process where the order's user or the filter cannot be had.
 */
void confine_end(const struct settings *s, const struct order *o,
		 const struct sock_fprog *filter, pid_t parent, unsigned files);

#endif
