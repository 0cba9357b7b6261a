/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver.h - the process that asks the name servers, so their answers are
 * parsed apart from the rest. A lookup is a child of that process, and ends
 * with its answer, when cancelled, or after RESOLVER_S.
 *
 * Packets over a SOCK_SEQPACKET pair: a request starts or cancels a lookup;
 * each lookup has one answer, in any order.
 */
#ifndef BROWSER_NET_RESOLVER_H
#define BROWSER_NET_RESOLVER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/types.h>

#include "net/url_policy.h"

#define RESOLVER_S 3	      /* seconds for a lookup */
#define RESOLVER_AT_ONCE 16   /* most lookups at once */
#define RESOLVER_ADDRESSES 32 /* most addresses in an answer */

struct resolver_order {
	uint32_t id;	  /* the lookup to start or cancel */
	uint32_t look_up; /* 1: start the lookup; 0: cancel it */
	char host[URL_HOST_MAX];
};

union resolver_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct resolver_answer {
	uint32_t id;
	int32_t error; /* 0, or getaddrinfo(3)'s error; EAI_AGAIN: not in
			  time */
	uint32_t n;
	union resolver_address all[RESOLVER_ADDRESSES];
};

/*
 * Fork the process. Return the end of the socket, close-on-exec and
 * non-blocking, and *PID; or -errno. The child calls PREPARE (NULL: nothing)
 * first, and ends when PREPARE fails (< 0). Single-threaded, before any event
 * base.
 */
int resolver_fork(int (*prepare)(void), pid_t *pid);

#endif
