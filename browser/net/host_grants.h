/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_grants.h - the hosts that an operator granted a template, beside the
 * policy. Loopback, private networks and this machine's own addresses are
 * reached only where the grant names them.
 */
#ifndef BROWSER_NET_HOST_GRANTS_H
#define BROWSER_NET_HOST_GRANTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/socket.h>

struct host_grants;

/*
 * From LIST (lent), an array of patterns (ipc/host_pattern.h); NULL: no host.
 * The caller's reference; or NULL: it is no such list.
 */
struct host_grants *host_grants_new(struct json_object *list);
struct host_grants *
host_grants_ref(struct host_grants *g);	       /* G itself; NULL is fine */
void host_grants_unref(struct host_grants *g); /* NULL is fine */

/*
 * Each is NULL when it may be reached, or a static text that says why not. HOST
 * as url_policy_host() has it; one that is an address is checked as such.
 */
const char *host_grants_host(const struct host_grants *g, const char *host,
			     unsigned port);
/* The same for ADDRESS, which HOST is or resolves to. */
const char *host_grants_address(const struct host_grants *g, const char *host,
				unsigned port, const struct sockaddr *address);

/* Is ERRMSG one of those texts? */
bool host_grants_refuses(const char *errmsg);

#endif
