/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uids.c - the uids and gids of zygotes and workers: in a user namespace, or
 * the ids of the host that root keeps for them; and what a change of them
 * undoes, a death with the parent. -errno when they cannot be changed: then
 * workers share the zygote's. A parent that is dead already is -ESRCH, and the
 * caller exits.
 */
#include "sandbox/uids.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The gid comes first: without the uid the right to change it may be gone. */
static int become(unsigned int id)
{
	if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
		return -errno;
	return 0;
}

int uids_zygote_mapped(const struct sandbox *sb)
{
	if (setgroups(0, NULL) != 0)
		return -errno;
	return become(sb->first_id + sb->slots);
}

int uids_zygote_direct(struct sandbox *sb)
{
	int rc;

	if (sb->host_ids == 0)
		return -ENOENT;
	if (setgroups(0, NULL) != 0)
		return -errno;
	rc = become(sb->host_ids + sb->slots);
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
	return become(sb->first_id + slot);
}

int pdeathsig_set(int fd)
{
	struct pollfd p = {.fd = fd};

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return -errno;
	/* A parent that died before prctl(2) closed its end of the socket. */
	if (poll(&p, 1, 0) < 0)
		return -errno;
	return (p.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ? -ESRCH : 0;
}
