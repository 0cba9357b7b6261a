/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_deny.h - what pages may not reach beside url_policy.h's tables: what the
 * operator denies, at any trust level, and at remote this machine itself, by
 * whichever of its addresses.
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

/* Each is NULL when it may be, or the reason why not, as url_policy.h's. */
const char *net_deny_host(const char *host);
const char *net_deny_address(const struct sockaddr *address,
			     enum url_trust trust);
/* All that url_policy_url() and the above can tell of a URL by itself. */
const char *net_deny_url(const char *url, enum url_trust trust);

enum net_deny_owner { NET_DENY_OTHERS, NET_DENY_OURS, NET_DENY_UNKNOWN };

/* The kernel's answer, LEN bytes, to a question about a route. Pure. */
enum net_deny_owner net_deny_read(const void *answer, size_t len);

#endif
