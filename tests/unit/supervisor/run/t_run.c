/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_run.c - every pair of state and event, and the fields which a refused event leaves
 * unchanged.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/run/run.h"
#include "tests/unit/tap.h"

#define QUEUED RUN_QUEUED
#define RUNNING RUN_RUNNING
#define ASKING RUN_AWAITING_INPUT
#define CANCELLING RUN_CANCELLING

/* The whole table of transitions, written a second time. */
static const enum run_state want[RUN_STATES][RUN_EVENTS] = {
    /*		 START    ASK     ANSWER   SUCCEED        PARTIAL
		 FAIL          CANCEL       RETRY */
    [QUEUED] = {RUNNING, 0, 0, 0, 0, RUN_FAILED, RUN_CANCELED, 0},
    [RUNNING] = {0, ASKING, 0, RUN_SUCCEEDED, RUN_PARTIAL_SUCCESS, RUN_FAILED,
		 CANCELLING, QUEUED},
    [ASKING] = {0, 0, RUNNING, 0, 0, RUN_FAILED, CANCELLING, QUEUED},
    [CANCELLING] = {0, 0, 0, RUN_CANCELED, RUN_CANCELED, RUN_CANCELED, 0, 0},
    /* SUCCEEDED, PARTIAL_SUCCESS, FAILED, CANCELED: nothing at all */
};

static struct template *a_template(void)
{
	struct template *t = xcalloc(1, sizeof(*t));

	t->users = 1;
	t->id = xstrdup("t");
	t->version_text = xstrdup("1.0.0");
	return t;
}

static void test_table(struct requestor *q, struct template *t)
{
	for (int s = RUN_QUEUED; s < RUN_STATES; s++)
		for (int e = 0; e < RUN_EVENTS; e++) {
			struct run *r = run_new(q, t);
			enum run_state to = want[s][e];
			int rc;

			r->state = (enum run_state)s;
			rc = run_apply(r, (enum run_event)e);
			ok(to == RUN_NONE ? rc == -EPROTO && (int)r->state == s
					  : rc == 0 && r->state == to,
			   "%s, %s: %s", run_state_name((enum run_state)s),
			   run_event_name((enum run_event)e),
			   to == RUN_NONE ? "refused, nothing changed"
					  : run_state_name(to));
			run_free(r);
		}
}

/* The row of a remote run may say any state, and no start is logged. */
static void test_mirror(struct requestor *q, struct template *t)
{
	struct run *r = run_new(q, t);

	r->remote.place = RUN_REMOTE;
	for (int s = RUN_QUEUED; s < RUN_STATES; s++)
		for (int to = RUN_QUEUED; to < RUN_STATES; to++) {
			run_mirror(r, (enum run_state)s);
			run_mirror(r, (enum run_state)to);
			ok((int)r->state == to &&
			       (r->finished_ms > 0) == run_terminal(r),
			   "%s, and then %s at another server",
			   run_state_name((enum run_state)s),
			   run_state_name((enum run_state)to));
		}
	is_int(r->attempts.started_ms, 0, "no attempt has begun here");
	run_free(r);
}

static void test_terminal(struct requestor *q, struct template *t)
{
	for (int s = RUN_QUEUED; s < RUN_STATES; s++) {
		struct run *r = run_new(q, t);
		bool leaves = false;

		r->state = (enum run_state)s;
		for (int e = 0; e < RUN_EVENTS; e++)
			leaves =
			    leaves || run_next((enum run_state)s,
					       (enum run_event)e) != RUN_NONE;
		is_int(run_terminal(r), !leaves, "%s is terminal: %s",
		       run_state_name(r->state), leaves ? "no" : "yes");
		run_free(r);
	}
}

static void test_times(struct requestor *q, struct template *t)
{
	struct run *r = run_new(q, t);

	is_int(r->started_ms, 0, "a queued run has not started");
	run_apply(r, EV_START);
	ok(r->started_ms >= r->created_ms, "a run starts after the creation");
	is_int(r->finished_ms, 0, "a running one has not ended");
	r->started_ms = r->created_ms - 1; /* as if started long ago */
	run_apply(r, EV_ASK);
	run_apply(r, EV_ANSWER);
	is_int(r->started_ms, r->created_ms - 1, "an answer is no other start");
	run_apply(r, EV_SUCCEED);
	ok(r->finished_ms >= r->started_ms, "a run ends after the start");
	run_free(r);
}

static void test_errors(struct requestor *q, struct template *t)
{
	struct run *r = run_new(q, t);

	run_set_error(r, "RUN_TIMEOUT", json_object_new_object(), "after %d",
		      5);
	run_set_error(r, "WORKER_CRASHED", json_object_new_object(), "later");
	is_str(r->error.code, "RUN_TIMEOUT", "the first error stays");
	is_str(r->error.message, "after 5",
	       "the message of the first error stays");
	run_free(r);
}

