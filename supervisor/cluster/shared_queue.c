/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_queue.c - the queue of runs which all instances of a database share:
 * puts a run there that cannot start at once, and claims the next run when this
 * instance has room. A timer calls, and by the table runs_queue.c and
 * runs_create.c. A failed read or claim is repeated at the next turn; a run
 * whose row cannot be written is not queued there.
 */
#include "supervisor/cluster/cluster_private.h"
#include "supervisor/cluster/remote_row.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/record/run_row.h"
#include "supervisor/run/warm/residents.h"
#include "supervisor/run/worker/programs.h"

#define LOOK_MS STORE_POLL_MS
#define COUNT_MS 1000	   /* between counts of waiting runs by requestor */
#define SEEK_POLLS 60	   /* a minute: between searches for lost news */
#define LOOKS_SERVE 20	   /* looks between two tellings of served templates */
#define STRANGERS_MAX 2000 /* bytes of the names of unknown requestors */

struct shared_queue {
	struct runs *runs;
	struct event *look; /* NULL: the store has not begun */
	unsigned looks;
	int64_t looked_ms, counted_ms, sought_ms; /* mono */
	char *serves; /* the served templates, as last told; or NULL */
	bool served;  /* the database has SERVES */
	bool waits;   /* the queue has runs, whose turn is before new runs */
	bool held;    /* runs were left in the queue for a limit here */
	bool looking, counting, claiming;
	bool again; /* a wake-up came during a look: look once more */
	int asked;
	/* requestors of claimed runs that this server does not serve */
	struct buf strangers;
};

bool shared_queue_is_used(const struct runs *s)
{
	return s->ctx->others && s->cluster->queue->look != NULL;
}

bool shared_queue_may_start(const struct runs *s, const char *key)
{
	return !shared_queue_is_used(s) ||
	       (!s->cluster->queue->waits && key == NULL);
}

/* ---- runs that are put into the queue ---- */

/* Does R need this server: for a browser session, or for inputs that no row has? */
static bool is_bound(const struct run *r)
{
	return r->session_id != NULL || r->template->secret;
}

/* A resident may live at another server, whoever asks. */
static bool is_pinned(const struct run *r)
{
	return is_bound(r) || (r->remote.asks_here && r->notebook.name == NULL);
}

bool shared_queue_has_others(const struct runs *s)
{
	return shared_queue_is_used(s) && !limit_shares_is_alone(s);
}

void shared_queue_set_aside(struct runs *s, struct run *r)
{
	if (!shared_queue_is_used(s))
		return;
	if (r->family.parent != NULL)
		snprintf(r->family.caller_at, sizeof(r->family.caller_at), "%s",
			 s->ctx->instance);
	residents_leave(s->ctx->residents, r); /* as the last */
	sched_remove(&s->sched, &r->job.queued);
	sched_put_aside(&s->sched, &r->requestor->lane, &r->job.queued);
	r->remote.place = RUN_QUEUE;
	r->remote.pinned = is_pinned(r);
	if (!limit_shares_is_alone(s)) /* else this server's count is right */
		r->remote.most = r->requestor->section->max_queued_runs;
	limit_shares_need(s, r->requestor);
}

void shared_queue_leave(struct runs *s, struct run *r)
{
	if (!shared_queue_is_used(s))
		return;
	runs_leave_resident(s, r);
	r->remote.place = RUN_QUEUE;
	r->remote.pinned = is_pinned(r);
}

/* Drop R, which no row has: R's watchers are told by N, and the log WHY. */
static void drop_run(struct runs *s, struct run *r, enum run_notice_kind n,
		     const char *why)
{
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	free(r->idem.key); /* a search by the key is not to find R */
	r->idem.key = NULL;
	run_tell(r, &(struct run_notice){.kind = n});
	run_apply(r, EV_CANCEL);
	r->finished_ms = clock_wall_ms();
	log_info("run", "run=%s template=%s requestor=%s %s", r->id,
		 r->template->id, r->requestor->name, why);
	audit_end(r, s->ctx->isolation);
	requestor_row(r->requestor, -r->record.row_bytes);
	runs_forget(s, r);
}

