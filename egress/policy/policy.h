/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy.h - what a run may reach: hosts by the order of the run, and addresses by the
 * policy for all runs and the private ranges of the run's requestor.
 */
#ifndef EGRESS_POLICY_POLICY_H
#define EGRESS_POLICY_POLICY_H

#include <stdbool.h>
#include <sys/socket.h>

#include "egress/policy/settings.h"

struct policy {
	const struct settings *settings;
	const struct order *order;
};

/*
 * The host of the run that HOST and PORT match: a name in full before a wildcard, the
 * longest wildcard before others. NULL: not granted.
 */
const struct order_host *policy_host(const struct policy *p, const char *host,
				     unsigned port);
/* Are METHOD and PATH (N bytes, without a query) within R? */
bool rules_allow(const struct rules *r, const char *method, const char *path,
		 size_t n);

/* Is HOST denied by the operator? 0 or EGRESS_DENIED. */
enum egress_reason policy_denied(const char *host);
/* May the run connect to ADDRESS? 0, or the reason. */
enum egress_reason policy_address(const struct policy *p,
				  const struct sockaddr *address);

#endif
