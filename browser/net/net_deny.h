/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_deny.h - what pages may not reach beside the tables of url_policy.h: what
 * the operator denies, at any trust level, and at remote all addresses of this
 * machine.
 */
#ifndef BROWSER_NET_NET_DENY_H
#define BROWSER_NET_NET_DENY_H

#include <stddef.h>

#include "browser/net/url_policy.h"

/*
 * Once, before anything is asked. DENY: base/text/host_list.h's list, or NULL. 0, or
 * -EINVAL: it is no such list; or -errno: the kernel cannot be asked.
 */
int net_deny_init(const char *deny);

/*
 * Each is NULL when it may be reached, or the reason why not, as
 * url_policy.h's.
 */
const char *net_deny_host(const char *host);
const char *net_deny_address(const struct sockaddr *address,
			     enum url_trust trust);
/* Both url_policy_url() and net_deny_host(). */
const char *net_deny_url(const char *url, enum url_trust trust);

enum net_deny_owner { NET_DENY_OTHERS, NET_DENY_OURS, NET_DENY_UNKNOWN };

/* Parses the kernel's answer, LEN bytes, about a route. Pure. */
enum net_deny_owner net_deny_read(const void *answer, size_t len);

#endif
