/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/zygote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/zygote_proto.h"
#include "base/os/fdpass.h"
#include "sandbox/fds.h"
#include "sandbox/pdeathsig.h"
#include "sandbox/sandbox.h"
#include "worker/clone.h"
#include "worker/lua/lua_job.h"
#include "worker/memory.h"
#include "worker/selftest.h"
#include "worker/selftest_program.h"
#include "worker/program/shim.h"

static struct tree tree; /* of programs */
static unsigned int host_ids; /* as sandbox.h has them */

static void send_note(const struct crew_note *note)
{
	/* Should the supervisor be gone, the next read tells. */
	(void)!send(CREW_CONTROL_FD, note, sizeof(*note), MSG_NOSIGNAL);
}

static int broken(const char *what, int rc, const char *detail)
{
	struct crew_note note = {.type = CREW_BROKEN, .err = -rc};

	snprintf(note.text, sizeof(note.text), "%s: %s%s%s%s", what,
		 rc != 0 ? strerrorname_np(-rc) : "does not hold",
		 detail[0] != '\0' ? " (" : "", detail,
		 detail[0] != '\0' ? ")" : "");
	send_note(&note);
	return ZYGOTE_EXIT_UNAVAILABLE;
}

/* Nothing of who started us: no terminal, no environment, no signals. */
static int detach(void)
{
	const struct rlimit none = {0};
	sigset_t all;

	setrlimit(RLIMIT_CORE, &none); /* from the first moment on */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL); /* a shell may have had some ignored */
	setsid(); /* fails for a group leader, who has a session already */
	umask(077);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	return fds_close_from(CREW_CONTROL_FD + 1);
}

static void add_text(struct crew_note *note, const char *more)
{
	size_t len = strlen(note->text);

	snprintf(note->text + len, sizeof(note->text) - len, "%s%s",
		 len > 0 ? "; " : "", more);
}

static int report(const struct sandbox *sb, const struct selftest *found)
{
	bool own_uids = (found->held & CREW_GUARD_UID) != 0;
	struct crew_note note = {.type = CREW_REPORT,
				 .guards = found->held,
				 .landlock_abi = sb->landlock_abi,
				 .uid_base = own_uids ? sb->uid_base : -1};

	sandbox_explain(sb, found->held, note.text, sizeof(note.text));
	if (found->bare)
		add_text(&note, "locks: refused to programs (a read-only "
				"overlayfs of /usr, without mounts in it, would "
				"give them inodes of their own)");
	send_note(&note);
	return 0;
}

/* Why P is not there for programs, as a clause about it. */
static void explain(const struct tree_path *p, char *text, size_t size)
{
	if (p->why != NULL)
		snprintf(text, size, "%.100s: %s", p->path, p->why);
	else if (p->err == -ELOOP)
		snprintf(text, size,
			 "%.400s leads through a symbolic link%s%.*s, and links "
			 "are not followed",
			 p->path, p->link > 0 ? ", " : "",
			 p->link < 400 ? (int)p->link : 0, p->path);
	else if (p->err == -ESTALE)
		snprintf(text, size,
			 "%s was another folder when programs were prepared "
			 "than when it was loaded",
			 p->path);
	else if (p->err == -EMEDIUMTYPE)
		snprintf(text, size, "%s is neither a file nor a folder",
			 p->path);
	else
		snprintf(text, size, "%s: %s", p->path, strerror(-p->err));
}

static void tell_unshown(const struct tree_path *list, size_t n, bool reads)
{
	for (size_t i = 0; i < n; i++) {
		struct crew_note note = {.type = CREW_UNSHOWN,
					 .seq = (uint32_t)i,
					 .pid = reads,
					 .err = -list[i].err,
					 .used = list[i].used,
					 .used_by_all = list[i].used_by_all};

		if (list[i].err == 0)
			continue;
		explain(&list[i], note.text, sizeof(note.text));
		send_note(&note);
	}
}

/* Lua's: an empty root, a filter for the zygote too. 0, or exit status. */
static int build_lua(struct sandbox *sb, struct selftest *found)
{
	pid_t supervisor = getppid();
	int rc;

	memory_share_text();
	rc = job_prepare();
	if (rc != 0)
		return broken("job", rc, "the runtime could not be prepared");
	rc = sandbox_build(sb, CREW_SLOTS, host_ids);
	if (rc != 0)
		return broken("seccomp", rc,
			      sandbox_layer_remedy(SANDBOX_SECCOMP));
	rc = orphan_guard(CREW_CONTROL_FD);
	if (rc != 0)
		return broken("pdeathsig", rc, "");
	rc = selftest_run(sb, supervisor, found);
	if (rc != 0)
		return broken("self-test", rc, found->text);
	if ((found->held & CREW_GUARD_SECCOMP) == 0)
		return broken("seccomp", found->err, found->text);
	rc = sandbox_settle(sb);
	return rc == 0 ? 0 : broken("seccomp", rc, "the zygote's own");
}

