/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_grants.h - the hosts that an operator granted a template: what its pages
 * may reach of what the policy lets them. Loopback, private networks and this
 * machine's own addresses only where the grant names them.
 */
#ifndef BROWSER_NET_HOST_GRANTS_H
#define BROWSER_NET_HOST_GRANTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <sys/socket.h>

struct granted;

/*
 * LIST (lent) is an array of patterns (ipc/host_pattern.h); NULL: none at
 * all. One user: the caller; or NULL: it is no such list.
 */
struct granted *granted_new(struct json_object *list);
struct granted *granted_ref(struct granted *g);	  /* G itself; NULL is fine */
void granted_unref(struct granted *g);		  /* NULL is fine */

/*
 * Each is NULL when it may be reached, or a static text that says why not.
 * HOST as url_policy_host() has it; when it is an address, that is looked at.
 */
const char *granted_host(const struct granted *g, const char *host,
			 unsigned port);
/* And ADDRESS, which HOST is, or leads to. */
const char *granted_address(const struct granted *g, const char *host,
			    unsigned port, const struct sockaddr *address);

/* Is WHY one of those texts? */
bool granted_refuses(const char *why);

#endif
