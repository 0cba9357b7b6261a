/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver.h - the process that asks the name servers, so that their answers
 * are parsed apart from everything else. A lookup is a child of it, which ends
 * with its answer, when it is cancelled, or after RESOLVER_S.
 *
 * One packet each way, over a SOCK_SEQPACKET pair: requests, and for each
 * lookup one answer, in any order.
 */
#ifndef BROWSER_NET_RESOLVER_H
#define BROWSER_NET_RESOLVER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/types.h>

#include "browser/net/url_policy.h"

#define RESOLVER_S 3	      /* seconds for a lookup */
#define RESOLVER_AT_ONCE 16   /* lookups */
#define RESOLVER_ADDRESSES 32 /* addresses of a name in an answer */

struct resolver_order {
	uint32_t id;	  /* of the lookup to start or cancel */
	uint32_t look_up; /* 0: cancel it */
	char host[URL_HOST_MAX];
};

union resolver_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct resolver_answer {
	uint32_t id;
	int32_t error; /* 0, or getaddrinfo(3)'s; EAI_AGAIN: not in time */
	uint32_t n;
	union resolver_address all[RESOLVER_ADDRESSES];
};

/*
 * Fork it. The end of the socket, close-on-exec and non-blocking, and *PID; or
 * -errno. PREPARE (NULL: nothing) is called in it first; it ends when that
 * fails (< 0). Single-threaded, before any event base.
 */
int resolver_fork(int (*prepare)(void), pid_t *pid);

#endif
