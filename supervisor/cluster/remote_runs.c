/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_runs.c - follows runs which another instance has claimed out of the
 * shared queue, for clients that wait for the run at this instance: reads the
 * run's row once a second while a client waits. A message says when a run was
 * claimed or has ended. A failed read is repeated at the next turn.
 */
#include "supervisor/cluster/cluster_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/cluster/proxied_request.h"
#include "supervisor/cluster/remote_questions.h"
#include "supervisor/cluster/remote_row.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/run/record/run_row.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in remote_runs_visit() */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

#define LOOK_MS 1000
#define LOOK_VISITED_MS 250 /* between reads of a run that was lately visited */
#define VISITED_MS 5000	    /* a visit is late no more after that time */
#define LOOKS_MAX 64	    /* reads in a turn: the next turn goes on */
#define ASKED_MS 5000
#define SEEK_BYTES 65536      /* of ids, in one question */
#define PARSED_MAX (1u << 20) /* bytes of a view that are read on the loop */

/* ---- the end of a remote run ---- */

static struct json_object *parsed(const char *view)
{
	struct json_object *v = NULL;
	size_t len = view != NULL ? strlen(view) : 0;

	if (len > 0 && len <= PARSED_MAX)
		json_parse(&v, view, len, NULL);
	return v;
}

static void stop_following(struct runs *s, struct run *r)
{
	TAILQ_REMOVE(&s->cluster->remote.all, r, remote.link);
	s->cluster->remote.n--;
}

static void end_remote(struct runs *s, struct run *r,
		       const struct store_run *row)
{
	struct json_object *view, *made = NULL;

	proxied_request_shown(r, row);
	if (row->view == NULL)
		made = run_json_row(row);
	if (made != NULL && row->started_ms == 0 && r->remote.lack != NULL &&
	    row->status == STORE_FAILED) /* no server could start R */
		json_object_object_add(made, "error",
				       json_object_get(r->remote.lack));
	view = made != NULL ? json_object_get(made) : parsed(row->view);
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	remote_row_end(r, row, view);
	if (remote_row_is_reply(row)) {
		r->output.is_reply = true;
		r->output.value = json_object_get(json_member(view, "result"));
	}
	if (r->output.is_reply && r->output.value == NULL)
		r->output.value = json_object_new_object();
	r->started_ms = row->started_ms;
	r->updated_ms = row->updated_ms;
	r->finished_ms = row->finished_ms;
	r->expires_ms = row->expires_ms;
	run_record_row(r, ROW_COMMITTED);
	r->view = xstrdup(made != NULL ? json_text(made, NULL) : row->view);
	json_object_put(made);
	json_object_put(view);
	/* R ended in the queue: no server has logged that end */
	if (row->started_ms == 0 && !r->remote.visited) {
		log_info("run",
			 "run=%s template=%s requestor=%s status=%s queue=left",
			 r->id, r->template->id, r->requestor->name,
			 run_status(r));
		audit_end(r, s->ctx->isolation);
	}
	run_tell(r, &(struct run_notice){.kind = NOTICE_ENDED});
	run_tell(r, &(struct run_notice){.kind = NOTICE_RECORDED});
	store_heard(s->ctx->store, r->id);
	if (r->remote.place == RUN_REMOTE)
		stop_following(s, r);
	runs_forget(s, r);
}

/* ---- the state of a remote run ---- */

static void tell_progress(struct run *r, const struct store_run *row)
{
	struct json_object *view, *p;
	const char *message;

	if (row->shown_seq == r->remote.seq)
		return;
	r->remote.seq = row->shown_seq;
	view = parsed(row->view);
	p = json_member(view, "progress");
	message = json_member_str(view, "message");
	if (p != NULL) {
		r->progress.told = true;
		r->progress.done = (uint64_t)json_member_int(p, "doneSteps");
		r->progress.total = (uint64_t)json_member_int(p, "totalSteps");
		free(r->progress.message);
		r->progress.message = xstrdup_opt(message);
		run_tell(r, &(struct run_notice){.kind = NOTICE_PROGRESS});
	}
	json_object_put(view);
}

