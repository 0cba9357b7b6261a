/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_claim.c - the queue of runs which all instances of a database share:
 * puts a run there that cannot start at once, and claims the next run when this
 * instance has room. A timer, runs_queue.c and runs_create.c call the
 * functions. A failed read or claim is repeated at the next turn; a run whose
 * row cannot be written is not queued there.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/requestor/admission.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/run_row.h"
#include "supervisor/run/worker/programs.h"

#define LOOK_MS STORE_POLL_MS
#define COUNT_MS 1000	   /* how many wait, of whom */
#define SEEK_POLLS 60	   /* once a minute: has news of ours been lost? */
#define LOOKS_SERVE 20	   /* each so many: has what we serve changed? */
#define STRANGERS_MAX 2000 /* bytes of their names */

struct runs_claims {
	struct runs *runs;
	struct event *look; /* NULL: nothing is shared, or not yet */
	unsigned looks;
	int64_t looked_ms, counted_ms, sought_ms; /* mono */
	char *serves; /* that others were told; or NULL */
	bool served;  /* that is known there */
	bool waits;   /* somebody whose turn it is before who comes now */
	bool held;    /* some were left there for a limit of ours */
	bool looking, counting, claiming;
	bool again; /* look once more: somebody woke us meanwhile */
	int asked;
	/* requestors of theirs whom only we took for ours */
	struct buf strangers;
};

/* Does what waits here wait for all? What serves one client ends with it. */
static bool is_sharing(const struct runs *s)
{
	return s->ctx->others && s->claims->look != NULL;
}

bool runs_claim_waits(const struct runs *s)
{
	return is_sharing(s) && s->claims->waits;
}

/* ---- what waits there ---- */

/* What it needs is here: a session of the browser, inputs that no row has. */
static bool is_bound(const struct run *r)
{
	return r->session_id != NULL || r->template->secret;
}

void runs_claim_set_aside(struct runs *s, struct run *r)
{
	if (!is_sharing(s))
		return;
	sched_remove(&s->sched, &r->job.queued);
	sched_put_aside(&s->sched, &r->requestor->lane, &r->job.queued);
	r->remote.place = RUN_QUEUE;
	r->remote.pinned = is_bound(r) || r->remote.asks_here;
	if (!runs_share_is_alone(s)) /* else our own count is right */
		r->remote.most = r->requestor->section->max_queued_runs;
	runs_share_need(s, r->requestor);
}

void runs_claim_leave(struct runs *s, struct run *r)
{
	if (!is_sharing(s))
		return;
	r->remote.place = RUN_QUEUE;
	r->remote.pinned = is_bound(r) || r->remote.asks_here;
}

/*
 * When it is not known whether its row is there, others may have it: then it does
 * not start here either, and who waits is told by on_stored(), or now.
 */
void runs_claim_queued(struct runs *s, struct run *r, int rc)
{
	if (r->remote.place != RUN_QUEUE || run_terminal(r))
		return; /* it is here, or has ended with our lease */
	if (rc == 0) {
		runs_claim_wake(s);
		runs_claim_next(s);
		return;
	}
	sched_remove(&s->sched, &r->job.queued);
	r->remote.place = RUN_HERE;
	run_set_error(r, "STORE_UNAVAILABLE", admission_store_details(),
		      "the run could not be queued: %s", store_says(rc));
	runs_finish(s, r, EV_FAIL);
}

bool runs_claim_is_first(const struct runs *s, const char *key)
{
	return key != NULL && is_sharing(s);
}

