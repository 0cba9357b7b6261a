/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_groups.c - limits the cgroups that hold all workers of a kind, by the
 * configuration. server.c and reload.c call it; where there is no cgroup
 * nothing is limited, and the isolation report says so.
 */
#include "supervisor/start/worker_groups.h"

#include "supervisor/config/config.h"
#include "supervisor/egress/egress.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/spawn/ids/uid_range.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/runtime/runtime.h"

/* memory of the zygotes, and of measuring the cage */
#define ZYGOTE_BYTES (256ll << 20)
/* memory of a shim until it is in its run's cgroup */
#define SHIM_START_BYTES (16ll << 20)
#define ZYGOTE_PROCESSES 16
#define BROKER_BYTES (INT64_C(256) << 20)

void worker_groups_limit(const struct config *c)
{
	int64_t most = c->max_concurrent_runs + c->max_parked_runs;
	int64_t runs = most < ZYGOTE_PROTO_SLOTS ? most : ZYGOTE_PROTO_SLOTS;
	/* as sandbox/rlimits.c: a quarter is malloc's waste */
	int64_t one =
	    c->max_memory_bytes + c->max_memory_bytes / 4 + SHIM_START_BYTES;
	/* above the bounds of the browser's own watch, which tells why */
	const struct cgroup_limits browser = {
	    .memory_bytes =
		(uint64_t)(c->browser_max_memory + c->browser_max_memory / 4 +
			   BROKER_BYTES),
	    .processes = (uint64_t)(c->browser_max_processes +
				    c->browser_max_processes / 4)};

	/* a child for each run with network, and paddock-egress itself */
	const struct cgroup_limits egress = {
	    .memory_bytes = (UID_RANGE_EGRESS + 2) * EGRESS_CHILD_BYTES,
	    .processes = 2 * UID_RANGE_EGRESS};

	for (int i = 0; i < RUNTIMES; i++) {
		int64_t each = runtimes[i]->has_shim ? SHIM_START_BYTES : one;
		const struct cgroup_limits workers = {
		    .memory_bytes = (uint64_t)(ZYGOTE_BYTES + runs * each),
		    .processes = (uint64_t)runs + ZYGOTE_PROCESSES};

		cgroup_limit((enum cgroup_leaf)i, &workers);
	}
	cgroup_limit(CGROUP_BROWSER, &browser);
	cgroup_limit(CGROUP_EGRESS, &egress);
}