bool shared_queue_queued(struct runs *s, struct run *r, int rc)
{
	if (r->remote.place != RUN_QUEUE)
		return true;
	if (rc == -EEXIST) {
		run_set_error(r, "RUN_CANCELED", NULL,
			      "another server began the run of its idempotency "
			      "key");
		drop_run(s, r, NOTICE_TAKEN, "key=taken");
		return false;
	}
	if (rc == -EXFULL) {
		run_set_error(r, "QUEUE_FULL", NULL,
			      "as many runs waited at all servers as may");
		drop_run(s, r, NOTICE_FULL, "queue=full");
		return false;
	}
	if (run_terminal(r)) /* R has ended with the lease */
		return true;
	if (rc == 0) {
		shared_queue_wake(s);
		shared_queue_claim(s);
		return true;
	}
	/*
	 * R does not start here: when it is unknown whether R's row was written, another
	 * server may have R
	 */
	sched_remove(&s->sched, &r->job.queued);
	r->remote.place = RUN_HERE;
	run_set_error(r, "STORE_UNAVAILABLE", admission_store_details(),
		      "the run could not be queued: %s", store_says(rc));
	runs_finish(s, r, EV_FAIL);
	return true;
}

/* ---- claims ---- */

/* Return the number of runs of LEVEL and above that may start here. */
static int room(struct runs *s, unsigned level)
{
	const struct config *c = s->ctx->config;
	int64_t waits = (int64_t)(s->sched.queued - s->sched.aside);
	int64_t runs =
	    c->max_concurrent_runs - (int64_t)sched_begun(&s->sched, level);
	int64_t slots = ZYGOTE_PROTO_SLOTS -
			(int64_t)sched_begun(&s->sched, 0) -
			(int64_t)s->stopped;

	runs = (runs < slots ? runs : slots) - waits;
	return runs < 0 || !s->cluster->queue->served || !runs_can_start(s) ||
		       s->ctx->passing
		   ? 0
		   : (int)runs;
}

int shared_queue_room(struct runs *s)
{
	return s->ctx->draining ? 0 : room(s, 0);
}

/* Write the line of Q for store_claim.except: which runs of Q have no room here? */
static void except(const struct runs *s, const struct requestor *q,
		   struct buf *out)
{
	unsigned level = 0;

	while (level < SCHED_LEVELS &&
	       !sched_has_room(&s->sched, &q->lane, level))
		level++;
	if (level > 0)
		buf_printf(out, "%s\t%u\t%d\n", q->name, level,
			   q->lane.max_running > 0 && q->lane.share == 0);
}

/* Return the requestors with runs that are not to be claimed now; the caller's. */
static char *excepted(struct runs *s)
{
	struct requestor *q, *next;
	struct buf out = {0};

	buf_add(&out, buf_data(&s->cluster->queue->strangers),
		buf_len(&s->cluster->queue->strangers));
	HASH_ITER(hh, s->ctx->requestors->by_name, q, next)
		if (q->lane.held || q->lane.running + q->lane.lent[0] > 0 ||
		    q->lane.share == 0)
			except(s, q, &out);
	s->cluster->queue->held = buf_len(&out) > 0;
	buf_add(&out, "", 1);
	return buf_take(&out, NULL);
}

/* Make the claimed run of ROW a run of this server. */
static void take_claimed(struct runs *s, const struct store_run *row)
{
	struct shared_queue *c = s->cluster->queue;
	struct run *r = runs_by_id(s, row->id);

	if (r != NULL && r->remote.visited && !run_terminal(r)) {
		remote_runs_end_visit(s, r);
		r = NULL;
	}
	if (r != NULL && run_is_here(r))
		return; /* claimed before */
	if (r != NULL && !run_terminal(r))
		remote_runs_take_back(s, r, row);
	else if (r == NULL)
		r = runs_revive(s, row);
	if (r == NULL) { /* not served here: left to other servers */
		log_info("runs", "run=%s requestor=%s claimed=left", row->id,
			 row->requestor);
		if (buf_len(&c->strangers) < STRANGERS_MAX)
			buf_printf(&c->strangers, "%s\t%d\t0\n", row->requestor,
				   SCHED_LEVELS);
		remote_row_leave(s->ctx->store, row);
		return;
	}
	r->remote.vtime = row->vtime;
	called_runs_come(s, r);
	memcpy(r->remote.home, row->home, sizeof(r->remote.home));
}

void shared_queue_give_back(struct runs *s, struct run *r)
{
	runs_leave_resident(s, r);
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	sched_put_aside(&s->sched, &r->requestor->lane, &r->job.queued);
	r->remote.place = RUN_QUEUE;
	run_row_put(s->ctx->store, r, STORE_RETRY, NULL, NULL);
	if (!r->record.revived || !TAILQ_EMPTY(&r->watches))
		return;
	sched_remove(&s->sched, &r->job.queued);
	runs_forget(s, r);
}