/* There is none of R: who waits for it is told WHY by N, and it is no more. */
static void drop_run(struct runs *s, struct run *r, enum run_notice_kind n,
		     const char *why)
{
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	free(r->idem.key); /* who looks for its run is not to find this one */
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

void runs_claim_taken(struct runs *s, struct run *r)
{
	run_set_error(r, "RUN_CANCELED", NULL,
		      "another server began the run of its idempotency key");
	drop_run(s, r, NOTICE_TAKEN, "key=taken");
}

void runs_claim_full(struct runs *s, struct run *r)
{
	run_set_error(r, "QUEUE_FULL", NULL,
		      "as many runs waited at all servers as may");
	drop_run(s, r, NOTICE_FULL, "queue=full");
}

/* ---- claims ---- */

int runs_claim_room(struct runs *s)
{
	const struct config *c = s->ctx->config;
	int64_t waits = (int64_t)(s->sched.queued - s->sched.aside);
	int64_t runs = c->max_concurrent_runs - (int64_t)s->sched.running;
	int64_t slots =
	    ZYGOTE_PROTO_SLOTS - (int64_t)(s->sched.running + s->stopped);

	runs = (runs < slots ? runs : slots) - waits;
	return runs < 0 || !s->claims->served || !runs_can_start(s) ||
		       s->ctx->passing || s->ctx->draining
		   ? 0
		   : (int)runs;
}

/* Of whom none is to come now: a line each. The caller's. */
static char *excepted(struct runs *s)
{
	struct requestor *q, *next;
	struct buf out = {0};

	buf_add(&out, buf_data(&s->claims->strangers),
		buf_len(&s->claims->strangers));
	HASH_ITER(hh, s->ctx->requestors->by_name, q, next)
		if ((q->lane.held || q->lane.running > 0 ||
		     q->lane.share == 0) &&
		    !sched_has_room(&s->sched, &q->lane))
			buf_printf(&out, "%s\n", q->name);
	s->claims->held = buf_len(&out) > 0;
	buf_add(&out, "", 1);
	return buf_take(&out, NULL);
}

/* It is another's to run, though we were given it. */
static void leave(struct runs *s, const struct store_run *row)
{
	struct runs_claims *c = s->claims;

	log_info("runs", "run=%s requestor=%s claimed=left", row->id,
		 row->requestor);
	if (buf_len(&c->strangers) < STRANGERS_MAX)
		buf_printf(&c->strangers, "%s\n", row->requestor);
	run_row_leave(s->ctx->store, row);
}

static void take(struct runs *s, const struct store_run *row)
{
	struct run *r = runs_by_id(s, row->id);

	if (r != NULL && r->remote.visited && !run_terminal(r)) {
		runs_abroad_end_visit(s, r);
		r = NULL;
	}
	if (r != NULL && r->remote.place == RUN_HERE)
		return; /* it was ours before */
	if (r != NULL && !run_terminal(r))
		runs_take_back(s, r, row);
	else if (r == NULL)
		r = runs_revive(s, row);
	if (r == NULL) {
		leave(s, row);
		return;
	}
	r->remote.vtime = row->vtime;
	memcpy(r->remote.home, row->home, sizeof(r->remote.home));
}

/* R, whose turn came, has no place here: it waits for all again, where it did. */
static void give_back(struct runs *s, struct run *r)
{
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	sched_put_aside(&s->sched, &r->requestor->lane, &r->job.queued);
	r->remote.place = RUN_QUEUE;
	run_row_put(s->ctx->store, r, STORE_RETRY, NULL, NULL);
	if (!r->remote.taken_over || !TAILQ_EMPTY(&r->watches))
		return;
	sched_remove(&s->sched, &r->job.queued);
	runs_forget(s, r);
}

static bool is_back_to_give(const struct runs *s, const struct run *r)
{
	return r->state == RUN_QUEUED && r->remote.place == RUN_HERE &&
	       r->remote.vtime > 0 && r->job.queued.lane != NULL &&
	       !r->job.queued.aside &&
	       (s->ctx->quiet ||
		!sched_has_room(&s->sched, &r->requestor->lane));
}

static void on_claimed(void *arg, const struct store_result *res)
{
	struct runs_claims *c = arg;
	struct runs *s = c->runs;
	struct run *r;

	c->claiming = false;
	if (res->rc != 0 || s->leaving)
		return;
	for (size_t i = 0; i < res->n_runs; i++)
		take(s, &res->runs[i]);
	c->waits = false;
	runs_pump(s);
	for (size_t i = 0; i < res->n_runs; i++) {
		r = runs_by_id(s, res->runs[i].id);
		if (r != NULL && is_back_to_give(s, r))
			give_back(s, r);
	}
	c->waits = res->n_runs == (size_t)c->asked;
	if (res->n_runs > 0) /* somebody may have asked for them there */
		runs_remote_read(s);
	runs_claim_next(s);
}

void runs_claim_next(struct runs *s)
{
	struct runs_claims *c = s->claims;
	char *except;

	if (c->look == NULL || !c->waits || c->claiming)
		return;
	c->asked = runs_claim_room(s);
	if (c->asked == 0)
		return;
	c->claiming = true;
	except = excepted(s);
	store_claim(s->ctx->store, c->asked, except, on_claimed, c);
	free(except);
}

void runs_claim_wake(struct runs *s)
{
	struct runs_claims *c = s->claims;

	c->waits =
	    c->look != NULL && (c->waits || c->held || s->sched.aside > 0);
}

/* ---- what we serve ---- */

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
	struct runs_claims *c = arg;

	if (res->rc == 0) {
		c->served = true;
		runs_claim_wake(c->runs);
	} else { /* they are told again */
		free(c->serves);
		c->serves = NULL;
	}
}

