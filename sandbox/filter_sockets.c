/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_sockets.c - the options of sockets that each filter allows, for filter.c and
 * filter_program.c. Many options take something of the whole kernel (a compiled filter of
 * net.core.bpf_jit_limit, a time stamp on each packet of the machine, pinned pages), so
 * that an option in no table is refused.
 */
#include "sandbox/filter_private.h"

#include <linux/in6.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define OPTION(level, name)                                                    \
	{                                                                      \
		SYS(setsockopt), ALLOW, 2,                                     \
		{                                                              \
			INT_EQ(1, level), INT_EQ(2, name)                      \
		}                                                              \
	}
/*
 * Report success and ignore the size: the kernel may give less, so a program must cope.
 */
#define OPTION_IGNORED(level, name)                                            \
	{                                                                      \
		SYS(setsockopt), SCMP_ACT_ERRNO(0), 2,                         \
		{                                                              \
			INT_EQ(1, level), INT_EQ(2, name)                      \
		}                                                              \
	}

/* Options that interpreters set on any socket, pairs of sockets among them. */
static const struct filter_rule any[] = {
    OPTION(SOL_SOCKET, SO_REUSEADDR),
    OPTION(SOL_SOCKET, SO_KEEPALIVE),
    OPTION(SOL_SOCKET, SO_LINGER),
    OPTION(SOL_SOCKET, SO_PASSCRED),
    OPTION(SOL_SOCKET, SO_RCVLOWAT),
    OPTION(SOL_SOCKET, SO_RCVTIMEO),
    OPTION(SOL_SOCKET, SO_SNDTIMEO),
    OPTION_IGNORED(SOL_SOCKET, SO_SNDBUF),
    OPTION_IGNORED(SOL_SOCKET, SO_RCVBUF),
};

/* Options that clients of the internet and resolvers of names set besides. */
static const struct filter_rule internet[] = {
    OPTION(IPPROTO_TCP, TCP_NODELAY),	     OPTION(IPPROTO_TCP, TCP_KEEPIDLE),
    OPTION(IPPROTO_TCP, TCP_KEEPINTVL),	     OPTION(IPPROTO_TCP, TCP_KEEPCNT),
    OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT),   OPTION(IPPROTO_IP, IP_TOS),
    OPTION(IPPROTO_IP, IP_MTU_DISCOVER),     OPTION(IPPROTO_IP, IP_RECVERR),
    OPTION(IPPROTO_IPV6, IPV6_V6ONLY),	     OPTION(IPPROTO_IPV6, IPV6_TCLASS),
    OPTION(IPPROTO_IPV6, IPV6_MTU_DISCOVER), OPTION(IPPROTO_IPV6, IPV6_RECVERR),
};

/* Netlink requests of name services, which query the local addresses. */
static const struct filter_rule addresses[] = {
    OPTION(SOL_NETLINK, NETLINK_PKTINFO),
    OPTION(SOL_NETLINK, NETLINK_EXT_ACK),
    OPTION(SOL_NETLINK, NETLINK_GET_STRICT_CHK),
};

const struct filter_table filter_options = FILTER_RULES(any),
			  filter_internet_options = FILTER_RULES(internet),
			  filter_address_options = FILTER_RULES(addresses);
