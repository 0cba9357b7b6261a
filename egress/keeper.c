/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.c - the loop of the keeper: settings, orders of runs, ends of children. A child
 * is a fork, so that libraries and certificates are loaded once. Freed memory is
 * overwritten, and a child finds no order of another run there.
 */
#include "egress/keeper.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "base/os/no_core.h"
#include "base/os/sys.h"
#include "egress/run/child.h"
#include "egress/vault.h"
#include "egress/wipe.h"
#include "proto/json/json_pack.h"
#include "sandbox/caps.h"
#include "sandbox/filter.h"

#define OPEN_FDS 2   /* descriptors with an order: cage and report */
#define OTHER_SIDE 1 /* a descriptor's index: of the report channel */

struct run_child {
	pid_t pid;
	int64_t number;
	int keys;	/* the keeper's end of the socket of keys */
	char **secrets; /* names, N_SECRETS */
	size_t n_secrets;
	struct run_child *next;
};

static struct {
	struct settings *settings;
	struct vault *vault;
	struct tls *tls;
	struct sock_fprog filter;
	struct run_child *children;
	const char *const *files; /* of secrets; the last is NULL */
	char packet[EGRESS_PACKET_MAX];
} keeper;

static void say(struct json_object *o)
{
	size_t len;
	const char *text = json_text(o, &len);

	while (send(EGRESS_FD, text, len, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
	json_object_put(o);
}

/* ---- children ---- */

static void free_child(struct run_child *child)
{
	for (size_t i = 0; i < child->n_secrets; i++)
		free(child->secrets[i]);
	free(child->secrets);
	sys_close(child->keys);
	free(child);
}

static struct run_child *new_child(const struct order *o)
{
	struct run_child *child = xcalloc(1, sizeof(*child));

	child->number = o->number;
	child->keys = -1;
	child->n_secrets = o->n_secrets;
	child->secrets = xcalloc(o->n_secrets + 1, sizeof(char *));
	for (size_t i = 0; i < o->n_secrets; i++)
		child->secrets[i] = xstrdup(o->secrets[i]->name);
	return child;
}

/* The number of the secret NAME in the settings, or VAULT_NONE. */
static size_t find_secret(const char *name)
{
	for (size_t i = 0; i < keeper.settings->n_secrets; i++)
		if (strcmp(keeper.settings->secrets[i].name, name) == 0)
			return i;
	return VAULT_NONE;
}

/* Give CHILD the values of today. */
static int send_keys(const struct run_child *child)
{
	int rc = 0;

	for (size_t i = 0; i < child->n_secrets && rc == 0; i++)
		rc = vault_send(keeper.vault, find_secret(child->secrets[i]),
				(uint32_t)i, child->keys);
	return rc;
}

/* Fork the process of CHILD; NULL, or a sentence on the failure. */
static const char *fork_child(struct run_child *child, const struct order *o,
			      const int fds[OPEN_FDS])
{
	const struct child_plan plan = {keeper.settings, o, keeper.tls,
					&keeper.filter};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return "The machine has no more descriptors.";
	child->keys = ends[0];
	child->pid = send_keys(child) < 0 ? -1 : fork();
	if (child->pid == 0) {
		int own[CHILD_CHANNELS] = {fds[0], fds[OTHER_SIDE], ends[1]};

		settings_keep(keeper.settings, o);
		wipe_end();
		child_run(&plan, own);
	}
	close(ends[1]);
	return child->pid < 0 ? "The machine starts no more processes." : NULL;
}

static void start_child(const struct order *o, const int fds[OPEN_FDS])
{
	struct run_child *child = new_child(o);
	const char *errmsg = fork_child(child, o, fds);

	if (errmsg != NULL) {
		say(json_pack("open:i ok:b message:s", o->number, false,
			      errmsg));
		free_child(child);
		return;
	}
	child->next = keeper.children;
	keeper.children = child;
	say(json_pack("open:i ok:b", o->number, true));
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (struct run_child **at = &keeper.children; *at != NULL;
		     at = &(*at)->next) {
			struct run_child *child = *at;

			if (child->pid != pid)
				continue;
			say(json_pack("ended:i status:i", child->number,
				      status));
			*at = child->next;
			free_child(child);
			break;
		}
}

/* ---- packets ---- */

/* Take NEXT in place of the present settings; children get the values of today. */
static void use(struct settings *next, struct vault *vault, struct tls *tls)
{
	settings_free(keeper.settings);
	vault_free(keeper.vault);
	tls_free(keeper.tls);
	keeper.settings = next;
	keeper.vault = vault;
	keeper.tls = tls;
	for (const struct run_child *c = keeper.children; c != NULL;
	     c = c->next)
		if (send_keys(c) < 0)
			log_warn("egress", "keys=unsent pid=%d", (int)c->pid);
}

/* Is each file of a secret one of the command line's? */
static bool files_known(const struct settings *s, char *fault)
{
	for (size_t i = 0; i < s->n_secrets; i++) {
		const char *const *file = keeper.files;

		while (*file != NULL && strcmp(*file, s->secrets[i].file) != 0)
			file++;
		if (*file != NULL)
			continue;
		snprintf(fault, SETTINGS_FAULT_MAX,
			 "The secret %s has a file that paddock-egress was not "
			 "started with; a restart of paddockd passes.",
			 s->secrets[i].name);
		return false;
	}
	return true;
}

static void take_settings(struct json_object *spec)
{
	char fault[SETTINGS_FAULT_MAX];
	struct settings *s = settings_new(spec, fault);
	struct vault *vault = NULL;
	struct tls *tls = NULL;

	if (s != NULL && files_known(s, fault))
		vault = vault_new(s, fault);
	if (vault != NULL)
		tls = tls_new(s->authorities, fault);
	if (tls != NULL) {
		use(s, vault, tls);
		say(json_pack("config:s", "ok"));
		return;
	}
	settings_free(s);
	vault_free(vault);
	say(json_pack("config:s message:s", "error", fault));
}

/* Why the order cannot be served; NULL: the order is fine. */
static const char *unfit(const struct order *o)
{
	return geteuid() == 0 && o->uid <= 0
		   ? "A child needs a user other than root."
		   : NULL;
}

static void take_order(struct json_object *packet, const int fds[OPEN_FDS])
{
	char fault[SETTINGS_FAULT_MAX] =
	    "The order lacks settings or channels.";
	struct order *o = NULL;
	const char *errmsg;

	if (keeper.settings != NULL && fds[0] >= 0 && fds[OTHER_SIDE] >= 0)
		o = order_new(keeper.settings, packet, fault);
	errmsg = o == NULL ? fault : unfit(o);
	if (errmsg == NULL)
		start_child(o, fds);
	else
		say(json_pack("open:i ok:b message:s",
			      json_member_int(packet, "open"), false, errmsg));
	order_free(o);
}

static void take_packet(size_t n, const int fds[OPEN_FDS])
{
	struct json_object *o = json_unpack(keeper.packet, n);

	if (json_member(o, "config") != NULL)
		take_settings(json_member(o, "config"));
	else if (json_member(o, "open") != NULL)
		take_order(o, fds);
	else
		log_warn("egress", "packet=unknown bytes=%zu", n);
	json_object_put(o);
	explicit_bzero(keeper.packet, n);
}

/* Receive a packet with its descriptors. False: the supervisor is gone. */
static bool receive(void)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(OPEN_FDS * sizeof(int))];
	struct iovec iov = {.iov_base = keeper.packet,
			    .iov_len = sizeof(keeper.packet)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = space,
			     .msg_controllen = sizeof(space)};
	int fds[OPEN_FDS] = {-1, -1};
	struct cmsghdr *c;
	ssize_t n = recvmsg(EGRESS_FD, &msg, MSG_CMSG_CLOEXEC);

	if (n <= 0)
		return n < 0 && errno == EINTR;
	c = CMSG_FIRSTHDR(&msg);
	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS && c->cmsg_len <= CMSG_LEN(sizeof(fds)))
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	if ((msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0)
		take_packet((size_t)n, fds);
	else
		log_warn("egress", "packet=cut bytes=%zu", (size_t)n);
	for (size_t i = 0; i < OPEN_FDS; i++)
		sys_close(fds[i]);
	return true;
}

/* ---- the loop ---- */

static int begin(void)
{
	sigset_t ends;
	int fd, rc = filter_make(FILTER_EGRESS, &keeper.filter);

	if (rc < 0)
		return rc;
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		return -EINVAL;
	wipe_begin();
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	(void)no_core();
	if (prctl(PR_SET_DUMPABLE, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	rc = caps_keep(CAPS_KILL);
	if (rc < 0)
		return rc;
	fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int keeper_run(const char *const *files)
{
	struct signalfd_siginfo info;
	int ends = begin();
	struct pollfd p[] = {{.fd = EGRESS_FD, .events = POLLIN},
			     {.fd = ends, .events = POLLIN}};

	keeper.files = files;
	if (ends < 0) {
		log_plain("its filter or its signals cannot be set up: %s",
			  strerror(-ends));
		return EX_OSERR;
	}
	for (;;) {
		if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
			return EX_OSERR;
		if (p[1].revents != 0) {
			(void)!read(ends, &info, sizeof(info));
			reap();
		}
		if (p[0].revents != 0 && !receive())
			return EX_OK; /* children die by their parent's death */
	}
}