void runs_serve(struct runs *s)
{
	struct runs_claims *c = s->claims;
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

/* As many as others have there count as theirs who put them. */
static void count(struct runs *s, const struct store_result *res)
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
	struct runs_claims *c = arg;
	struct runs *s = c->runs;

	c->looking = false;
	if (res->rc == 0) {
		if (c->counting)
			count(s, res);
		if (res->unserved && c->served)
			store_end_unserved(s->ctx->store);
		c->waits = res->waits;
		runs_claim_next(s);
	}
	if (c->again)
		runs_claim_look(s);
}

/* Of what happens each so often, at looks: is it time again? */
static bool is_due(int64_t since_ms, int64_t every_ms)
{
	return clock_mono_ms() - since_ms >= every_ms - LOOK_MS / 2;
}

void runs_claim_look(struct runs *s)
{
	struct runs_claims *c = s->claims;

	if (c->look == NULL || s->ctx->passing)
		return;
	c->again = c->looking;
	if (c->looking)
		return;
	c->looking = true;
	c->looked_ms = clock_mono_ms();
	c->counting = is_due(c->counted_ms, COUNT_MS);
	if (c->counting)
		c->counted_ms = c->looked_ms;
	store_look_at_queue(s->ctx->store, c->counting, on_looked, c);
}

/* Who has nothing to do is woken for what comes, and seldom looks by itself. */
static bool is_idle(const struct runs *s)
{
	return s->sched.running == 0 && s->sched.queued == 0 &&
	       !s->claims->waits;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct runs_claims *c = arg;
	struct runs *s = c->runs;

	(void)fd, (void)what;
	if (c->looking || s->ctx->passing)
		return;
	c->looks++;
	if (c->serves == NULL || c->looks % LOOKS_SERVE == 0)
		runs_serve(s);
	if (is_due(c->sought_ms, SEEK_POLLS * store_poll_ms(s->ctx->store))) {
		c->sought_ms = clock_mono_ms();
		runs_abroad_seek(s);
	}
	if (is_idle(s) && !is_due(c->looked_ms, store_poll_ms(s->ctx->store)))
		return;
	runs_claim_look(s);
}

/* ---- start and end ---- */

void runs_claim_rejoined(struct runs *s)
{
	struct runs_claims *c = s->claims;

	c->served = false;
	free(c->serves);
	c->serves = NULL;
}

/* One that rests after an attempt is tried again by who has room, and sooner. */
static void give_away(struct runs *s, struct run *r)
{
	runs_retry_forget(s, r);
	r->remote.pinned = is_bound(r);
	give_back(s, r);
}

/* Others are not to wait for us to come to what we have claimed, or tried. */
void runs_hand_over(struct runs *s)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after)
		if (is_back_to_give(s, r))
			give_back(s, r);
		else if (is_sharing(s) && runs_retry_rests(r))
			give_away(s, r);
}

void runs_claim_init(struct runs *s)
{
	s->claims = xcalloc(1, sizeof(*s->claims));
	s->claims->runs = s;
}

void runs_claim_open(struct runs *s)
{
	if (!store_is_shared(s->ctx->store))
		return;
	s->claims->look =
	    event_new(s->ctx->base, -1, EV_PERSIST, on_look, s->claims);
	event_add(s->claims->look, CLOCK_TIMEVAL(LOOK_MS));
	on_look(-1, 0, s->claims);
}

void runs_claim_fini(struct runs *s)
{
	if (s->claims->look != NULL)
		event_free(s->claims->look);
	buf_fini(&s->claims->strangers);
	free(s->claims->serves);
	free(s->claims);
}
