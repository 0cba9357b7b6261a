/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox.c - the sandbox of Lua workers, in the order of sandbox.h. The zygote
 * of Lua workers calls the functions. Without a filter no worker starts at all;
 * any other missing layer is named in the zygote's report.
 */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/errname.h"
#include "base/os/fdpass.h"
#include "sandbox/caps.h"
#include "sandbox/fds.h"
#include "sandbox/filter.h"
#include "sandbox/uids.h"
#include "sandbox/landlock.h"
#include "sandbox/rlimits.h"
#include "sandbox/ns.h"
#include "sandbox/empty_root.h"

#define ALLOW_NS                                                               \
	"allow user namespaces: sysctl user.max_user_namespaces, "             \
	"kernel.apparmor_restrict_unprivileged_userns, in a container its "    \
	"seccomp profile; a chroot has none"
#define ALLOW_ROOT "allow user namespaces, or start as root"
#define BUG "please report this"
#define FILTERS_FULL                                                           \
	"the memory for filters, net.core.bpf_jit_limit, is used up, which "   \
	"all programs of this machine share: raise it, or end what holds it"

static const struct {
	const char *name;
	const char *remedy;
} layers[SANDBOX_LAYERS] = {
    [SANDBOX_SECCOMP] = {"seccomp",
			 "needs Linux 4.14 with CONFIG_SECCOMP_FILTER"},
    [SANDBOX_NNP] = {"no_new_privs", "needs Linux 3.5"},
    [SANDBOX_CAPS] = {"caps", ALLOW_ROOT},
    [SANDBOX_USERNS] = {"userns", ALLOW_NS},
    [SANDBOX_NETNS] = {"netns", ALLOW_NS},
    [SANDBOX_IPCNS] = {"ipcns", ALLOW_NS},
    [SANDBOX_UTSNS] = {"utsns", ALLOW_NS},
    [SANDBOX_MNTNS] = {"mntns", ALLOW_NS},
    [SANDBOX_ROOT] = {"root", ALLOW_ROOT},
    [SANDBOX_UID] = {"uid", "start as root for a uid per worker"},
    [SANDBOX_LANDLOCK] = {"landlock", "needs Linux 5.13 with landlock in lsm="},
    [SANDBOX_RLIMITS] = {"rlimits", BUG},
    [SANDBOX_CLOSED] = {"closed", BUG},
    [SANDBOX_EMPTY_ENV] = {"empty_env", BUG},
    [SANDBOX_UNDUMPABLE] = {"undumpable", BUG},
    [SANDBOX_PDEATHSIG] = {"pdeathsig", BUG},
    [SANDBOX_PIDNS] = {"pidns", ALLOW_NS},
};

/* A Lua worker needs no PID namespace, since the filter denies fork, kill and ptrace. */
#define LAYERS ((SANDBOX_BIT(SANDBOX_LAYERS) - 1) & ~SANDBOX_BIT(SANDBOX_PIDNS))

