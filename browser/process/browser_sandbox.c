/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_sandbox.c - confines paddock-browser and its resolver, called by
 * main.c after the last fork and before the first byte from Chromium. Without
 * seccomp the process exits with an error. A missing Landlock is shown in the
 * status, and only the filter then denies files.
 */
#include "browser/process/browser_sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/no_core.h"
#include "proto/json/json_pack.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"

#define DNS_PORT 53
#define FILES_MAX 2048		       /* two a connection, and a few */
#define MEMORY_MAX (UINT64_C(4) << 30) /* far above the need of answers */

/* ---- limits ---- */

static const struct {
	int what;
	rlim_t most;
} bounds[] = {
    {RLIMIT_CORE, NO_CORE_BYTES}, {RLIMIT_NOFILE, FILES_MAX},
    {RLIMIT_MEMLOCK, 0},	  {RLIMIT_MSGQUEUE, 0},
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer reserves terabytes */
    {RLIMIT_AS, MEMORY_MAX},
#endif
};

static int limit(void)
{
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		struct rlimit own;

		if (getrlimit(bounds[i].what, &own) != 0)
			return -errno;
		if (own.rlim_max > bounds[i].most)
			own.rlim_max = bounds[i].most;
		own.rlim_cur = own.rlim_max;
		if (setrlimit(bounds[i].what, &own) != 0)
			return -errno;
	}
	return 0;
}

/* ---- for paddock-browser ---- */

/*
 * Try to open a folder: Landlock fails the open with EACCES, the filter with
 * EPERM.
 */
static int try_a_file(void)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int browser_sandbox_enter(struct browser_sandbox *c, const char **step)
{
	const struct landlock_leave leave = {.connect = true};
	struct sock_fprog filter;
	int rc, abi;

	*c = (struct browser_sandbox){.uid = geteuid()};
	*step = "compile its filter";
	rc = filter_make(FILTER_BROWSER, &filter);
	if (rc < 0)
		return rc;
	c->limits = limit() == 0;
	abi = landlock_leave(&leave);
	if (abi > 0 && try_a_file() == -EACCES)
		c->landlock = abi;
	/* json-c initializes itself before the filter */
	json_object_put(json_pack("a:i", 0));
	*step = "load its filter";
	rc = filter_load(&filter);
	if (rc == 0 && try_a_file() != -EPERM)
		rc = -EINVAL;
	c->seccomp = rc == 0;
	return rc;
}

struct json_object *browser_sandbox_view(const struct browser_sandbox *c)
{
	return json_pack("seccomp:b landlock:i limits:b uid:i", c->seccomp,
			 c->landlock, c->limits, c->uid);
}

/* ---- for the resolver ---- */

int browser_sandbox_enter_names(void)
{
	/* configuration and libraries for resolving names */
	static const char *const read[] = {"/etc",
					   "/usr/lib",
					   "/usr/lib64",
					   "/lib",
					   "/lib64",
					   "/usr/etc",
					   "/run/systemd/resolve",
					   "/run/resolvconf",
					   "/run/NetworkManager",
					   "/run/nscd",
					   "/usr/share/libc-bin",
					   NULL};
	const struct landlock_leave leave = {.read = read,
					     .connect_port = DNS_PORT};
	struct addrinfo *list = NULL;
	struct sock_fprog filter;
	int rc = filter_make(FILTER_NAMES, &filter);

	if (rc < 0)
		return rc;
	/* load the libraries now, once for all names */
	if (getaddrinfo("localhost", NULL, NULL, &list) == 0)
		freeaddrinfo(list);
	(void)limit();
	(void)landlock_leave(&leave);
	return filter_load(&filter);
}
