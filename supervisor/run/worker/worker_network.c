/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_network.c - the network of a worker, for worker.c: a child of paddock-egress,
 * asked for before the worker, and the child's reports, for the run's record, the audit
 * log and the log. A run without the child fails.
 */
#include "supervisor/run/worker/worker_private.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/fdpass.h"
#include "base/os/log.h"
#include "proto/json/json_pack.h"
#include "supervisor/egress/egress.h"
#include "supervisor/egress/egress_record.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/limits.h"

/* ---- reports ---- */

/* Log the first refusal of a host, with the line that would grant it. */
static void log_refusal(const struct run *r, const struct egress_report *e)
{
	log_warn("network",
		 "run=%s requestor=%s template=%s host=\"%s\" port=%u "
		 "refused=%s grant=\"[grant \\\"%s\\\"] network = %s:%u\"",
		 r->id, r->requestor->name, r->template->id, e->host, e->port,
		 egress_reasons[e->reason].code, r->template->id, e->host,
		 e->port);
}

static void note_limit(struct run *r, const struct egress_report *e)
{
	const struct run_limits *l = &r->limits;
	const struct {
		enum egress_reason reason;
		enum limit limit;
		int64_t most;
	} limits[] = {
	    {EGRESS_BYTES, LIMIT_NETWORK_BYTES, l->network_bytes},
	    {EGRESS_REQUESTS, LIMIT_NETWORK_REQUESTS, l->network_requests},
	    {EGRESS_CONNECTIONS, LIMIT_NETWORK_CONNECTIONS,
	     l->network_connections}};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		if (limits[i].reason == e->reason)
			limits_hit(r, limits[i].limit, limits[i].most + 1);
}

static void on_report(void *owner, const struct egress_report *e)
{
	struct run *r = ((struct worker *)owner)->run;

	if (egress_record_add(&r->network, e))
		log_refusal(r, e);
	if (e->kind == EGRESS_REFUSED)
		note_limit(r, e);
	if (e->kind == EGRESS_OPENED || e->kind == EGRESS_REFUSED)
		audit_network(r, e);
}

static void on_lost(void *owner, const char *why)
{
	struct run *r = ((struct worker *)owner)->run;

	run_set_error(r, "NETWORK_LOST", NULL, "the run lost its network: %s",
		      why);
	worker_end(r);
}

static const struct egress_ops ops = {on_report, on_lost};

void worker_network_watch(struct worker *w)
{
	if (w->spawned->egress != NULL)
		egress_child_watch(w->spawned->egress, &ops, w);
}

/* ---- start ---- */

static struct json_object *ask_of(const struct run *r,
				  struct json_object *network)
{
	return json_pack("run:s template:s requestor:s network:O secrets:o "
			 "maxBytes:i maxRequests:i maxConnections:i "
			 "memoryBytes:i cpuMs:i",
			 r->id, r->template->id, r->requestor->name, network,
			 json_object_new_array(), r->limits.network_bytes,
			 r->limits.network_requests,
			 r->limits.network_connections, EGRESS_CHILD_BYTES,
			 r->limits.cpu_ms);
}

struct spawned *worker_network_spawn(struct context *ctx, struct worker *w,
				     struct run *r,
				     const struct spawner_job *job,
				     const struct spawned_ops *spawned_ops,
				     struct json_object *network, int *rc)
{
	const char *why;
	struct spawned *b;
	int cage;
	struct egress_child *c =
	    egress_open(ctx->egress, ask_of(r, network), &cage, &why, rc);

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
	if (b != NULL)
		(void)fdpass_send(b->fd, "", 1, cage, MSG_DONTWAIT);
	close(cage);
	return b;
}
