/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs_finish.c - ends a run: sets state, times and expiry, writes the row, and
 * tells the clients that wait. runs.c, runs_output.c and runs_queue.c call
 * runs_finish() once for a run. The store retries a failed write of the row,
 * and the end is told meanwhile; a result that does not fit on the disk fails
 * the run.
 */
#include "supervisor/run/exec/runs_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/packages/inputs/run_files.h"
#include "proto/json/json.h"
#include "supervisor/run/audit.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/run/run_log.h"
#include "supervisor/run/record/run_row.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/run/record/run_json.h"

void runs_forget(struct runs *s, struct run *r)
{
	runs_retry_forget(s, r);
	runs_leave_resident(s, r);
	HASH_DEL(s->by_id, r);
	run_tell(r, &(struct run_notice){.kind = NOTICE_RELEASED});
	runs_leave_family(s, r);
	if (r->output.text != NULL)
		runs_output_put(s, r);
	runs_files_over(s, r);
	run_free(r);
}

void runs_drop_result(struct runs *s, struct run *r)
{
	runs_output_put(s, r);
	free(r->output.text);
	r->output.text = NULL;
}

struct ended { /* the argument of on_ended() */
	struct runs *runs;
	char id[ID_SIZE];
	size_t bytes; /* of the run's view */
	bool retried;
};

/*
 * Has R a row? The first row, on its way to the store at R's end, was committed
 * since, or may have been: an existing row must get R's end, however long the
 * write takes.
 */
static bool has_row(const struct ended *e, const struct run *r, int rc)
{
	return rc != 0 && rc != -ECANCELED && r->record.row != ROW_NONE &&
	       !e->retried;
}

/*
 * Tell the watchers of R that the end is recorded, or the reason if not; R's
 * worker is gone.
 */
static void tell_recorded(struct runs *s, struct run *r)
{
	run_tell(r, &(struct run_notice){.kind = NOTICE_RECORDED,
					 .unrecorded = r->record.failed});
	runs_forget(s, r);
}

static void on_ended(void *arg, const struct store_result *res)
{
	struct ended *e = arg;
	struct run *r = runs_by_id(e->runs, e->id);

	if (r == NULL || !run_terminal(r)) {
		e->runs->unrecorded -= e->bytes;
		free(e);
		return;
	}
	if (res->rc == -EOWNERDEAD) { /* the new owner records the end */
		e->runs->unrecorded -= e->bytes;
		run_record_end(r, END_DISOWNED);
		runs_drop_result(e->runs, r);
		e->runs->ctx->cluster->disowned(e->runs, r);
		free(e);
		return;
	}
	if (has_row(e, r, res->rc)) {
		e->retried = true;
		run_row_put_again(e->runs->ctx->store, r, on_ended, e);
		return;
	}
	if (res->rc != 0) {
		log_error("runs",
			  "run=%s requestor=%s state=%s recorded=no err=\"%s\"",
			  r->id, r->requestor->name, run_state_name(r->state),
			  res->errmsg);
		r->record.failed = store_says(res->rc);
	}
	e->runs->unrecorded -= e->bytes;
	run_record_end(r, res->rc == 0 ? END_WRITTEN : END_FAILED);
	if (r->job.worker == NULL && run_end_is_known(r)) /* else later */
		tell_recorded(e->runs, r);
	if (e->bytes > 0 &&
	    e->runs->unrecorded + e->bytes > RUNS_UNRECORDED_MAX)
		runs_pump(e->runs);
	free(e);
}

/*
 * Set the expiry of R: by the time to live of runs, of R's artifacts and of R's
 * task.
 */
static void set_expiry(struct runs *s, struct run *r)
{
	int64_t artifact_ttl = s->ctx->config->artifact_ttl_ms;
	int64_t ttl = r->limits.ttl_ms;

	if (r->made_artifacts) {
		store_expire_artifacts(s->ctx->store, r->id,
				       r->finished_ms + artifact_ttl);
		if (ttl < artifact_ttl)
			ttl = artifact_ttl;
	}
	r->expires_ms = r->finished_ms + ttl;
	if (r->expires_ms < r->task.expires_ms)
		r->expires_ms = r->task.expires_ms;
}

/*
 * Return the event that ends R: while the disk is nearly full a large result is
 * not written, and only R's end is recorded.
 */
static enum run_event fitting_event(struct runs *s, struct run *r,
				    enum run_event ev)
{
	enum disk_space room = disk_space_lately(s->ctx->config);
	char ts[CLOCK_ISO_SIZE];
	size_t len = 0;

