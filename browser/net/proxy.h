/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - Chromium's only connection to the network: a SOCKS 5 server (RFC
 * 1928) that checks host and port, resolves, checks each address, and connects
 * to a checked address. So a name that changes its address meanwhile does no
 * harm, and redirects, subresources, workers and websockets are all checked
 * alike.
 */
#ifndef BROWSER_NET_PROXY_H
#define BROWSER_NET_PROXY_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/url_policy.h"

/* connections in all; a requestor has its share */
#define PROXY_CONNECTIONS_MAX 512
#define PROXY_SESSION_MAX 128	    /* connections of a session */
#define PROXY_CONNECT_S 20	    /* seconds to greet, resolve and connect */
#define PROXY_HELD_MAX (256u << 10) /* bytes buffered for a slow end */

struct proxy;
struct resolver;

struct proxy_client {
	enum url_trust trust;
	const char *requestor; /* the requestor's name, copied */
};

struct proxy_ops {
	/*
	 * Find the client of a connection to PROXY_IP. False: no session has
	 * it.
	 */
	bool (*client)(void *arg, uint32_t proxy_ip,
		       struct proxy_client *client);
	/*
	 * Return NULL when the session may reach HOST, and there ADDRESS (NULL:
	 * not resolved yet), or a static text with the reason. The policy is
	 * checked apart.
	 */
	const char *(*reach)(void *arg, uint32_t proxy_ip, const char *host,
			     unsigned port, const struct sockaddr *address);
	/*
	 * Record a failure. POLICY: refused for ERRMSG; else the network
	 * failed. Lent.
	 */
	void (*failed)(void *arg, uint32_t proxy_ip, const char *host,
		       unsigned port, const char *errmsg, bool policy);
};

/*
 * Takes LISTENER, a non-blocking socket; lends RESOLVER. ALONE: one requestor
 * may have all connections.
 */
struct proxy *proxy_new(struct event_base *base, int listener,
			struct resolver *resolver, bool alone,
			const struct proxy_ops *ops, void *arg);

void proxy_free(struct proxy *p); /* frees its connections, too; NULL is fine */

#endif
