/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_policy.h - what a page may reach. Pure functions over tables.
 *
 * A URL is checked before a tab is sent there. Then every connection of pages,
 * for whatever reason, comes to proxy.c, which checks host, port, and each
 * address that it would connect to: those checks are what counts.
 */
#ifndef BROWSER_NET_URL_POLICY_H
#define BROWSER_NET_URL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define URL_HOST_MAX 256 /* bytes with the NUL: 253 of a name and brackets */

enum url_trust {
	URL_REMOTE, /* the public internet alone */
	URL_LOCAL,  /* also loopback and private networks */
};

struct url_place {
	char host[URL_HOST_MAX]; /* lower case, no brackets, no final dot */
	unsigned port;
};

/*
 * Each is NULL when it may be reached, or the reason why not: a static text
 * such as "a loopback address". What is not understood is refused.
 */

/* A whole URL, to navigate to; and where it leads (PLACE may be NULL). */
const char *url_policy_url(const char *url, enum url_trust trust,
			   struct url_place *place);
/* A host as it stands in a URL or a request, without brackets. */
const char *url_policy_host(const char *host, enum url_trust trust);
const char *url_policy_port(unsigned port, enum url_trust trust);
const char *url_policy_address(const struct sockaddr *address,
			       enum url_trust trust);

#endif