static void ask_owner(struct runs *s, const struct run *r, enum store_mail kind,
		      int64_t until_ms)
{
	int64_t now = clock_wall_ms();

	if (until_ms < now + ASKED_MS / 2)
		store_send_mail(s->ctx->store, r->requestor->name, r->id, kind,
				now + ASKED_MS, NULL, NULL);
}

/* R's server has changed R's state. */
static void become_state(struct run *r, enum run_state state)
{
	run_mirror(r, state);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
}

static void mirror_row(struct runs *s, struct run *r,
		       const struct store_run *row)
{
	if (row->owner == STORE_OWNER_DEAD)
		runs_recover(s);
	proxied_request_shown(r, row);
	if (row->status != STORE_RUNNING)
		return;
	if (r->state == RUN_QUEUED) {
		r->attempts.here = false;
		become_state(r, RUN_RUNNING);
	}
	if (TAILQ_EMPTY(&r->watches))
		return;
	ask_owner(s, r, STORE_MAIL_WATCH, row->shown_until_ms);
	if (!TAILQ_EMPTY(&r->waiters) || r->task.feed != NULL)
		ask_owner(s, r, STORE_MAIL_LOG, row->log_until_ms);
	if (r->state != RUN_CANCELLING && remote_row_state(row) != r->state)
		become_state(r, remote_row_state(row));
	remote_row_tell_log(r, row->log);
	tell_progress(r, row);
	if (r->family.parent != NULL)
		remote_questions_relay(s->ctx, r, row);
}

/* ---- looks ---- */

/* End R, whose row was deleted. */
static void end_lost(struct runs *s, struct run *r)
{
	struct store_run row = {.requestor = r->requestor->name,
				.template_id = r->template->id,
				.version = r->template->version_text,
				.status = STORE_FAILED,
				.created_ms = r->created_ms,
				.started_ms = r->created_ms,
				.updated_ms = clock_wall_ms()};

	memcpy(row.id, r->id, sizeof(row.id));
	row.finished_ms = row.expires_ms = row.updated_ms;
	end_remote(s, r, &row);
}

/* End R, which had ended here, and has no row. */
static void end_unrecorded(struct runs *s, struct run *r)
{
	run_mirror(r, RUN_FAILED);
	run_tell(r,
		 &(struct run_notice){.kind = NOTICE_RECORDED,
				      .unrecorded = store_says(-EOWNERDEAD)});
	stop_following(s, r);
	runs_forget(s, r);
}

static void on_row(void *arg, const struct store_result *res)
{
	struct run_ref *ref = arg;
	struct runs *s = ref->runs;
	struct run *r = runs_referred(ref);

	if (r == NULL || run_is_here(r) || run_terminal(r))
		return;
	r->remote.looked = false;
	if (res->rc == -ENOENT && run_is_durable(r))
		end_lost(s, r);
	else if (res->rc == -ENOENT && r->remote.disowned)
		end_unrecorded(s, r);
	else if (res->rc == 0 && res->runs->status > STORE_RUNNING)
		end_remote(s, r, res->runs);
	else if (res->rc == 0 && r->remote.place == RUN_REMOTE)
		mirror_row(s, r, res->runs);
	else if (res->rc == 0 && r->remote.place == RUN_QUEUE &&
		 (res->runs->owner == STORE_OWNER_OTHER ||
		  res->runs->owner == STORE_OWNER_DEAD)) {
		/* R has left the queue, and the news is lost */
		remote_runs_claimed(s, r);
		r->remote.unheard = true;
	}
}

void remote_runs_look(struct runs *s, struct run *r)
{
	if (run_is_here(r) || r->remote.looked)
		return;
	r->remote.looked = true;
	r->remote.look_ms = clock_mono_ms();
	store_get_run(s->ctx->store, r->requestor->name, r->id, on_row,
		      runs_refer(s, r));
}

static void on_unheard(void *arg, const struct store_result *res)
{
	struct runs *s = arg;

	for (size_t i = 0; i < res->n_runs; i++) {
		struct run *r = runs_by_id(s, res->runs[i].id);

		if (r == NULL || run_terminal(r))
			continue;
		r->remote.unheard |= r->remote.place == RUN_REMOTE;
		remote_runs_look(s, r);
	}
}