/* Was R claimed, and has no place here now? */
static bool is_back_to_give(const struct runs *s, const struct run *r)
{
	return r->state == RUN_QUEUED && run_is_here(r) &&
	       r->remote.vtime > 0 && r->job.queued.lane != NULL &&
	       !r->job.queued.aside &&
	       ((s->ctx->quiet && r->family.parent == NULL) ||
		!sched_has_room(&s->sched, &r->requestor->lane,
				r->family.depth));
}

static void on_claimed(void *arg, const struct store_result *res)
{
	struct shared_queue *c = arg;
	struct runs *s = c->runs;
	struct run *r;

	c->claiming = false;
	if (res->rc != 0 || s->leaving)
		return;
	for (size_t i = 0; i < res->n_runs; i++)
		take_claimed(s, &res->runs[i]);
	c->waits = false;
	runs_pump(s);
	for (size_t i = 0; i < res->n_runs; i++) {
		r = runs_by_id(s, res->runs[i].id);
		if (r != NULL && is_back_to_give(s, r))
			shared_queue_give_back(s, r);
	}
	c->waits = res->n_runs == (size_t)c->asked;
	if (res->n_runs > 0) {
		called_runs_look(s, true);
		runs_remote_read(s); /* requests may have come to the queue */
	}
	shared_queue_claim(s);
}

void shared_queue_claim(struct runs *s)
{
	struct shared_queue *c = s->cluster->queue;
	/* a server that ends has children of its runs alone */
	struct store_claim claim = {.own = s->ctx->draining};
	char *skipped, *busy;

	if (c->look == NULL || !c->waits || c->claiming || !runs_can_start(s))
		return;
	claim.least = s->sched.least;
	if (claim.own && claim.least == 0)
		claim.least = 1;
	claim.limit = c->asked = room(s, claim.least);
	if (c->asked == 0)
		return;
	c->claiming = true;
	claim.except = skipped = excepted(s);
	claim.busy = busy = residents_busy(s->ctx->residents);
	c->held |= busy[0] != '\0' || claim.least > 0;
	store_claim(s->ctx->store, &claim, on_claimed, c);
	free(skipped);
	free(busy);
}

void shared_queue_wake(struct runs *s)
{
	struct shared_queue *c = s->cluster->queue;

	c->waits =
	    c->look != NULL && (c->waits || c->held || s->sched.aside > 0);
}

/* ---- the served templates and requestors ---- */

static bool may_run(const struct runs *s, const struct template *t)
{
	struct tool_error no = {0};
	bool may = grants_allow(t, s->ctx->config, &no) &&
		   programs_allow(t, s->ctx->config, s->ctx->isolation, &no) &&
		   s->ops->may_run(t, s->ctx->config, &no);

	tool_error_fini(&no);
	return may;
}

static void add_requestors(const struct runs *s, struct buf *out)
{
	struct requestor *q, *next;

	if (!s->ctx->others) {
		buf_printf(out, "requestor %s\n", s->ctx->local->name);
		return;
	}
	HASH_ITER(hh, s->ctx->requestors->by_name, q, next)
		if (strncmp(q->name, "uid:", 4) != 0 && !requestor_gone(q))
			buf_printf(out, "requestor %s\n", q->name);
	if (s->ctx->config->listen != NULL &&
	    requestors_anonymous(s->ctx->requestors) != NULL)
		buf_printf(out, "requestor %s\n", REQUESTOR_ANONYMOUS);
	buf_printf(out, "uids");
}

static void on_served(void *arg, const struct store_result *res)
{
	struct shared_queue *c = arg;

	if (res->rc == 0) {
		c->served = true;
		shared_queue_wake(c->runs);
	} else { /* the next look tells again */
		free(c->serves);
		c->serves = NULL;
	}
}

void shared_queue_serve(struct runs *s)
{
	struct shared_queue *c = s->cluster->queue;
	struct buf out = {0};
	char *lines;

	if (c->look == NULL || !s->ctx->measured || s->ctx->passing)
		return;
	for (size_t i = 0; i < s->ctx->catalogue->n; i++)
		if (may_run(s, s->ctx->catalogue->all[i]))
			buf_printf(&out, "template %s\n",
				   s->ctx->catalogue->all[i]->digest);
	add_requestors(s, &out);
	buf_add(&out, "", 1);
	lines = buf_take(&out, NULL);
	buf_drop(&c->strangers, buf_len(&c->strangers));
	if (c->serves != NULL && strcmp(lines, c->serves) == 0) {
		free(lines);
		return;
	}
	free(c->serves);
	c->serves = lines;
	store_serve(s->ctx->store, lines, on_served, c);
}

