/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uids.c - uids and gids of zygotes and workers: ids in a user namespace, or ids of the
 * host that root reserves for paddock; and SIGKILL at the parent's death, which a change
 * of ids resets. -errno when the ids cannot be changed: then workers share the zygote's
 * uid. -ESRCH when the parent is dead already: then the caller exits.
 */
#include "sandbox/uids.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/*
 * The gid comes first: after a change of the uid the right to change the gid may be gone.
 */
static int become_uid(unsigned int id)
{
	if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
		return -errno;
	return 0;
}

int uids_zygote_mapped(const struct sandbox *sb)
{
	if (setgroups(0, NULL) != 0)
		return -errno;
	return become_uid(sb->first_id + sb->slots);
}

int uids_zygote_direct(struct sandbox *sb)
{
	int rc;

	if (sb->host_ids == 0)
		return -ENOENT;
	if (setgroups(0, NULL) != 0)
		return -errno;
	rc = become_uid(sb->host_ids + sb->slots);
	if (rc != 0)
		return rc;
	sb->own_ids = true;
	sb->first_id = sb->host_ids;
	sb->uid_base = (int)sb->host_ids;
	return 0;
}

int uids_worker(const struct sandbox *sb, unsigned int slot)
{
	if (!sb->own_ids)
		return 0;
	return become_uid(sb->first_id + slot);
}

int pdeathsig_set(int fd)
{
	struct pollfd p = {.fd = fd};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -errno;
	/* a parent that died before prctl(2) has closed the other end of the socket */
	if (poll(&p, 1, 0) < 0)
		return -errno;
	return (p.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ? -ESRCH : 0;
}
