/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_program.c - the sandbox of programs, in the order of
 * sandbox_program.h. The zygote of programs and the workers call the functions.
 * Any missing layer is an error, and then no program runs.
 */
#include "sandbox/sandbox_program.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/caps.h"
#include "sandbox/fds.h"
#include "sandbox/filter.h"
#include "sandbox/uids.h"
#include "sandbox/landlock.h"
#include "sandbox/rlimits.h"
#include "sandbox/ns.h"
#include "sandbox/sandbox.h"

/* A shim has more descriptors than a Lua worker, and a program has an environment. */
#define LAYERS                                                                 \
	((SANDBOX_BIT(SANDBOX_LAYERS) - 1) &                                   \
	 ~(SANDBOX_BIT(SANDBOX_CLOSED) | SANDBOX_BIT(SANDBOX_EMPTY_ENV)))

const unsigned long sandbox_program_clone =
    CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;

/* Layers without which no program runs. */
static const enum sandbox_layer needed[] = {
    SANDBOX_RLIMITS, SANDBOX_NETNS, SANDBOX_IPCNS, SANDBOX_UTSNS,
    SANDBOX_MNTNS,   SANDBOX_ROOT,  SANDBOX_CAPS,  SANDBOX_NNP};

static int make_filters(struct sandbox *sb)
{
	int rc = filter_make(FILTER_SHIM, &sb->worker_filter);

	if (rc == 0)
		rc = filter_make(sb->host_network ? FILTER_BUILD
						  : FILTER_PROGRAM,
				 &sb->program_filter);
	if (rc == 0)
		rc = filter_make(FILTER_NETWORK, &sb->network_filter);
	if (rc == 0)
		rc = filter_make(FILTER_NO_LOCKS, &sb->no_locks_filter);
	return rc;
}

int sandbox_build_program(struct sandbox *sb, unsigned int slots,
			  unsigned int host_ids, struct rootfs *t,
			  enum sandbox_layer *failed, const char **at)
{
	bool early;
	int rc;

	*sb = (struct sandbox){.layers = LAYERS,
			       .slots = slots,
			       .host_ids = host_ids,
			       .host_network = t->network,
			       .uid_base = -1};
	*at = NULL;
	*failed = SANDBOX_SECCOMP;
	rc = make_filters(sb);
	if (rc != 0)
		return sb->err[SANDBOX_SECCOMP] = rc;
	rlimits_zygote_program(sb);
	landlock_find(sb);
	/*
	 * Root can read more than any id in a user namespace: as root, build the root
	 * folder before entering one.
	 */
	early = geteuid() == 0 && unshare(CLONE_NEWNS) == 0;
	if (early) {
		t->others = true;
		sb->err[SANDBOX_ROOT] = rootfs_build(t, at);
	} else {
		rootfs_enter_artifacts(t);
	}
	if (sb->err[SANDBOX_ROOT] == 0)
		ns_enter(sb);
	if (!early && sb->err[SANDBOX_MNTNS] == 0)
		sb->err[SANDBOX_ROOT] = rootfs_build(t, at);
	sandbox_empty_keyring();
	caps_lock(sb);
	*failed = SANDBOX_USERNS;
	/*
	 * Without a user namespace only root can create the other namespaces, and a
	 * program needs a uid that nothing else on the host uses.
	 */
	rc = sb->err[SANDBOX_USERNS];
	if (rc != 0 && t->no_userns && geteuid() == 0)
		rc = sb->err[SANDBOX_UID] = uids_zygote_direct(sb);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
		*failed = needed[i];
		if (sb->err[*failed] != 0)
			return sb->err[*failed];
	}
	*failed = SANDBOX_CAPS;
	/* outside a user namespace the interfaces could be the host's */
	return caps_keep(CAPS_KILL | CAPS_MOUNT |
			 (sb->err[SANDBOX_USERNS] == 0 ? CAPS_NETWORK : 0));
}

