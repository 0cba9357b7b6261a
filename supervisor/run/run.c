/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - a run's states and the table of events. A run of this server changes
 * by run_apply() alone, which exec/ calls; a remote run by run_mirror() alone,
 * which cluster/ calls. An event that the state refuses is -EPROTO with a line
 * in the log, and changes nothing. The module also tells a run's watchers and
 * waiters.
 */
#include "supervisor/run/run.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/egress/egress_record.h"
#include "supervisor/run/lost_artifacts.h"

/*
 * The next state by state and event; an empty cell (RUN_NONE, 0) refuses the
 * event. After a wish to cancel, every end is CANCELED.
 */
static const enum run_state next[RUN_STATES][RUN_EVENTS] = {
    [RUN_QUEUED] = {[EV_START] = RUN_RUNNING,
		    [EV_FAIL] = RUN_FAILED,
		    [EV_CANCEL] = RUN_CANCELED},
    [RUN_RUNNING] = {[EV_ASK] = RUN_AWAITING_INPUT,
		     [EV_SUCCEED] = RUN_SUCCEEDED,
		     [EV_PARTIAL] = RUN_PARTIAL_SUCCESS,
		     [EV_FAIL] = RUN_FAILED,
		     [EV_CANCEL] = RUN_CANCELLING,
		     [EV_RETRY] = RUN_QUEUED},
    [RUN_AWAITING_INPUT] = {[EV_ANSWER] = RUN_RUNNING,
			    [EV_FAIL] = RUN_FAILED,
			    [EV_CANCEL] = RUN_CANCELLING,
			    [EV_RETRY] = RUN_QUEUED},
    [RUN_CANCELLING] = {[EV_SUCCEED] = RUN_CANCELED,
			[EV_PARTIAL] = RUN_CANCELED,
			[EV_FAIL] = RUN_CANCELED},
};

static const struct {
	const char *name;
	const char *status;
	enum store_status stored;
} states[RUN_STATES] = {
    [RUN_NONE] = {"none", "none", STORE_FAILED},
    [RUN_QUEUED] = {"queued", "queued", STORE_QUEUED},
    [RUN_RUNNING] = {"running", "running", STORE_RUNNING},
    [RUN_AWAITING_INPUT] = {"awaiting_input", "running", STORE_RUNNING},
    [RUN_CANCELLING] = {"cancelling", "running", STORE_RUNNING},
    [RUN_SUCCEEDED] = {"succeeded", "succeeded", STORE_SUCCEEDED},
    [RUN_PARTIAL_SUCCESS] = {"partial_success", "partial_success",
			     STORE_PARTIAL_SUCCESS},
    [RUN_FAILED] = {"failed", "failed", STORE_FAILED},
    [RUN_CANCELED] = {"canceled", "canceled", STORE_CANCELED},
};

static const char *const events[RUN_EVENTS] = {
    [EV_START] = "start",     [EV_ASK] = "ask",		[EV_ANSWER] = "answer",
    [EV_SUCCEED] = "succeed", [EV_PARTIAL] = "partial", [EV_FAIL] = "fail",
    [EV_CANCEL] = "cancel",   [EV_RETRY] = "retry",
};

enum run_state run_next(enum run_state state, enum run_event ev)
{
	return next[state][ev];
}

/* The next state of a run's row, and of the end in the row; 0 as above. */
static const enum record_row next_row[ROW_STATES][ROW_EVENTS] = {
    [ROW_NONE] = {[ROW_COMMITTED] = ROW_DURABLE,
		  [ROW_REFUSED] = ROW_NONE,
		  [ROW_UNANSWERED] = ROW_UNSURE},
    [ROW_UNSURE] = {[ROW_COMMITTED] = ROW_DURABLE,
		    [ROW_REFUSED] = ROW_UNSURE,
		    [ROW_UNANSWERED] = ROW_UNSURE},
    [ROW_DURABLE] = {[ROW_COMMITTED] = ROW_DURABLE,
		     [ROW_REFUSED] = ROW_DURABLE,
		     [ROW_UNANSWERED] = ROW_DURABLE},
};

