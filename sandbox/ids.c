#include "sandbox/ids.h"

#include <errno.h>
#include <grp.h>
#include <unistd.h>

/* Above what distributions hand out; and what fits a 16-bit container. */
const unsigned int ids_bases[IDS_BASES] = {200000, 60600};

/* gid first: afterwards the right to change it may be gone. */
static int become(unsigned int id)
{
	if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0)
		return -errno;
	return 0;
}

int ids_zygote_mapped(const struct sandbox *sb)
{
	if (setgroups(0, NULL) != 0)
		return -errno;
	return become(sb->first_id + sb->slots);
}

int ids_zygote_direct(struct sandbox *sb)
{
	int rc = -EPERM;

	if (setgroups(0, NULL) != 0)
		return -errno;
	for (size_t i = 0; i < IDS_BASES && rc != 0; i++) {
		rc = become(ids_bases[i] + sb->slots);
		if (rc == 0) {
			sb->own_ids = true;
			sb->first_id = ids_bases[i];
			sb->uid_base = (int)ids_bases[i];
		}
	}
	return rc;
}

int ids_worker(const struct sandbox *sb, unsigned int slot)
{
	if (!sb->own_ids)
		return 0;
	return become(sb->first_id + slot);
}
