/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_policy.h - the addresses that a page may reach. Pure functions over
 * tables.
 *
 * A URL is checked before a tab navigates. Then every connection of pages, for
 * any reason, comes to proxy.c, which checks host, port, and each address
 * before connecting: those checks are the ones that protect.
 */
#ifndef NET_URL_POLICY_H
#define NET_URL_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#define URL_HOST_MAX 256 /* bytes with the NUL: 253 of a name and brackets */

enum url_trust {
	URL_REMOTE, /* the public internet alone */
	URL_LOCAL,  /* the public internet, loopback and private networks */
};

struct url_place {
	char host[URL_HOST_MAX]; /* lower case, no brackets, no final dot */
	unsigned port;
};

/*
 * The functions return NULL when reachable, or the reason for a refusal: a
 * static text such as "a loopback address". Anything not understood is refused.
 */

/* Check a whole URL, and write its place to PLACE (may be NULL). */
const char *url_policy_url(const char *url, enum url_trust trust,
			   struct url_place *place);
/* Check a host of a URL or a request, without brackets. */
const char *url_policy_host(const char *host, enum url_trust trust);
const char *url_policy_port(unsigned port, enum url_trust trust);
const char *url_policy_address(const struct sockaddr *address,
			       enum url_trust trust);

#endif
