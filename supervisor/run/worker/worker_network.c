/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_network.c - the network of a worker, for worker.c: a child of paddock-egress,
 * asked for before the worker, and the child's reports, for the run's record, the audit
 * log and the log. A run without the child fails.
 */
#include "supervisor/run/worker/worker_private.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/os/fdpass.h"
#include "supervisor/egress/egress.h"
#include "supervisor/egress/egress_record.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/limits.h"
#include "supervisor/runtime/runtime.h"

/* ---- reports ---- */

static void note_limit(struct run *r, enum egress_reason reason)
{
	const struct run_limits *l = &r->limits;
	enum limit b = egress_limit(reason);

	if (b != LIMITS)
		limits_hit(r, b,
			   1 + (b == LIMIT_NETWORK_BYTES ? l->network_bytes
				: b == LIMIT_NETWORK_REQUESTS
				    ? l->network_requests
				    : l->network_connections));
}

static void on_report(void *owner, const struct egress_report *e)
{
	struct run *r = ((struct worker *)owner)->run;

	bool first = egress_record_add(&r->network, e);

	if (first && e->kind != EGRESS_REQUEST)
		egress_record_log(r->id, r->requestor->name, r->template->id,
				  e);
	if (e->kind == EGRESS_REFUSED)
		note_limit(r, (enum egress_reason)e->reason);
	if (e->kind == EGRESS_OPENED || e->kind == EGRESS_REFUSED || first)
		audit_network(r, e);
}

static void on_lost(void *owner, const char *why)
{
	struct run *r = ((struct worker *)owner)->run;

	run_set_error(r, "NETWORK_LOST", NULL, "the run lost its network: %s",
		      why);
	worker_end(r);
}

const struct egress_ops worker_network_ops = {on_report, on_lost};

/* ---- start ---- */

struct spawned *worker_network_spawn(struct context *ctx, struct worker *w,
				     struct run *r,
				     const struct spawner_job *job,
				     const struct spawned_ops *spawned_ops,
				     struct json_object *network, int *rc)
{
	const struct run_limits *l = &r->limits;
	const struct egress_ask ask = {r->id,
				       r->template->id,
				       r->requestor->name,
				       network,
				       grants_secrets(r->template),
				       l->network_bytes,
				       l->network_requests,
				       l->network_connections,
				       l->cpu_ms,
				       !runtimes[job->kind]->has_shim};
	const char *why;
	struct spawned *b;
	char *variables;
	size_t len;
	int cage;
	struct egress_child *c =
	    egress_open(ctx->egress, &ask, &cage, &why, rc);

	if (c == NULL) {
		if (*rc != -EAGAIN)
			run_set_error(r, "NETWORK_LOST", NULL,
				      "the run cannot have network: %s", why);
		return NULL;
	}
	b = spawned_ask(ctx->spawner, job, spawned_ops, w, rc);
	if (b == NULL)
		egress_child_free(c);
	else
		b->egress = c;
	/* a worker without the channel ends, and says so */
	variables = egress_variables(ctx->config, ask.secrets, &len);
	if (b != NULL)
		(void)fdpass_send(b->fd, len > 0 ? variables : "",
				  len > 0 ? len : 1, cage, MSG_DONTWAIT);
	free(variables);
	close(cage);
	return b;
}
