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

int landlock_enter(struct sandbox *sb)
{
	struct ruleset all = {0};
	size_t size = 0;
	long abi =
	    syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
	long fd;
	int rc = 0;

	if (abi < 0)
		return sb->err[SANDBOX_LANDLOCK] = -errno;
	sb->landlock_abi = (int)abi;
	for (size_t i = 0; i < ARRAY_LEN(abis) && i < (size_t)abi; i++) {
		all.fs |= abis[i].denies.fs;
		all.net |= abis[i].denies.net;
		all.scoped |= abis[i].denies.scoped;
		size = abis[i].size;
	}
	fd = syscall(SYS_landlock_create_ruleset, &all, size, 0);
	if (fd < 0)
		return sb->err[SANDBOX_LANDLOCK] = -errno;
	if (syscall(SYS_landlock_restrict_self, (int)fd, 0) != 0)
		rc = -errno;
	close((int)fd);
	return sb->err[SANDBOX_LANDLOCK] = rc;
}
