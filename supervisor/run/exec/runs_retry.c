/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_retry.c - queues a run again after its worker crashed or its server
 * ended, if the manifest says so, and records each earlier end as an attempt.
 * runs_output.c asks when a worker is gone, and runs_recover.c for a run of a
 * dead instance. A run that cannot be tried again fails as any other run.
 */
#include "supervisor/run/exec/runs_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/lost_artifacts.h"
#include "supervisor/run/record/run_row.h"

#define PAUSE_MAX_MS 60000 /* the manifest's pause doubles with each attempt */

static const struct {
	const char *code;
	enum template_retry_on cause;
} causes[] = {
    {"WORKER_CRASHED", RETRY_CRASHED},
    {"RUN_INTERRUPTED", RETRY_INTERRUPTED},
};

static unsigned cause_of(const struct run *r)
{
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (strcmp(causes[i].code, r->error.code) == 0)
			return causes[i].cause;
	return 0;
}

static int64_t pause_ms(const struct run *r)
{
	int64_t ms = r->template->retry.backoff_ms;

	for (size_t i = 1; i < run_attempts(r) && ms < PAUSE_MAX_MS; i++)
		ms *= 2;
	return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

/* ---- the pause before an attempt ---- */

static void on_due(evutil_socket_t fd, short what, void *arg)
{
	struct run *r = arg;
	struct runs *s = r->attempts.runs;

	(void)fd, (void)what;
	runs_retry_forget(s, r);
	runs_enqueue(s, r);
	runs_pump(s);
}

void runs_retry_forget(struct runs *s, struct run *r)
{
	if (r->attempts.runs == NULL)
		return;
	r->attempts.runs = NULL;
	if (r->job.queued.lane != NULL)
		sched_remove(&s->sched, &r->job.queued);
	if (r->attempts.due != NULL)
		event_free(r->attempts.due);
	r->attempts.due = NULL;
}

bool runs_retry_rests(const struct run *r)
{
	return r->attempts.due != NULL;
}

/* The runs of a removed requestor go on, and are not tried again. */
void runs_reloaded(struct runs *s)
{
	struct run *r, *after;

	HASH_ITER(hh, s->by_id, r, after) {
		struct json_object *last;

		if (!runs_retry_rests(r) || !requestor_gone(r->requestor))
			continue;
		last = json_object_array_get_idx(r->attempts.ended,
						 run_attempts(r) - 1);
		runs_retry_forget(s, r);
		run_set_error(r, json_member_str(last, "errorCode"),
			      json_object_get(json_member(last, "details")),
			      "%s; it is not tried again, since its requestor "
			      "is not served any more",
			      json_member_str(last, "message"));
		runs_finish(s, r, EV_FAIL);
	}
	if (s->ctx->cluster != NULL)
		s->ctx->cluster->serve(s);
	runs_pump(s); /* limits may be wider */
}

/* ---- the ended attempt ---- */

static void keep_attempt(struct run *r)
{
	bool is_known = r->use.max_rss_bytes != 0; /* reaped here */

	if (r->attempts.ended == NULL)
		r->attempts.ended = json_object_new_array();
	json_object_array_add(
	    r->attempts.ended,
	    json_pack("attempt:i startedAt?i endedAt:i errorCode:s message:s "
		      "details?O cpuMs?i maxRssBytes?i",
		      run_attempts(r) + 1, r->attempts.started_ms,
		      clock_wall_ms(), r->error.code, r->error.message,
		      r->error.details, is_known ? r->use.cpu_ms : 0,
		      r->use.max_rss_bytes));
	r->attempts.cpu_ms += r->use.cpu_ms;
	r->attempts.started_ms = 0;
}

/* Drop everything of the ended attempt before the next attempt. */
static void start_over(struct runs *s, struct run *r)
{
	run_steps_fini(&r->steps);
	r->progress.told = false;
	r->progress.done = r->progress.total = 0;
	free(r->progress.message);
	r->progress.message = xasprintf(
	    "attempt %zu of %u ended (%s), and it is tried "
	    "again",
	    run_attempts(r), r->template->retry.attempts, r->error.code);
	runs_start_family_over(s, r);
	run_artifacts_drop(r);
	r->artifact_bytes = 0;
	if (r->made_artifacts)
		store_expire_artifacts(s->ctx->store, r->id, clock_wall_ms());
	lost_artifacts_free(r->lost_artifacts);
	r->lost_artifacts = NULL;
	memset(r->hit, 0, sizeof(r->hit));
	runs_drop_result(s, r);
	r->output.is_reply = false;
	r->use = (struct run_use){0};
	r->job.starts = 0;
	run_clear_error(r);
}

/* May R be tried again? A server that ends leaves R to the next, which needs R's inputs. */
static bool is_retry_wanted(const struct runs *s, const struct run *r)
{
	unsigned cause = r->error.code != NULL ? cause_of(r) : 0;

	if (s->leaving || requestor_gone(r->requestor) ||
	    (r->family.parent != NULL && (s->ctx->draining || s->ctx->quiet)) ||
	    (r->template->retry.on & cause) == 0 || !run_may_retry(r) ||
	    run_next(r->state, EV_RETRY) == RUN_NONE || r->inputs == NULL)
		return false;
	if (cause == RETRY_INTERRUPTED)
		return s->ctx->others && run_may_resume(r);
	return run_left_ms(r) > pause_ms(r);
}

void runs_try_again(struct runs *s, struct run *r)
{
	bool here = !s->ctx->draining && !s->ctx->quiet;
	char ts[CLOCK_ISO_SIZE];

	keep_attempt(r);
	log_info("run",
		 "run=%s template=%s requestor=%s attempt=%zu/%u code=%s "
		 "again=yes",
		 r->id, r->template->id, r->requestor->name, run_attempts(r),
		 r->template->retry.attempts, r->error.code);
	audit_attempt(r);
	if (r->log.text != NULL) {
		clock_iso(ts, clock_wall_ms());
		buf_printf(r->log.text,
			   "%s notice attempt %zu of %u ended: %s\n", ts,
			   run_attempts(r), r->template->retry.attempts,
			   r->error.message);
	}
	start_over(s, r);
	if (!here && s->ctx->cluster != NULL)
		s->ctx->cluster->leave(s, r);
	run_row_put(s->ctx->store, r,
		    run_is_durable(r) ? STORE_RETRY : STORE_SYNC, NULL, NULL);
	/* out of the queue until the next attempt is due, or for the next server;
	   R counts as waiting: else the number of such runs had no bound */
	r->attempts.runs = s;
	runs_enqueue_aside(s, r);
	if (!here)
		return;
	r->attempts.due = evtimer_new(s->ctx->base, on_due, r);
	evtimer_add(r->attempts.due, CLOCK_TIMEVAL(pause_ms(r)));
}

bool runs_retry(struct runs *s, struct run *r)
{
	if (!is_retry_wanted(s, r))
		return false;
	run_apply(r, EV_RETRY);
	runs_try_again(s, r);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
	return true;
}