	if (room == DISK_SPACE_OK)
		return ev;
	if (r->log.text != NULL &&
	    buf_len(r->log.text) >= DISK_SPACE_LARGE_BYTES) {
		clock_iso(ts, clock_wall_ms());
		buf_drop(r->log.text, buf_len(r->log.text));
		buf_printf(r->log.text,
			   "%s notice this log was not kept: the disk of the "
			   "server is nearly full\n",
			   ts);
	}
	if (r->output.text != NULL)
		len = r->output.len;
	else if (r->output.value != NULL)
		json_text(r->output.value, &len);
	if (len < DISK_SPACE_LARGE_BYTES || r->error.code != NULL)
		return ev;
	run_set_error(r, "STORE_UNAVAILABLE", NULL,
		      "the template gave its result of %zu bytes, but this "
		      "server did not keep it: %s",
		      len, disk_space_message(room));
	runs_drop_result(s, r);
	r->output.is_reply = false;
	return EV_FAIL;
}

static void log_and_audit(const struct runs *s, const struct run *r)
{
	log_info("run",
		 "run=%s template=%s requestor=%s status=%s code=%s ms=%lld "
		 "cpu_ms=%lld rss=%lld trace=%s",
		 r->id, r->template->id, r->requestor->name, run_status(r),
		 r->error.code != NULL ? r->error.code : "-",
		 (long long)(r->finished_mono_ms - r->created_mono_ms),
		 (long long)r->use.cpu_ms, (long long)r->use.max_rss_bytes,
		 r->trace[0] != '\0' ? r->trace : "-");
	audit_end(r, s->ctx->isolation);
	if (r->task.form != STORE_TASK_NONE)
		audit_task("task_ended", r->requestor, r->id,
			   task_json_status_name(task_json_status(r)));
}

void runs_finish(struct runs *s, struct run *r, enum run_event ev)
{
	struct ended *e = xcalloc(1, sizeof(*e));
	int rc = run_apply(r, fitting_event(s, r, ev));

	assert(rc == 0);
	(void)rc;
	/* before clients leave, and others are asked */
	run_tell(r, &(struct run_notice){.kind = NOTICE_ENDED});
	if (r->task.pending) /* no client was told that R is a task */
		run_clear_task(r);
	if (r->state == RUN_CANCELED) {
		run_clear_error(r);
		run_set_error(r, "RUN_CANCELED", NULL, "the run was cancelled");
	}
	if (r->error.code != NULL) /* else the outcome closed the steps */
		run_steps_close(&r->steps, r->error.code, r->error.message);
	run_log_close(r);
	run_log_tell(r);
	free(r->inputs);
	r->inputs = NULL;
	runs_files_over(s, r);
	run_files_free(r->files);
	r->files = NULL;
	set_expiry(s, r);
	if (r->error.code == NULL)
		usual_add(&r->requestor->usual, r->template->id,
			  r->finished_mono_ms - r->created_mono_ms);
	runs_leave_resident(s, r);
	r->view = run_json_text(r, s->ctx->isolation);
	if (r->job.worker == NULL)
		log_and_audit(s, r);
	*e = (struct ended){
	    .runs = s, .bytes = strlen(r->view), .retried = run_is_durable(r)};
	memcpy(e->id, r->id, sizeof(e->id));
	s->unrecorded += e->bytes;
	run_record_end(r, END_ASK);
	run_row_put(s->ctx->store, r,
		    run_is_durable(r) ? STORE_RETRY : STORE_SYNC, on_ended, e);
}

/*
 * The correction is written; after a failure the row keeps the worker's own
 * figures.
 */
static void on_corrected(void *arg, const struct store_result *res)
{
	struct run_ref *ref = arg;
	struct runs *s = ref->runs;
	struct run *r = runs_referred(ref);

	(void)res;
	if (r == NULL)
		return;
	run_record_end(r, END_CORRECTED);
	if (run_end_is_known(r))
		tell_recorded(s, r);
}

void runs_finish_gone(struct runs *s, struct run *r, const struct run_use *used)
{
	/* the row has the worker's own figures of use, and no client is told of
	   the end before the kernel's figures are there */
	if (memcmp(&r->use, used, sizeof(*used)) != 0) {
		r->use = *used;
		free(r->view);
		r->view = run_json_text(r, s->ctx->isolation);
		if (run_record_end(r, END_CORRECT)) /* else the end is lost */
			run_row_correct(s->ctx->store, r, on_corrected,
					runs_refer(s, r));
	}
	log_and_audit(s, r);
	if (run_end_is_known(r))
		tell_recorded(s, r);
}
