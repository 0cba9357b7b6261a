/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_grants.h - the hosts granted to a template by the operator, beside the
 * policy. Loopback, private networks and this machine's own addresses need a
 * grant that names them.
 */
#ifndef BROWSER_NET_HOST_GRANTS_H
#define BROWSER_NET_HOST_GRANTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/socket.h>

struct host_grants;

/*
 * Make grants of LIST (lent), an array of patterns (ipc/host_pattern.h); NULL:
 * no host. The caller owns the reference; NULL: a bad list.
 */
struct host_grants *host_grants_new(struct json_object *list);
struct host_grants *
host_grants_ref(struct host_grants *g); /* returns G; NULL is fine */
/* drops a reference; NULL is fine */
void host_grants_unref(struct host_grants *g);

/*
 * Return NULL when HOST is granted, or a static text with the reason. HOST is
 * as in url_policy_host(); an address in HOST is checked as an address.
 */
const char *host_grants_host(const struct host_grants *g, const char *host,
			     unsigned port);
/* Check ADDRESS, which is HOST or resolved from HOST, in the same way. */
const char *host_grants_address(const struct host_grants *g, const char *host,
				unsigned port, const struct sockaddr *address);

/* Is ERRMSG a text of these functions? */
bool host_grants_refuses(const char *errmsg);

#endif
