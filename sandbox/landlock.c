#include "sandbox/landlock.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

/* The numbers are the same on every architecture; old headers lack them. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

#define CREATE_VERSION 1u

/* The kernel's struct, as of ABI 6; older ones take a shorter one. */
struct ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

/* What each ABI, from the first on, added to the last. */
static const struct {
	size_t size; /* of the struct that this ABI knows */
	struct ruleset denies;
} abis[] = {
    {offsetof(struct ruleset, net), {.fs = 0x1fff}},
    {offsetof(struct ruleset, net), {.fs = 1u << 13}}, /* refer */
    {offsetof(struct ruleset, net), {.fs = 1u << 14}}, /* truncate */
    {offsetof(struct ruleset, scoped), {.net = 3}},    /* TCP bind, connect */
    {offsetof(struct ruleset, scoped), {.fs = 1u << 15}}, /* device ioctl */
    {sizeof(struct ruleset), {.scoped = 3}}, /* abstract sockets, signals */
};

static int find_abi(void)
{
	long abi =
	    syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);

	return abi < 0 ? -errno : (int)abi;
}

/* All that ABI can deny; how much of it that kernel knows. */
static size_t all_of(int abi, struct ruleset *all)
{
	size_t size = 0;

	*all = (struct ruleset){0};
	for (size_t i = 0; i < ARRAY_LEN(abis) && i < (size_t)abi; i++) {
		all->fs |= abis[i].denies.fs;
		all->net |= abis[i].denies.net;
		all->scoped |= abis[i].denies.scoped;
		size = abis[i].size;
	}
	return size;
}

static int restrict_self(const struct ruleset *r, size_t size)
{
	long fd = syscall(SYS_landlock_create_ruleset, r, size, 0);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_landlock_restrict_self, (int)fd, 0) != 0)
		rc = -errno;
	close((int)fd);
	return rc;
}

int landlock_enter(struct sandbox *sb)
{
	struct ruleset all;
	int abi = find_abi();

	if (abi < 0)
		return sb->err[SANDBOX_LANDLOCK] = abi;
	sb->landlock_abi = abi;
	return sb->err[SANDBOX_LANDLOCK] =
		   restrict_self(&all, all_of(abi, &all));
}

void landlock_find(struct sandbox *sb)
{
	int abi = find_abi();

	sb->landlock_abi = abi > 0 ? abi : 0;
	sb->err[SANDBOX_LANDLOCK] = abi < 0 ? abi : 0;
}

int landlock_keep_files(const struct sandbox *sb)
{
	struct ruleset r;
	size_t size = all_of(sb->landlock_abi, &r);

	r.fs = 0;
	return r.net == 0 && r.scoped == 0 ? 0 : restrict_self(&r, size);
}