static void ask_unheard(struct runs *s, struct buf *ids)
{
	char *lines;

	if (buf_len(ids) == 0)
		return;
	buf_add(ids, "", 1);
	lines = buf_take(ids, NULL);
	store_find_unheard(s->ctx->store, lines, on_unheard, s);
	free(lines);
}

void remote_runs_seek(struct runs *s)
{
	struct run *r, *after;
	struct buf ids = {0};

	HASH_ITER(hh, s->by_id, r, after) {
		/* is R's row read in any case, or not at all? */
		if (run_is_here(r) || !run_is_durable(r) || r->remote.visited ||
		    r->remote.unheard || run_terminal(r))
			continue;
		buf_printf(&ids, "%s%s", buf_len(&ids) > 0 ? "\n" : "", r->id);
		if (buf_len(&ids) > SEEK_BYTES)
			ask_unheard(s, &ids);
	}
	ask_unheard(s, &ids);
}

static bool is_visited(const struct run *r, int64_t now)
{
	return r->remote.visited && now < r->remote.visit_ms + VISITED_MS;
}

/* Is R's row to be read in this turn? */
static bool remote_is_due(const struct run *r, int64_t now)
{
	int64_t every = is_visited(r, now) ? LOOK_VISITED_MS : LOOK_MS;

	return (!TAILQ_EMPTY(&r->watches) || r->remote.unheard) &&
	       now >= r->remote.look_ms + every - LOOK_VISITED_MS / 2;
}

/* Read rows soon, and never later than was due: often renewed, reads would starve. */
static void look_later(struct runs *s, bool visited)
{
	int64_t ms = visited ? LOOK_VISITED_MS : LOOK_MS, now = clock_mono_ms();

	if (evtimer_pending(s->cluster->remote.look, NULL) &&
	    s->cluster->remote.look_ms <= now + ms)
		return;
	s->cluster->remote.look_ms = now + ms;
	evtimer_add(s->cluster->remote.look, CLOCK_TIMEVAL(ms));
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct runs *s = arg;
	struct run *r, *after,
	    *last = TAILQ_LAST(&s->cluster->remote.all, remote_runs);
	int64_t now = clock_mono_ms();
	bool visited = false;
	int n = 0;

	(void)fd, (void)what;
	for (r = TAILQ_FIRST(&s->cluster->remote.all);
	     r != NULL && n < LOOKS_MAX; r = after) {
		after = r == last ? NULL : TAILQ_NEXT(r, remote.link);
		if (r->remote.visited && TAILQ_EMPTY(&r->watches) &&
		    LIST_EMPTY(&r->remote.proxied)) {
			stop_following(s, r);
			runs_forget(s, r);
			continue;
		}
		visited |= is_visited(r, now);
		TAILQ_REMOVE(&s->cluster->remote.all, r, remote.link);
		TAILQ_INSERT_TAIL(&s->cluster->remote.all, r, remote.link);
		if (!remote_is_due(r, now))
			continue;
		remote_runs_look(s, r);
		n++;
	}
	if (!TAILQ_EMPTY(&s->cluster->remote.all))
		look_later(s, visited || r != NULL);
}

static void add_remote(struct runs *s, struct run *r)
{
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	runs_retry_forget(s, r);
	runs_leave_resident(s, r);
	r->remote.place = RUN_REMOTE;
	TAILQ_INSERT_TAIL(&s->cluster->remote.all, r, remote.link);
	s->cluster->remote.n++;
	look_later(s, false);
}

struct run *remote_runs_visit(struct runs *s, struct requestor *requestor,
			      struct template *t, const struct store_run *row)
{
	struct run *r = runs_by_id(s, row->id);

	if (r != NULL && (r->remote.place != RUN_REMOTE || run_terminal(r)))
		return NULL;
	if (r == NULL) {
		r = run_new(requestor, t);
		memcpy(r->id, row->id, sizeof(r->id));
		r->created_ms = row->created_ms;
		r->started_ms = row->started_ms; /* its server logs the start */
		run_record_row(r, ROW_COMMITTED);
		r->remote.visited = true;
		HASH_ADD_STR(s->by_id, id, r);
		add_remote(s, r);
		if (row->status == STORE_RUNNING)
			run_mirror(r, RUN_RUNNING);
	}
	r->remote.visit_ms = clock_mono_ms();
	look_later(s, true);
	ask_owner(s, r, STORE_MAIL_WATCH, row->shown_until_ms);
	return r;
}

