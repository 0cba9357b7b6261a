/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_deny.c - hosts denied by the operator, and this machine's own addresses,
 * for calls and the proxy. The kernel is asked for the route of each address
 * (rtnetlink(7)), so the answer is true for all present interfaces; an address
 * without an answer is refused.
 */
#include "net/net_deny.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text/host_list.h"
#include "base/os/log.h"
#include "ipc/host_pattern.h"

#define ANSWER_MAX 4096

static struct host_list *denied;
static int netlink = -1;
static uint32_t last_seq; /* number of questions so far */

int net_deny_init(const char *deny)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};

	denied = deny == NULL ? NULL : host_list_new(deny);
	if (deny != NULL && denied == NULL)
		return -EINVAL;
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (netlink < 0 ||
	    connect(netlink, (struct sockaddr *)&kernel, sizeof(kernel)) != 0)
		return -errno;
	return 0;
}

/* ---- the operator's list ---- */

#define DENIED "a host that the operator denies"

const char *net_deny_host(const char *host)
{
	struct sockaddr_storage address;

	if (host_list_have_name(denied, host) ||
	    (host_is_address(host, &address) &&
	     host_list_have_address(denied, (struct sockaddr *)&address)))
		return DENIED;
	return NULL;
}

const char *net_deny_url(const char *url, enum url_trust trust)
{
	struct url_place at;
	const char *errmsg = url_policy_url(url, trust, &at);

	return errmsg != NULL ? errmsg : net_deny_host(at.host);
}

/* ---- addresses of this machine ---- */

struct question {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr to;
	uint8_t address[16];
};

static bool send_question(const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	bool v4 = address->sa_family == AF_INET;
	size_t n = v4 ? 4 : 16;
	struct question q = {
	    .head = {.nlmsg_len =
			 (uint32_t)(offsetof(struct question, address) + n),
		     .nlmsg_type = RTM_GETROUTE,
		     .nlmsg_flags = NLM_F_REQUEST,
		     .nlmsg_seq = ++last_seq},
	    .route = {.rtm_family = (unsigned char)address->sa_family,
		      .rtm_dst_len = (unsigned char)(n * 8)},
	    .to = {.rta_len = (unsigned short)RTA_LENGTH(n),
		   .rta_type = RTA_DST}};

	memcpy(q.address,
	       v4 ? (const void *)&in->sin_addr : (const void *)&in6->sin6_addr,
	       n);
	return send(netlink, &q, q.head.nlmsg_len, MSG_NOSIGNAL) ==
	       (ssize_t)q.head.nlmsg_len;
}

enum net_deny_owner net_deny_read(const void *answer, size_t len)
{
	struct nlmsghdr h;
	struct nlmsgerr e;
	struct rtmsg r;
	int err;

	if (len < NLMSG_HDRLEN)
		return NET_DENY_UNKNOWN;
	memcpy(&h, answer, sizeof(h));
	if (h.nlmsg_type == NLMSG_ERROR && len >= NLMSG_LENGTH(sizeof(e))) {
		memcpy(&e, (const char *)answer + NLMSG_HDRLEN, sizeof(e));
		err = -e.error;
		/* without a route the owner of the address does not matter */
		return err == ENETUNREACH || err == EHOSTUNREACH ||
			       err == EACCES
			   ? NET_DENY_OTHERS
			   : NET_DENY_UNKNOWN;
	}
	if (h.nlmsg_type != RTM_NEWROUTE || len < NLMSG_LENGTH(sizeof(r)))
		return NET_DENY_UNKNOWN;
	memcpy(&r, (const char *)answer + NLMSG_HDRLEN, sizeof(r));
	return r.rtm_type == RTN_UNICAST ? NET_DENY_OTHERS : NET_DENY_OURS;
}

/*
 * Ask who has ADDRESS. The kernel answers within send(); old answers are
 * skipped.
 */
static enum net_deny_owner address_owner(const struct sockaddr *address)
{
	char answer[ANSWER_MAX];
	struct nlmsghdr h;
	ssize_t n;

	if (!send_question(address))
		return NET_DENY_UNKNOWN;
	do {
		n = recv(netlink, answer, sizeof(answer), MSG_DONTWAIT);
		if (n < (ssize_t)sizeof(h))
			return NET_DENY_UNKNOWN;
		memcpy(&h, answer, sizeof(h));
	} while (h.nlmsg_seq != last_seq);
	return net_deny_read(answer, (size_t)n);
}

const char *net_deny_address(const struct sockaddr *address,
			     enum url_trust trust)
{
	if (host_list_have_address(denied, address))
		return DENIED;
	if (trust == URL_LOCAL)
		return NULL;
	switch (address_owner(address)) {
	case NET_DENY_OTHERS:
		return NULL;
	case NET_DENY_OURS:
		return "an address of this machine";
	case NET_DENY_UNKNOWN:
		break;
	}
	log_warn("policy", "route=unknown err=\"%s\"", strerror(errno));
	return "an address that the kernel does not know the way to";
}
