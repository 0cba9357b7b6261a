/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine.c - the layers around a child, for child.c: descriptors, user, limits,
 * Landlock, filter. A child without its user, limits or filter exits before the first
 * byte of the run. Landlock may be missing, as for workers.
 */
#include "egress/run/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "base/os/no_core.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"

#define DNS_PORT 53
#define SERVERS_MAX 8
#define FIRST 3	   /* number of the first kept descriptor */
#define ASIDE 1000 /* above all descriptors of the keeper */

static void require(bool done, const char *what)
{
	if (done)
		return;
	log_error("egress", "child=unconfined step=\"%s\" err=%d", what, errno);
	_exit(1);
}

/* Die with PARENT, also when PARENT is dead already. A change of the user undoes the call. */
static void die_with(pid_t parent)
{
	require(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0, "pdeathsig");
	if (getppid() != parent)
		_exit(0);
}

void confine_begin(pid_t parent, int *fds, unsigned n)
{
	sigset_t none;

	die_with(parent);
	prctl(PR_SET_NAME, "egress-run");
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (unsigned i = 0; i < n; i++)
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, ASIDE);
	for (unsigned i = 0; i < n; i++) {
		require(dup3(fds[i], FIRST + (int)i, O_CLOEXEC) >= 0, "dup");
		fds[i] = FIRST + (int)i;
	}
	syscall(SYS_close_range, FIRST + n, ~0u, 0u);
}

static void become(int64_t uid)
{
	if (geteuid() != 0)
		return;
	require(uid > 0 && setgroups(0, NULL) == 0 &&
		    setresgid((gid_t)uid, (gid_t)uid, (gid_t)uid) == 0 &&
		    setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) == 0,
		"user");
}

/* Bytes of the address space now. */
static uint64_t own_space(void)
{
	char *text = buf_file("/proc/self/statm", 256);
	uint64_t pages = strtoull(text, NULL, 10);

	free(text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void limit(const struct order *o, unsigned files)
{
	const struct {
		int what;
		rlim_t most;
	} bounds[] = {
	    {RLIMIT_CORE, NO_CORE_BYTES},
	    {RLIMIT_NOFILE, files},
	    {RLIMIT_NPROC, 0},
	    {RLIMIT_FSIZE, 0},
	    {RLIMIT_MEMLOCK, 0},
	    {RLIMIT_MSGQUEUE, 0},
	    {RLIMIT_SIGPENDING, 0},
	    {RLIMIT_CPU,
	     o->cpu_ms > 0 ? (rlim_t)(o->cpu_ms + 999) / 1000 : RLIM_INFINITY},
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer reserves terabytes */
	    {RLIMIT_AS, o->memory_bytes > 0
			    ? own_space() + (rlim_t)o->memory_bytes
			    : RLIM_INFINITY},
#endif
	};

	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		const struct rlimit l = {bounds[i].most, bounds[i].most};

		require(
		    bounds[i].most == RLIM_INFINITY ||
			setrlimit((__rlimit_resource_t)bounds[i].what, &l) == 0,
		    "limits");
	}
}

/* Add the ports of name servers, "ADDRESS:PORT" or "[ADDRESS]:PORT", to PORTS. */
static size_t add_resolvers(unsigned ports[SERVERS_MAX], const char *resolver)
{
	size_t n = 0;

	while (resolver != NULL && *resolver != '\0' && n < SERVERS_MAX) {
		size_t len = strcspn(resolver, " ");
		const char *last = memrchr(resolver, ':', len);
		bool has = last != NULL &&
			   (last[-1] == ']' ||
			    memchr(resolver, ':', len) == (const void *)last);

		if (has)
			ports[n++] = (unsigned)strtoul(last + 1, NULL, 10);
		resolver += len + strspn(resolver + len, " ");
	}
	return n;
}

/* Only ports of the run's hosts and of name servers can be connected to. */
static void lock_land(const struct settings *s, const struct order *o)
{
	unsigned ports[EGRESS_HOSTS_MAX + SERVERS_MAX];
	struct landlock_leave leave = {.connect_port = DNS_PORT,
				       .connect_ports = ports};

	leave.n_ports = add_resolvers(ports, s->resolver);
	for (size_t i = 0; i < o->n_hosts; i++)
		ports[leave.n_ports++] = o->hosts[i].rule.host.port;
	(void)landlock_leave(&leave);
}

void confine_end(const struct settings *s, const struct order *o,
		 const struct sock_fprog *filter, pid_t parent, unsigned files)
{
	limit(o, files);
	become(o->uid);
	die_with(parent);
	require(prctl(PR_SET_DUMPABLE, 0) == 0, "dumpable");
	require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "privileges");
	lock_land(s, o);
	require(filter_load(filter) == 0, "filter");
}
