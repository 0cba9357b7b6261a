/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.c - decides on hosts, paths and addresses for a run, in the run's child. Each
 * address is checked right before the connection, again for a name with changing
 * addresses. An address without a verdict of the kernel is refused.
 */
#include "egress/policy/policy.h"

#include <string.h>

#include "net/net_deny.h"
#include "net/url_policy.h"

const struct order_host *policy_host(const struct policy *p, const char *host,
				     unsigned port)
{
	const struct order_host *best = NULL;

	for (size_t i = 0; i < p->order->n_hosts; i++) {
		const struct order_host *h = &p->order->hosts[i];

		if (!host_rule_matches(&h->rule, host, port))
			continue;
		if (h->rule.host.kind != HOST_BELOW)
			return h;
		if (best == NULL ||
		    strlen(h->rule.host.name) > strlen(best->rule.host.name))
			best = h;
	}
	return best;
}

bool rules_allow(const struct rules *r, const char *method, const char *path,
		 size_t n)
{
	char canon[HOST_RULE_PATH_MAX];

	if (!r->given)
		return true;
	if (!host_rule_canon(canon, path, n))
		return false;
	for (size_t i = 0; i < r->n; i++)
		if (path_rule_matches(&r->all[i], method, canon))
			return true;
	return false;
}

enum egress_reason policy_denied(const char *host)
{
	return net_deny_host(host) == NULL ? EGRESS_NO_REASON : EGRESS_DENIED;
}

/* Is ADDRESS in a private range of the run's requestor? */
static bool is_private(const struct policy *p, const struct sockaddr *address)
{
	for (size_t i = 0; i < p->settings->n_ranges; i++) {
		const struct private_range *r = &p->settings->ranges[i];

		if (host_pattern_has(&r->net, address, 0) &&
		    private_range_is_of(r, p->order->requestor))
			return true;
	}
	return false;
}

enum egress_reason policy_address(const struct policy *p,
				  const struct sockaddr *address)
{
	/* a range lifts private addresses, never metadata, multicast or forms of IPv4 */
	enum url_trust trust = is_private(p, address) ? URL_LOCAL : URL_REMOTE;

	if (net_deny_address(address, URL_LOCAL) != NULL)
		return EGRESS_DENIED;
	if (url_policy_address(address, trust) != NULL ||
	    net_deny_address(address, trust) != NULL)
		return EGRESS_ADDRESS;
	return EGRESS_NO_REASON;
}