/* ---- looks ---- */

/* Count the runs that other servers have queued, for each requestor. */
static void count_queued(struct runs *s, const struct store_result *res)
{
	struct requestor *q, *next;

	HASH_ITER(hh, s->ctx->requestors->by_name, q, next)
		q->lane.elsewhere = 0;
	s->sched.elsewhere = 0;
	for (size_t i = 0; i < res->n_uses; i++) {
		q = requestors_find(s->ctx->requestors, res->uses[i].requestor);
		if (q != NULL)
			q->lane.elsewhere = (size_t)res->uses[i].runs;
		s->sched.elsewhere += (size_t)res->uses[i].runs;
	}
}

static void on_looked(void *arg, const struct store_result *res)
{
	struct shared_queue *c = arg;
	struct runs *s = c->runs;

	c->looking = false;
	if (res->rc == 0) {
		if (c->counting)
			count_queued(s, res);
		if (res->unserved && c->served)
			store_end_unserved(s->ctx->store);
		c->waits = res->waits;
		shared_queue_claim(s);
	}
	if (c->again)
		shared_queue_look(s);
}

/* Have EVERY_MS passed since SINCE_MS, nearly, at a look? */
static bool poll_is_due(int64_t since_ms, int64_t every_ms)
{
	return clock_mono_ms() - since_ms >= every_ms - LOOK_MS / 2;
}

void shared_queue_look(struct runs *s)
{
	struct shared_queue *c = s->cluster->queue;

	if (c->look == NULL || s->ctx->passing)
		return;
	c->again = c->looking;
	if (c->looking)
		return;
	c->looking = true;
	c->looked_ms = clock_mono_ms();
	c->counting = poll_is_due(c->counted_ms, COUNT_MS);
	if (c->counting)
		c->counted_ms = c->looked_ms;
	store_look_at_queue(s->ctx->store, c->counting, on_looked, c);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct shared_queue *c = arg;
	struct runs *s = c->runs;

	(void)fd, (void)what;
	called_runs_look(s, false);
	if (c->looking || s->ctx->passing)
		return;
	c->looks++;
	if (c->serves == NULL || c->looks % LOOKS_SERVE == 0)
		shared_queue_serve(s);
	if (poll_is_due(c->sought_ms,
			SEEK_POLLS * store_poll_ms(s->ctx->store))) {
		c->sought_ms = clock_mono_ms();
		remote_runs_seek(s);
	}
	/* an idle server is woken for new runs, and seldom looks */
	if (s->sched.running == 0 && s->sched.queued == 0 && !c->waits &&
	    !poll_is_due(c->looked_ms, store_poll_ms(s->ctx->store)))
		return;
	shared_queue_look(s);
}

/* ---- start and end ---- */

void shared_queue_rejoined(struct runs *s)
{
	struct shared_queue *c = s->cluster->queue;

	c->served = false;
	free(c->serves);
	c->serves = NULL;
}

/* Was R claimed, and waits here for the runs of R's resident before R? */
static bool awaits_resident(const struct run *r)
{
	return r->state == RUN_QUEUED && run_is_here(r) &&
	       r->job.resident != NULL && r->job.queued.aside;
}

void shared_queue_hand_over(struct runs *s)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after)
		if (r->family.parent != NULL) {
			continue; /* children end here, with the parent */
		} else if (is_back_to_give(s, r) || awaits_resident(r)) {
			shared_queue_give_back(s, r);
		} else if (shared_queue_is_used(s) && runs_retry_rests(r)) {
			/* R is tried again by a server with room */
			runs_retry_forget(s, r);
			r->remote.pinned = is_bound(r);
			shared_queue_give_back(s, r);
		}
}

void shared_queue_init(struct runs *s)
{
	s->cluster->queue = xcalloc(1, sizeof(*s->cluster->queue));
	s->cluster->queue->runs = s;
}

void shared_queue_open(struct runs *s)
{
	s->cluster->queue->look =
	    event_new(s->ctx->base, -1, EV_PERSIST, on_look, s->cluster->queue);
	event_add(s->cluster->queue->look, CLOCK_TIMEVAL(LOOK_MS));
	on_look(-1, 0, s->cluster->queue);
}

void shared_queue_fini(struct runs *s)
{
	if (s->cluster->queue->look != NULL)
		event_free(s->cluster->queue->look);
	buf_fini(&s->cluster->queue->strangers);
	free(s->cluster->queue->serves);
	free(s->cluster->queue);
}