static int enter_tree(const struct sandbox *sb, struct sandbox_program *p,
		      int *proc)
{
	struct rootfs_run r = {
	    .package = p->package,
	    .reads = p->reads,
	    .bytes = p->w.memory_bytes,
	    .files = p->limits.files,
	    .uid = sb->own_ids ? sb->first_id + p->w.slot : getuid(),
	    .gid = sb->own_ids ? sb->first_id + p->w.slot : getgid(),
	    .locks = p->locks,
	    .no_layers = sb->err[SANDBOX_USERNS] != 0,
	    .in = p->in,
	    .given = p->files,
	    .n_given = p->n_files,
	    .in_fd = -1};
	int rc = rootfs_enter(&r, proc, &p->bare);

	p->in_fd = r.in_fd;
	p->missing = r.missing;
	return rc;
}

/*
 * Runs that share a uid get a user namespace each, which counts processes and
 * pending signals separately, so that no run uses up the limits of another run.
 * A new user namespace grants all capabilities inside, which are dropped again.
 */
static int enter_own_userns(int proc)
{
	struct sandbox own = {0};
	int rc = ns_enter_own(proc);

	if (rc == 0)
		caps_lock(&own);
	return rc != 0 ? rc : own.err[SANDBOX_CAPS];
}

int sandbox_enter_program(const struct sandbox *sb, struct sandbox_program *p,
			  int *proc, enum sandbox_layer *failed)
{
	int rc;

	*failed = SANDBOX_CLOSED;
	rc = fds_shim(p->w.run_fd, &p->hold_fd);
	if (rc != 0)
		return rc;
	*failed = SANDBOX_NETNS;
	rc = p->network ? ns_loopback() : 0;
	if (rc != 0)
		return rc;
	*failed = SANDBOX_ROOT;
	rc = enter_tree(sb, p, proc);
	if (rc != 0)
		return rc;
	if (p->hold_fd > 0)
		ns_hold_mounts(*proc, p->hold_fd);
	*failed = SANDBOX_UID;
	rc = uids_worker(sb, p->w.slot);
	if (rc != 0)
		return rc;
	*failed = SANDBOX_USERNS;
	rc = sb->own_ids ? 0 : enter_own_userns(*proc);
	if (rc != 0)
		return rc;
	*failed = SANDBOX_PDEATHSIG;
	rc = pdeathsig_set(SANDBOX_RUN_FD);
	if (rc != 0)
		return rc;
	*failed = SANDBOX_CAPS;
	return caps_none();
}

int sandbox_leave_to_program(const struct sandbox *sb,
			     const struct sandbox_program *p)
{
	int rc = landlock_keep_files(sb, p->network ? SANDBOX_PROXY_PORT : 0);

	if (rc == 0)
		rc = rlimits_program(p);
	if (rc == 0 && p->bare)
		rc = filter_load(&sb->no_locks_filter);
	return rc != 0
		   ? rc
		   : filter_load_listening(p->network ? &sb->network_filter
						      : &sb->program_filter);
}

/* From now on execve(2) accepts *PATH alone, which moves to FILTER_EXEC_AT. */
static int allow_one_exec(const char **path)
{
	struct sock_fprog prog;
	const size_t n = strlen(*path) + 1;
	char *at =
	    mmap((void *)FILTER_EXEC_AT, n, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	int rc;

	if (at == MAP_FAILED)
		return -errno;
	/* Linux before 4.17 ignores MAP_FIXED_NOREPLACE */
	if (at != (char *)FILTER_EXEC_AT)
		return -EOPNOTSUPP;
	*path = memcpy(at, *path, n);
	rc = rlimits_addresses(FILTER_EXEC_SPACE);
	if (rc == 0)
		rc = filter_make(FILTER_ONE_EXEC, &prog);
	return rc != 0 ? rc : filter_load(&prog);
}

int sandbox_leave_to_build(const struct sandbox *sb,
			   const struct sandbox_program *p, const char **path)
{
	int rc = rlimits_program(p);

	if (rc == 0)
		rc = allow_one_exec(path);
	if (rc == 0 && p->bare)
		rc = filter_load(&sb->no_locks_filter);
	return rc != 0 ? rc : filter_load(&sb->program_filter);
}

int sandbox_bound_files(const struct sandbox_program *p)
{
	return rlimits_program_files(p);
}