static const struct {
	enum record_end to;
	bool is; /* END_NONE is a state, too */
} next_end[END_STATES][END_EVENTS] = {
    [END_NONE] = {[END_ASK] = {END_ASKED, true}},
    [END_ASKED] = {[END_WRITTEN] = {END_RECORDED, true},
		   [END_FAILED] = {END_LOST, true},
		   [END_DISOWNED] = {END_NONE, true},
		   [END_CORRECT] = {END_ASKED_CORRECTING, true}},
    [END_ASKED_CORRECTING] = {[END_WRITTEN] = {END_RECORDED_CORRECTING, true},
			      [END_FAILED] = {END_LOST_CORRECTING, true},
			      [END_DISOWNED] = {END_NONE, true},
			      [END_CORRECTED] = {END_ASKED, true}},
    [END_RECORDED] = {[END_CORRECT] = {END_RECORDED_CORRECTING, true}},
    [END_RECORDED_CORRECTING] = {[END_CORRECTED] = {END_RECORDED, true}},
    [END_LOST_CORRECTING] = {[END_CORRECTED] = {END_LOST, true}},
};

void run_record_row(struct run *r, enum record_row_event ev)
{
	r->record.row = next_row[r->record.row][ev];
}

bool run_record_end(struct run *r, enum record_end_event ev)
{
	if (!next_end[r->record.end][ev].is)
		return false;
	r->record.end = next_end[r->record.end][ev].to;
	return true;
}

/* Change the state of R, and the times that belong to the state. */
static void set_state(struct run *r, enum run_state to)
{
	r->state = to;
	r->updated_ms = clock_wall_ms();
	if (to == RUN_RUNNING && r->started_ms == 0) {
		r->started_ms = r->updated_ms;
		r->started_mono_ms = clock_mono_ms();
	}
	r->finished_ms = run_terminal(r) ? r->updated_ms : 0;
	r->finished_mono_ms = run_terminal(r) ? clock_mono_ms() : 0;
}

int run_apply(struct run *r, enum run_event ev)
{
	enum run_state to = run_next(r->state, ev);
	bool first = to == RUN_RUNNING && r->started_ms == 0;

	assert(r->remote.place != RUN_REMOTE);
	if (to == RUN_NONE) {
		log_warn("run", "run=%s requestor=%s state=%s refused=%s",
			 r->id, r->requestor->name, run_state_name(r->state),
			 run_event_name(ev));
		return -EPROTO;
	}
	set_state(r, to);
	if (ev == EV_START) {
		r->attempts.started_ms = r->updated_ms;
		r->attempts.here = true;
	}
	if (first)
		log_info("run",
			 "run=%s template=%s version=%s requestor=%s "
			 "started=yes waited_ms=%lld",
			 r->id, r->template->id, r->template->version_text,
			 r->requestor->name,
			 (long long)(r->started_mono_ms - r->created_mono_ms));
	log_debug("run", "run=%s event=%s state=%s", r->id, run_event_name(ev),
		  run_state_name(to));
	return 0;
}

void run_mirror(struct run *r, enum run_state state)
{
	assert(!run_is_here(r));
	set_state(r, state);
	log_debug("run", "run=%s state=%s at=another", r->id,
		  run_state_name(state));
}

void run_set_error(struct run *r, const char *code, struct json_object *details,
		   const char *fmt, ...)
{
	va_list ap;

	if (r->error.code != NULL) {
		json_object_put(details);
		return;
	}
	va_start(ap, fmt);
	r->error.message = xvasprintf(fmt, ap);
	va_end(ap);
	r->error.code = xstrdup(code);
	r->error.details = details;
}

void run_clear_error(struct run *r)
{
	free(r->error.code);
	free(r->error.message);
	json_object_put(r->error.details);
	r->error = (struct run_error){0};
}

void run_clear_task(struct run *r)
{
	json_object_put(r->task.capabilities);
	r->task =
	    (struct run_task){.feed = r->task.feed, .known = r->task.known};
}

const char *run_status(const struct run *r)
{
	return states[r->state].status;
}

enum store_status run_stored_status(const struct run *r)
{
	return states[r->state].stored;
}

const char *run_state_name(enum run_state state)
{
	return states[state].name;
}

const char *run_event_name(enum run_event ev)
{
	return events[ev];
}

struct run *run_new(struct requestor *requestor, struct template *template)
{
	struct run *r = xcalloc(1, sizeof(*r));