void sandbox_empty_keyring(void)
{
	(void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
}

int sandbox_build(struct sandbox *sb, unsigned int slots, unsigned int host_ids)
{
	int rc;

	*sb = (struct sandbox){.layers = LAYERS,
			       .slots = slots,
			       .host_ids = host_ids,
			       .uid_base = -1};
	rc = filter_make(FILTER_WORKER, &sb->worker_filter);
	if (rc == 0)
		rc = filter_make(FILTER_ZYGOTE, &sb->zygote_filter);
	if (rc == 0)
		rc = filter_make(FILTER_CLONE, &sb->clone_filter);
	if (rc == 0)
		rc = filter_make(FILTER_STREAM_CLONE, &sb->stream_filter);
	if (rc != 0)
		return sb->err[SANDBOX_SECCOMP] = rc;
	rlimits_zygote(sb);
	ns_enter(sb);
	empty_root_enter(sb);
	sandbox_empty_keyring();
	caps_lock(sb);
	if (!sb->own_ids && sb->err[SANDBOX_USERNS] != 0)
		sb->err[SANDBOX_UID] = uids_zygote_direct(sb);
	landlock_enter(sb);
	return caps_keep(CAPS_KILL);
}

int sandbox_settle(struct sandbox *sb)
{
	int rc = caps_keep(0);

	if (rc == 0)
		rc = filter_load(&sb->zygote_filter);
	sb->settled = rc == 0;
	return rc;
}

/* Receive SANDBOX_CAGE_FD, the first packet on the run's socket. */
static int take_stream(void)
{
	char byte;
	int fd;

	(void)fdpass_recv(SANDBOX_RUN_FD, &byte, sizeof(byte), &fd, NULL);
	return fd == SANDBOX_CAGE_FD ? 0 : -ENOTCONN;
}

int sandbox_enter(const struct sandbox *sb, const struct sandbox_worker *w,
		  enum sandbox_layer *failed)
{
	int rc;

	*failed = SANDBOX_CLOSED;
	rc = fds_worker(w->run_fd);
	if (rc != 0)
		return rc;
	rc = w->network ? take_stream() : 0;
	if (rc != 0)
		return rc;
	*failed = SANDBOX_UID;
	rc = uids_worker(sb, w->slot);
	if (rc != 0)
		return rc;
	*failed = SANDBOX_PDEATHSIG;
	rc = pdeathsig_set(SANDBOX_RUN_FD);
	if (rc != 0)
		return rc;
	*failed = SANDBOX_RLIMITS;
	rc = rlimits_worker(sb, w);
	if (rc != 0)
		return rc;
	*failed = SANDBOX_CAPS;
	return caps_none();
}

int sandbox_seal(const struct sandbox *sb, const struct sandbox_worker *w)
{
	return filter_load(!sb->settled ? &sb->worker_filter
			   : w->network ? &sb->stream_filter
					: &sb->clone_filter);
}

const char *sandbox_layer_name(enum sandbox_layer layer)
{
	return layers[layer].name;
}

const char *sandbox_layer_remedy(enum sandbox_layer layer, int rc)
{
	return layer == SANDBOX_SECCOMP && rc == -ERRNAME_ENOTSUPP
		   ? FILTERS_FULL
		   : layers[layer].remedy;
}

/* Do layers A and B have the same error and the same remedy? */
static bool same_cause(const struct sandbox *sb, size_t a, size_t b)
{
	return sb->err[a] == sb->err[b] &&
	       strcmp(layers[a].remedy, layers[b].remedy) == 0;
}

/*
 * For a program, Landlock denies ports, and from a later ABI signals, which old
 * kernels lack.
 */
static const char *remedy_of(const struct sandbox *sb, size_t i)
{
	return i == SANDBOX_LANDLOCK && sb->err[i] == 0 &&
		       sb->landlock_abi < LANDLOCK_ABI_NET
		   ? "it has nothing to deny to programs before Linux 6.7"
		   : sandbox_layer_remedy((enum sandbox_layer)i, sb->err[i]);
}

struct line {
	char *text;
	size_t size, len;
};

static void append_words(struct line *l, const char *a, const char *b)
{
	int n = snprintf(l->text + l->len, l->size - l->len, "%s%s", a, b);

	if (n > 0)
		l->len += (size_t)n;
	if (l->len >= l->size)
		l->len = l->size - 1;
}

void sandbox_explain(const struct sandbox *sb, uint32_t held, char *text,
		     size_t size)
{
	uint32_t left = sb->layers & ~held;
	struct line l = {.text = text, .size = size};

	text[0] = '\0';
	for (size_t i = 0; i < SANDBOX_LAYERS; i++) {
		if ((left & (1u << i)) == 0)
			continue;
		append_words(&l, l.len > 0 ? "; " : "", layers[i].name);
		for (size_t j = i + 1; j < SANDBOX_LAYERS; j++) {
			if ((left & (1u << j)) == 0 || !same_cause(sb, i, j))
				continue;
			left &= ~(1u << j);
			append_words(&l, ", ", layers[j].name);
		}
		append_words(&l, ": ",
			     sb->err[i] != 0 ? errname(-sb->err[i])
					     : "does not hold");
		append_words(&l, " (", remedy_of(sb, i));
		append_words(&l, ")", "");
	}
	if ((held & (1u << SANDBOX_LANDLOCK)) != 0 &&
	    sb->landlock_abi < LANDLOCK_ABI_SCOPE)
		append_words(&l, l.len > 0 ? "; " : "",
			     "landlock: an old ABI (Linux 6.12 adds scopes)");
}
