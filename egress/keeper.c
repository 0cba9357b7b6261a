/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.c - the loop of the keeper: settings, orders of runs, ends of children. A child
 * is a fork, so that libraries and certificates are loaded once. Freed memory is
 * overwritten, and a child finds no order of another run there.
 */
#include "egress/keeper.h"

#include <errno.h>
#include <malloc.h>
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
#include "proto/json/json_pack.h"
#include "sandbox/filter.h"

#define OPEN_FDS 2   /* descriptors with an order: cage and report */
#define ZAP 0xa5     /* for freed memory */
#define OTHER_SIDE 1 /* a descriptor's index: of the report channel */

struct run_child {
	pid_t pid;
	int64_t number;
	struct run_child *next;
};

static struct {
	struct settings *settings;
	struct sock_fprog filter;
	struct run_child *children;
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

static void start_child(const struct order *o, const int fds[OPEN_FDS])
{
	struct run_child *child = xcalloc(1, sizeof(*child));
	pid_t pid = fork();

	if (pid == 0) {
		mallopt(M_PERTURB, 0);
		child_run(keeper.settings, o, &keeper.filter, fds[0],
			  fds[OTHER_SIDE]);
	}
	if (pid < 0) {
		say(json_pack("open:i ok:b message:s", o->number, false,
			      "The machine starts no more processes."));
		free(child);
		return;
	}
	*child = (struct run_child){
	    .pid = pid, .number = o->number, .next = keeper.children};
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
			free(child);
			break;
		}
}

/* ---- packets ---- */

static void take_settings(struct json_object *spec)
{
	char fault[SETTINGS_FAULT_MAX];
	struct settings *s = settings_new(spec, fault);

	if (s == NULL) {
		say(json_pack("config:s message:s", "error", fault));
		return;
	}
	settings_free(keeper.settings);
	keeper.settings = s;
	say(json_pack("config:s", "ok"));
}

/* Why the order cannot be served; NULL: the order is fine. */
static const char *unfit(const struct order *o)
{
	if (geteuid() == 0 && o->uid <= 0)
		return "A child needs a user other than root.";
	if (o->n_secrets > 0)
		return "Secrets are not supported yet.";
	return NULL;
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
	mallopt(M_PERTURB, ZAP);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	(void)no_core();
	if (prctl(PR_SET_DUMPABLE, 0) != 0)
		return -errno;
	fd = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int keeper_run(void)
{
	struct signalfd_siginfo info;
	int ends = begin();
	struct pollfd p[] = {{.fd = EGRESS_FD, .events = POLLIN},
			     {.fd = ends, .events = POLLIN}};

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