	id_new(r->id, "run");
	r->state = RUN_QUEUED;
	r->requestor = requestor;
	r->template = template_ref(template);
	r->created_ms = r->updated_ms = clock_wall_ms();
	r->created_mono_ms = clock_mono_ms();
	TAILQ_INIT(&r->watches);
	TAILQ_INIT(&r->waiters);
	TAILQ_INIT(&r->family.children);
	return r;
}

void run_artifacts_drop(struct run *r)
{
	for (size_t i = 0; i < r->n_artifacts; i++) {
		free(r->artifacts[i].name);
		free(r->artifacts[i].mime_type);
	}
	free(r->artifacts);
	r->artifacts = NULL;
	r->n_artifacts = 0;
}

void run_free(struct run *r)
{
	if (r == NULL)
		return;
	assert(r->job.worker == NULL && r->job.checked == NULL &&
	       r->job.reading == NULL && TAILQ_EMPTY(&r->watches) &&
	       TAILQ_EMPTY(&r->waiters));
	run_family_fini(r);
	template_unref(r->template);
	free(r->session_id);
	free(r->inputs);
	free(r->kept.text);
	free(r->kept.lack);
	run_files_free(r->files);
	free(r->job.held);
	free(r->notebook.name);
	free(r->notebook.lost);
	free(r->notebook.why);
	free(r->idem.key);
	free(r->idem.digest);
	run_steps_fini(&r->steps);
	free(r->progress.message);
	run_artifacts_drop(r);
	lost_artifacts_free(r->lost_artifacts);
	json_object_put(r->lacked);
	egress_record_free(r->network);
	if (r->log.text != NULL)
		buf_fini(r->log.text);
	buf_fini(&r->log.end);
	free(r->log.text);
	json_object_put(r->task.capabilities);
	json_object_put(r->attempts.ended);
	json_object_put(r->output.value);
	json_object_put(r->remote.heard);
	json_object_put(r->remote.answered);
	json_object_put(r->remote.lack);
	free(r->output.text);
	free(r->error.code);
	free(r->error.message);
	json_object_put(r->error.details);
	free(r->view);
	free(r);
}

bool run_is_unwanted(const struct run *r)
{
	return !r->task.told && !r->job.has_handle &&
	       TAILQ_EMPTY(&r->waiters) && !r->job.parked.is &&
	       r->remote.n_waiting == 0 && !r->remote.visited;
}

int64_t run_left_ms(const struct run *r)
{
	int64_t now = clock_mono_ms();
	int64_t rested = r->job.parked.rested_ms;

	if (r->job.parked.stopped)
		rested += now - r->job.parked.since_ms;
	return r->started_mono_ms + r->limits.timeout_ms + rested - now;
}

void run_watch_add(struct run *r, struct run_watch *w)
{
	w->run = r;
	TAILQ_INSERT_TAIL(&r->watches, w, link);
}

/*
 * A loop over watchers in run_tell(). A watcher may remove itself and other
 * watchers: run_watch_del() moves NEXT on.
 */
struct run_telling {
	struct run_watch *next;
	struct run_telling *outer;
};

void run_watch_del(struct run_watch *w)
{
	for (struct run_telling *t = w->run->telling; t != NULL; t = t->outer)
		if (t->next == w)
			t->next = TAILQ_NEXT(w, link);
	TAILQ_REMOVE(&w->run->watches, w, link);
}

void run_tell(struct run *r, const struct run_notice *n)
{
	struct run_telling t = {TAILQ_FIRST(&r->watches), r->telling};
	struct run_watch *w;

	r->telling = &t;
	while ((w = t.next) != NULL) {
		t.next = TAILQ_NEXT(w, link);
		w->on_notice(w, r, n);
	}
	r->telling = t.outer;
}

void run_tell_waiter(struct run *r, enum run_waiter_event ev,
		     struct request *who)
{
	if (r->on_waiter != NULL)
		r->on_waiter(r, ev, who);
}

void run_waiter_add(struct run *r, struct run_waiter *w)
{
	w->run = r;
	r->task.known = true; /* the waiter knows the run's id */
	TAILQ_INSERT_TAIL(&r->waiters, w, link);
	run_tell_waiter(r, WAITER_CAME, w->request);
}

void run_waiter_del(struct run_waiter *w)
{
	struct run *r = w->run;

	if (r == NULL)
		return;
	w->run = NULL;
	TAILQ_REMOVE(&r->waiters, w, link);
	run_tell_waiter(r, WAITER_LEFT, w->request);
}
