/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_deny.h - addresses that pages may not reach, beside the tables of
 * url_policy.h: hosts denied by the operator, at any trust level, and at remote
 * all addresses of this machine.
 */
#ifndef NET_NET_DENY_H
#define NET_NET_DENY_H

#include <stddef.h>

#include "net/url_policy.h"

/*
 * Prepare, once, before any question. DENY: a list of base/text/host_list.h, or
 * NULL. 0, or -EINVAL: a bad list; or -errno: the kernel cannot be asked.
 */
int net_deny_init(const char *deny);

/*
 * Return NULL when reachable, or the reason for a refusal, as in url_policy.h.
 */
const char *net_deny_host(const char *host);
const char *net_deny_address(const struct sockaddr *address,
			     enum url_trust trust);
/* Check by url_policy_url() and by net_deny_host(). */
const char *net_deny_url(const char *url, enum url_trust trust);

enum net_deny_owner { NET_DENY_OTHERS, NET_DENY_OURS, NET_DENY_UNKNOWN };

/* Parse the kernel's answer, LEN bytes, on a route. Pure. */
enum net_deny_owner net_deny_read(const void *answer, size_t len);

#endif
