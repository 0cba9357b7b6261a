/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - Chromium's only connection to the network: a SOCKS 5 server (RFC
 * 1928) that checks host and port, resolves, checks each address, and connects
 * to an address that it checked. So it does not matter if a name changes its
 * address meanwhile, and redirects, subresources, workers and websockets are
 * all checked alike.
 */
#ifndef BROWSER_NET_PROXY_H
#define BROWSER_NET_PROXY_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "browser/net/url_policy.h"

#define PROXY_CONNECTIONS_MAX 512   /* of all; a requestor has its share */
#define PROXY_SESSION_MAX 128	    /* of one session */
#define PROXY_CONNECT_S 20	    /* to greet, resolve and connect */
#define PROXY_HELD_MAX (256u << 10) /* bytes buffered for a slow end */

struct proxy;
struct resolver;

struct proxy_client {
	enum url_trust trust;
	const char *requestor; /* copied */
};

struct proxy_ops {
	/* Whose connection is it that came to PROXY_IP? False: nobody's. */
	bool (*client)(void *arg, uint32_t proxy_ip,
		       struct proxy_client *client);
	/*
	 * May it reach HOST, and there ADDRESS (NULL: not resolved yet)? NULL,
	 * or a static text that says why not. The policy's own checks are made
	 * apart.
	 */
	const char *(*reach)(void *arg, uint32_t proxy_ip, const char *host,
			     unsigned port, const struct sockaddr *address);
	/* POLICY: refused for ERRMSG; else the network failed. Lent. */
	void (*failed)(void *arg, uint32_t proxy_ip, const char *host,
		       unsigned port, const char *errmsg, bool policy);
};

/* Takes LISTENER, a non-blocking socket; lends RESOLVER. */
struct proxy *proxy_new(struct event_base *base, int listener,
			struct resolver *resolver, const struct proxy_ops *ops,
			void *arg);
/* One requestor may have all connections. */
void proxy_alone(struct proxy *p);
void proxy_free(struct proxy *p); /* with all its connections; NULL is fine */

#endif