/*
 * Programs': the host's, read-only. The zygote keeps the right to mount, and
 * so has no filter of its own: every worker would inherit it.
 */
static int build_program(struct sandbox *sb, struct selftest *found)
{
	enum sandbox_layer failed;
	const char *at;
	int rc = shim_prepare();

	if (rc != 0)
		return broken("shim", rc, "the runtime could not be prepared");
	rc = sandbox_build_program(sb, CREW_SLOTS, host_ids, &tree, &failed,
				   &at);
	if (rc == -ENOSYS && failed == SANDBOX_ROOT)
		return broken(sandbox_layer_name(failed), rc,
			      "the host's files cannot be shown without "
			      "open_tree, move_mount and mount_setattr, which "
			      "needs Linux 5.12");
	if (rc != 0)
		return broken(sandbox_layer_name(failed), rc,
			      failed == SANDBOX_ROOT && at != NULL
				  ? at
				  : sandbox_layer_remedy(failed));
	rc = orphan_guard(CREW_CONTROL_FD);
	if (rc != 0)
		return broken("pdeathsig", rc, "");
	tell_unshown(tree.packages, tree.n_packages, false);
	tell_unshown(tree.reads, tree.n_reads, true);
	rc = selftest_program(sb, &tree, found);
	if (rc != 0)
		return broken("self-test", rc, found->text);
	if (found->text[0] != '\0')
		return broken("self-test", 0, found->text);
	return 0;
}

/*
 * The next order, and its descriptor or -1. 1; or 0 when the supervisor is
 * gone; a record that is no order has type 0.
 */
static int next_order(struct crew_order *order, int *fd)
{
	bool whole;
	ssize_t n = pass_recv(CREW_CONTROL_FD, order, sizeof(*order), fd, &whole);

	if (n <= 0)
		return 0;
	if (n != sizeof(*order) || !whole)
		order->type = 0;
	return 1;
}

static pid_t spawn_lua(const struct sandbox *sb, const struct sandbox_worker *w,
		       const struct crew_order *order)
{
	(void)order;
	return birth(sb, w, BIRTH_OF_SUPERVISOR, birth_serve);
}

static pid_t spawn_program(const struct sandbox *sb,
			   const struct sandbox_worker *w,
			   const struct crew_order *order)
{
	struct sandbox_program p = {.w = *w,
				    .package = order->package,
				    .reads = order->reads,
				    .processes = order->processes,
				    .open_files = order->open_files,
				    .files = order->files,
				    .locks = order->locks != 0};

	if (order->package >= tree.n_packages || order->processes == 0)
		return -EINVAL;
	if (tree.packages[order->package].err != 0)
		return tree.packages[order->package].err;
	return birth_program(sb, &p, BIRTH_OF_SUPERVISOR, shim_serve);
}

static const struct {
	int (*build)(struct sandbox *sb, struct selftest *found);
	pid_t (*spawn)(const struct sandbox *sb, const struct sandbox_worker *w,
		       const struct crew_order *order);
} kinds[] = {
    [ZYGOTE_LUA] = {build_lua, spawn_lua},
    [ZYGOTE_PROGRAM] = {build_program, spawn_program},
};

/* Cage us, measure the cage, and say what was found. 0, or exit status. */
static int prepare(enum zygote_kind kind, struct sandbox *sb)
{
	struct selftest found;
	int rc = detach();

	if (rc != 0)
		return broken("closed", rc, "");
	rc = kinds[kind].build(sb, &found);
	return rc != 0 ? rc : report(sb, &found);
}

static pid_t spawn(enum zygote_kind kind, const struct sandbox *sb,
		   const struct crew_order *order, int fd)
{
	struct sandbox_worker w = {.run_fd = fd,
				   .slot = order->slot,
				   .cpu_ms = order->cpu_ms,
				   .memory_bytes = order->memory_bytes};

	/* No CPU time at all would disarm the timer. */
	if (order->type != CREW_SPAWN || fd < 0 || order->slot >= sb->slots ||
	    order->cpu_ms == 0)
		return -EINVAL;
	return kinds[kind].spawn(sb, &w, order);
}

int zygote_run(enum zygote_kind kind, unsigned int ids, const struct tree *t)
{
	struct sandbox sb;
	struct crew_order order;
	int fd = -1;
	int rc;

	tree = *t;
	host_ids = ids;
	rc = prepare(kind, &sb);
	if (rc != 0)
		return rc;
	memory_pack_heap();
	while (next_order(&order, &fd) > 0) {
		pid_t pid = spawn(kind, &sb, &order, fd);
		struct crew_note note = {.type = CREW_SPAWNED,
					 .seq = order.seq,
					 .pid = pid > 0 ? pid : -1,
					 .err = pid > 0 ? 0 : -pid};

		if (fd >= 0)
			close(fd);
		send_note(&note);
	}
	return EXIT_SUCCESS;
}