static int told;

static void count_notice(struct run_watch *w, struct run *r,
			 const struct run_notice *n)
{
	(void)r, (void)n;
	told++;
	run_watch_del(w);
}

static void test_watches(struct requestor *q, struct template *t)
{
	struct run *r = run_new(q, t);
	struct run_watch a = {.on_notice = count_notice}, b = a;

	run_watch_add(r, &a);
	run_watch_add(r, &b);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
	is_int(told, 2, "every watch is told, though each removes itself");
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
	is_int(told, 2, "a watch that has gone is not told");
	run_free(r);
}

static struct run_watch watches[4];
static unsigned heard[4];

/* The first watch removes itself, the second also removes the last. */
static void on_first(struct run_watch *w, struct run *r,
		     const struct run_notice *n)
{
	(void)r, (void)n;
	heard[0]++;
	run_watch_del(w);
	run_watch_del(&watches[1]);
	run_watch_del(&watches[3]);
}

static void on_other(struct run_watch *w, struct run *r,
		     const struct run_notice *n)
{
	(void)r, (void)n;
	heard[w - watches]++;
}

static void test_telling(struct requestor *q, struct template *t)
{
	const struct run_notice n = {.kind = NOTICE_STATE};
	struct run *r = run_new(q, t);

	for (size_t i = 0; i < ARRAY_LEN(watches); i++) {
		watches[i].on_notice = i == 0 ? on_first : on_other;
		run_watch_add(r, &watches[i]);
	}
	run_tell(r, &n);
	ok(heard[0] == 1 && heard[2] == 1, "who watches a run is told");
	ok(heard[1] == 0 && heard[3] == 0,
	   "a watch removed during a notice is not told");
	run_tell(r, &n);
	ok(heard[0] == 1 && heard[2] == 2,
	   "a watch removed before a notice is not told");
	run_watch_del(&watches[2]);
	run_free(r);
}

/* The tables of a run's record, a second time. END_STATES: refused. */
static void test_record(struct requestor *q, struct template *t)
{
	static const enum record_row rows[ROW_STATES][ROW_EVENTS] = {
	    /* COMMITTED, REFUSED, UNANSWERED */
	    {ROW_DURABLE, ROW_NONE, ROW_UNSURE},
	    {ROW_DURABLE, ROW_UNSURE, ROW_UNSURE},
	    {ROW_DURABLE, ROW_DURABLE, ROW_DURABLE},
	};
	enum { NO = END_STATES };
	static const int ends[END_STATES][END_EVENTS] = {
	    /* ASK, WRITTEN, FAILED, DISOWNED, CORRECT, CORRECTED */
	    {END_ASKED, NO, NO, NO, NO, NO},
	    {NO, END_RECORDED, END_LOST, END_NONE, END_ASKED_CORRECTING, NO},
	    {NO, END_RECORDED_CORRECTING, END_LOST_CORRECTING, END_NONE, NO,
	     END_ASKED},
	    {NO, NO, NO, NO, END_RECORDED_CORRECTING, NO},
	    {NO, NO, NO, NO, NO, END_RECORDED},
	    {NO, NO, NO, NO, NO, NO},
	    {NO, NO, NO, NO, NO, END_LOST},
	};
	struct run *r = run_new(q, t);

	for (int s = 0; s < ROW_STATES; s++)
		for (int e = 0; e < ROW_EVENTS; e++) {
			r->record.row = (enum record_row)s;
			run_record_row(r, (enum record_row_event)e);
			is_int(r->record.row, rows[s][e],
			       "row %d of a run, and the answer %d", s, e);
		}
	for (int s = 0; s < END_STATES; s++)
		for (int e = 0; e < END_EVENTS; e++) {
			bool may;

			r->record.end = (enum record_end)s;
			may = run_record_end(r, (enum record_end_event)e);
			is_int(may ? (int)r->record.end : NO, ends[s][e],
			       "end %d of a run in its row, and event %d", s,
			       e);
			ok(may || (int)r->record.end == s,
			   "a refused event leaves the state of the row unchanged");
		}
	r->record.end = END_LOST_CORRECTING;
	ok(run_is_corrected(r) && !run_end_is_known(r),
	   "an end is not told while its row is being corrected");
	run_free(r);
}

int main(void)
{
	struct requestors all = {0};
	struct requestor *q = requestors_of_uid(&all, 7);
	struct template *t = a_template();

	log_set_level(LOG_LEVEL_ERROR);
	test_table(q, t);
	test_terminal(q, t);
	test_mirror(q, t);
	test_record(q, t);
	test_times(q, t);
	test_errors(q, t);
	test_watches(q, t);
	test_telling(q, t);
	template_unref(t);
	requestors_fini(&all);
	return tap_done();
}
