/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of an address by the kernel's answer; an errno without information must
 * give no owner.
 */
#include "net/net_deny.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

static struct {
	struct nlmsghdr head;
	union {
		struct rtmsg route;
		struct nlmsgerr error;
	};
} answer;

static enum net_deny_owner of_type(unsigned char type)
{
	memset(&answer, 0, sizeof(answer));
	answer.head.nlmsg_type = RTM_NEWROUTE;
	answer.route.rtm_type = type;
	return net_deny_read(&answer, NLMSG_LENGTH(sizeof(answer.route)));
}

static enum net_deny_owner of_error(int err)
{
	memset(&answer, 0, sizeof(answer));
	answer.head.nlmsg_type = NLMSG_ERROR;
	answer.error.error = -err;
	return net_deny_read(&answer, NLMSG_LENGTH(sizeof(answer.error)));
}

int main(void)
{
	static const unsigned char ours[] = {RTN_LOCAL,	  RTN_BROADCAST,
					     RTN_ANYCAST, RTN_MULTICAST,
					     RTN_NAT,	  RTN_UNSPEC};

	ok(of_type(RTN_UNICAST) == NET_DENY_OTHERS, "a way to others");
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		ok(of_type(ours[i]) == NET_DENY_OURS,
		   "a route of type %u is no way to others", ours[i]);
	ok(of_error(ENETUNREACH) == NET_DENY_OTHERS, "no way at all");
	ok(of_error(EHOSTUNREACH) == NET_DENY_OTHERS,
	   "a host without a route belongs to others");
	ok(of_error(ENOBUFS) == NET_DENY_UNKNOWN,
	   "lack of memory does not tell the owner");
	ok(of_error(EPERM) == NET_DENY_UNKNOWN,
	   "a lack of rights does not tell the owner");
	ok(of_error(0) == NET_DENY_UNKNOWN, "an acknowledgement is no answer");
	of_type(RTN_UNICAST);
	for (size_t n = 0; n < NLMSG_LENGTH(sizeof(answer.route)); n++)
		ok(net_deny_read(&answer, n) == NET_DENY_UNKNOWN,
		   "%zu bytes are too few", n);
	answer.head.nlmsg_type = NLMSG_DONE;
	ok(net_deny_read(&answer, sizeof(answer)) == NET_DENY_UNKNOWN,
	   "another message is no answer");
	return tap_done();
}
