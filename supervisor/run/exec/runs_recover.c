/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_recover.c - takes over runs of dead instances: at the first request to
 * the store, each minute, and when a client asks for such a run. server.c and
 * run_lookup.c call runs_recover(). When the store fails, the take-over is
 * repeated soon; a run of a template or requestor that this server does not
 * serve fails, as does a run that was called by a run.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/run/record/run_row.h"

#define AGAIN_S 5

/* Return the requestor NAME, or NULL when this instance does not serve NAME. */
static struct requestor *served(const struct context *ctx, const char *name)
{
	struct requestor *q = ctx->local;

	if (ctx->others && strncmp(name, "uid:", 4) == 0)
		q = requestors_of_uid(ctx->requestors,
				      (uid_t)strtoul(name + 4, NULL, 10));
	else if (ctx->others && ctx->config->listen != NULL &&
		 strcmp(name, REQUESTOR_ANONYMOUS) == 0)
		q = requestors_anonymous(ctx->requestors);
	else if (ctx->others)
		q = requestors_find(ctx->requestors, name);
	return q != NULL && !requestor_gone(q) && strcmp(q->name, name) == 0
		   ? q
		   : NULL;
}

/* Queue R here again, or fail R when R has had all attempts. */
void runs_revived(struct runs *s, struct run *r)
{
	bool was_running = r->attempts.started_ms > 0;
	bool again = !was_running || run_may_retry(r);

	if (was_running) {
		run_set_error(r, "RUN_INTERRUPTED", NULL,
			      "the server that ran this stopped before the run "
			      "had ended");
		r->made_artifacts = true; /* possibly */
	}
	if (was_running && again)
		runs_try_again(s, r);
	else if (again)
		runs_enqueue(s, r);
	else
		runs_finish(s, r, EV_FAIL);
}

struct run *runs_revive(struct runs *s, const struct store_run *row)
{
	struct template *t =
	    catalogue_find(s->ctx->catalogue, row->template_id, row->version);
	struct requestor *q = served(s->ctx, row->requestor);
	struct run *r;

	if (t == NULL || strcmp(t->digest, row->digest) != 0 ||
	    !store_has_inputs(row) || q == NULL ||
	    (row->depth > 0 && s->ctx->cluster == NULL))
		return NULL;
	r = run_row_revive(row, q, t);
	/* R, which another server admitted, gets no more trust here */
	if (requestor_trust(q, r->trust) == TRUST_REMOTE)
		r->trust = TRUST_REMOTE;
	if (!requestor_sees(q, t->id) || (t->trust & (unsigned)r->trust) == 0) {
		run_free(r);
		return NULL;
	}
	run_row_keep_inputs(r, NULL, s->ctx->config);
	runs_set_limits(s, r, r->limits.timeout_ms, r->limits.ttl_ms);
	HASH_ADD_STR(s->by_id, id, r);
	runs_revived(s, r);
	return r;
}

/* Take over the queued runs of dead servers, which RES brings. */
static void reclaim(struct runs *s, const struct store_result *res)
{
	size_t again = 0;

	for (size_t i = 0; i < res->n_runs; i++) {
		const struct store_run *row = &res->runs[i];
		const struct run *r = runs_revive(s, row);

		if (r == NULL)
			run_row_interrupt(
			    s->ctx->store, row,
			    runs_ttl(s, served(s->ctx, row->requestor)));
		again += r != NULL && !run_terminal(r);
	}
	if (res->n_runs + res->interrupted > 0)
		log_info("runs", "recovered queued=%zu interrupted=%zu", again,
			 res->interrupted + res->n_runs - again);
	if (again > 0) /* mail to the dead servers may be unread */
		runs_remote_read(s);
	if (s->ctx->cluster !=
	    NULL) /* dead servers' runs of the queue wait on */
		s->ctx->cluster->wake(s);
	runs_pump(s);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct runs *s = arg;

	(void)fd, (void)what;
	s->recovering = false;
	runs_recover(s);
}

static void on_recovered(void *arg, const struct store_result *res)
{
	struct runs *s = arg;

	if (res->rc != 0) {
		log_debug("server", "recovery=failed err=\"%s\"", res->errmsg);
		event_base_once(s->ctx->base, -1, EV_TIMEOUT, on_again, s,
				CLOCK_TIMEVAL(AGAIN_S * 1000));
	} else {
		s->recovering = false;
		reclaim(s, res);
	}
}

/* The minute's timer and a pause after a failure call: one recovery at a time. */
void runs_recover(struct runs *s)
{
	const struct config *config = s->ctx->config;
	struct store_keep *own;
	size_t n = 0;

	if (s->recovering)
		return;
	s->recovering = true;
	/* the store is told how long interrupted runs are kept: by each
	   requestor's section */
	own = xcalloc(config->n_requestors + 1, sizeof(*own));
	for (size_t i = 0; i < config->n_requestors; i++) {
		const char *name = config->requestors[i].name;
		struct requestor *q = requestors_find(s->ctx->requestors, name);

		if (q != NULL)
			own[n++] = (struct store_keep){name, runs_ttl(s, q)};
	}
	store_keep_lost(s->ctx->store, runs_ttl(s, NULL),
			config->artifact_ttl_ms, own, n);
	free(own);
	(s->ctx->passing ? store_recover_begun
			 : store_recover)(s->ctx->store, on_recovered, s);
}