void remote_runs_follow(struct runs *s, struct run *r)
{
	run_clear_error(r); /* R's row has an error of its own */
	r->remote.unheard = true;
	if (r->remote.place != RUN_REMOTE)
		add_remote(s, r);
}

void remote_runs_disowned(struct runs *s, struct run *r)
{
	assert(run_terminal(r) && r->job.worker == NULL);
	log_info("run", "run=%s requestor=%s state=%s recorded=elsewhere",
		 r->id, r->requestor->name, run_state_name(r->state));
	r->output.is_reply = false;
	free(r->view);
	r->view = NULL;
	r->remote.disowned = true;
	remote_runs_follow(s, r);
	run_mirror(r, RUN_RUNNING); /* until the row's end is known */
	remote_runs_look(s, r);
}

void remote_runs_claimed(struct runs *s, struct run *r)
{
	if (r->remote.place != RUN_QUEUE)
		return;
	log_info("runs", "run=%s requestor=%s claimed=elsewhere", r->id,
		 r->requestor->name);
	add_remote(s, r);
	r->attempts.here = false;
	become_state(r, RUN_RUNNING);
}

void remote_runs_end_visit(struct runs *s, struct run *r)
{
	proxied_request_shown(r, NULL);
	stop_following(s, r);
	runs_forget(s, r);
}

void remote_runs_take_back(struct runs *s, struct run *r,
			   const struct store_run *row)
{
	if (r->remote.place == RUN_REMOTE)
		stop_following(s, r);
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	runs_retry_forget(s, r);
	/* the server that had claimed R is dead, with R's questions there */
	if (r->state != RUN_CANCELLING)
		run_mirror(r, RUN_QUEUED);
	r->remote.place = RUN_HERE;
	run_row_attempts(r, row);
	if (r->state == RUN_QUEUED)
		runs_revived(s, r);
	else
		runs_finish(s, r, EV_FAIL);
	if (!r->remote.cancel)
		return;
	r->remote.cancel = false; /* the request to cancel met no server */
	runs_cancel(s, r);
}

void remote_runs_message(struct runs *s, struct run *r,
			 const struct store_message *l)
{
	if (r == NULL && l->kind == STORE_MAIL_OVER)
		store_heard(s->ctx->store, l->run_id);
	if (r == NULL || run_terminal(r))
		return; /* the run's end, on its way to the store, deletes L */
	if (l->kind == STORE_MAIL_CLAIMED)
		remote_runs_claimed(s, r);
	else
		remote_runs_look(s, r);
}

size_t remote_runs_unwatched(const struct runs *s)
{
	const struct run *r;
	size_t n = 0;

	TAILQ_FOREACH(r, &s->cluster->remote.all, remote.link)
		n += TAILQ_EMPTY(&r->watches);
	return n;
}

/* ---- cancelling ---- */

static void on_asked(void *arg, const struct store_result *res)
{
	struct run_ref *ref = arg;
	struct runs *s = ref->runs;
	struct run *r = runs_referred(ref);

	if (r != NULL && res->rc == 0)
		remote_runs_look(s, r);
	else if (r != NULL) /* the client may ask again */
		r->remote.cancel = false;
}

int remote_runs_cancel(struct runs *s, struct run *r)
{
	log_info("run", "run=%s requestor=%s cancel=asked", r->id,
		 r->requestor->name);
	audit_run("run_cancel_asked", r);
	r->remote.cancel = true;
	store_send_mail(s->ctx->store, r->requestor->name, r->id,
			STORE_MAIL_CANCEL, INT64_MAX, on_asked,
			runs_refer(s, r));
	return 0;
}

void remote_runs_init(struct runs *s)
{
	TAILQ_INIT(&s->cluster->remote.all);
	s->cluster->remote.look = evtimer_new(s->ctx->base, on_look, s);
}

void remote_runs_fini(struct runs *s)
{
	event_free(s->cluster->remote.look);
}
