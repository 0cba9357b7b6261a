/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock.c - Landlock rules for workers, for programs, and for paddock-browser and the
 * resolver. Without Landlock in the kernel the functions return -errno; the caller
 * reports the layer as missing and continues.
 */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/sys.h"

/* Call numbers are equal on every architecture; old headers lack the numbers. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define CREATE_VERSION 1u

/* struct landlock_ruleset_attr as of ABI 6; older kernels take a shorter struct. */
struct ruleset {
	uint64_t fs;
	uint64_t net;
	uint64_t scoped;
};

/* Rights that each ABI added to the preceding ABI. */
static const struct {
	size_t size; /* of the struct that the ABI accepts */
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

/* Set *ALL to all rights that ABI can deny. Returns the size of the struct for ABI. */
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

/* ---- with exceptions ---- */

#define READ_FILES ((1u << 0) | (1u << 2)) /* read and execute */
#define READ_DIRS (1u << 3)
#define CONNECT_TCP (1u << 1)

/* The structs of the kernel; struct path_rule is packed there. */
struct path_rule {
	uint64_t allowed;
	int32_t parent;
} __attribute__((packed));

struct port_rule {
	uint64_t allowed, port;
};

enum { RULE_PATH = 1, RULE_PORT = 2 };

static int leave_path(int ruleset, const char *path)
{
	struct path_rule r = {.allowed = READ_FILES};
	struct stat st;
	int rc = 0;

	r.parent = open(path, O_PATH | O_CLOEXEC);
	if (r.parent < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	if (fstat(r.parent, &st) == 0 && S_ISDIR(st.st_mode))
		r.allowed |= READ_DIRS;
	if (syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &r, 0) != 0)
		rc = -errno;
	close(r.parent);
	return rc;
}

static int leave_port(int ruleset, unsigned number)
{
	const struct port_rule r = {.allowed = CONNECT_TCP, .port = number};

	return sys_result(
	    syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &r, 0));
}

static int leave_all(int ruleset, const struct landlock_leave *l, uint64_t net)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && l->read != NULL && l->read[i] != NULL;
	     i++)
		rc = leave_path(ruleset, l->read[i]);
	if (rc == 0 && l->connect_port != 0 && (net & CONNECT_TCP) != 0)
		rc = leave_port(ruleset, l->connect_port);
	for (size_t i = 0;
	     rc == 0 && (net & CONNECT_TCP) != 0 && i < l->n_ports; i++)
		rc = leave_port(ruleset, l->connect_ports[i]);
	return rc;
}

/* Deny R's rights, except for L; NULL: no exception. SIZE is all_of()'s. */
static int restrict_self(const struct ruleset *r, size_t size,
			 const struct landlock_leave *l)
{
	long fd = syscall(SYS_landlock_create_ruleset, r, size, 0);
	int rc;

	if (fd < 0)
		return -errno;
	rc = l != NULL ? leave_all((int)fd, l, r->net) : 0;
	if (rc == 0 && syscall(SYS_landlock_restrict_self, (int)fd, 0) != 0)
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
		   restrict_self(&all, all_of(abi, &all), NULL);
}

int landlock_leave(const struct landlock_leave *l)
{
	struct ruleset all;
	int abi = find_abi(), rc;
	size_t size;

	if (abi < 0)
		return abi;
	size = all_of(abi, &all);
	if (l->connect)
		all.net &= ~(uint64_t)CONNECT_TCP;
	rc = restrict_self(&all, size, l);
	return rc < 0 ? rc : abi;
}

void landlock_find(struct sandbox *sb)
{
	int abi = find_abi();

	sb->landlock_abi = abi > 0 ? abi : 0;
	sb->err[SANDBOX_LANDLOCK] = abi < 0 ? abi : 0;
}

int landlock_keep_files(const struct sandbox *sb, unsigned port)
{
	const struct landlock_leave leave = {.connect_port = port};
	struct ruleset r;
	size_t size = all_of(sb->landlock_abi, &r);

	r.fs = 0;
	return r.net == 0 && r.scoped == 0 ? 0
					   : restrict_self(&r, size, &leave);
}
