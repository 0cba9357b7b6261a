/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission.c - decides whether a requestor may make one more run now, by
 * queue, quotas, disk and store. runs_create.c asks before each run; other
 * modules ask for shares and CPU time. A refusal has a code, figures of the
 * requestor's own, who can raise the limit, and when to try again.
 */
#include "supervisor/requestor/admission.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/fair_share.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/store/store.h"
#include "proto/json/json_pack.h"

#define QUEUED_BYTES_MAX (256ll << 20) /* inputs of waiting runs, in memory */
#define BYTES_RETRY_MS 60000 /* the sweep of artifacts runs this often */

struct json_object *admission_details(const char *limit, int64_t used,
				      int64_t allowed, const char *unit,
				      const char *who_can_raise,
				      int64_t retry_after_ms)
{
	struct json_object *d =
	    tool_error_limit(limit, used, allowed, unit, who_can_raise);

	json_add(d, "retryAfterMs:i", retry_after_ms);
	return d;
}

/* Refuse with CODE, by the limit KEY of Q's own section. Always false. */
static bool refuse_own(struct tool_error *r, const char *code,
		       const struct requestor *q, const char *key, int64_t used,
		       int64_t allowed, const char *unit,
		       int64_t retry_after_ms, const char *what)
{
	char *who =
	    xasprintf("the operator: %s in [requestor \"%s\"]", key, q->name);

	tool_error_set(
	    r, code,
	    admission_details(key, used, allowed, unit, who, retry_after_ms),
	    "%s: %lld of %lld %s are used", what, (long long)used,
	    (long long)allowed, unit);
	free(who);
	return false;
}

bool admission_check_cpu(struct requestor *q, struct tool_error *r)
{
	int64_t allowed = q->section->cpu_seconds_per_hour;
	int64_t wait;

	if (allowed == 0)
		return true;
	wait = requestor_cpu_wait(q);
	return wait == 0 ||
	       refuse_own(r, "QUOTA_EXCEEDED", q, "cpu_seconds_per_hour",
			  requestor_cpu_ms(q) / 1000, allowed, "seconds", wait,
			  "your runs, and their checks, have had their CPU "
			  "time of an hour");
}

static bool refuse_store(struct requestor *q, const struct requestor_over *o,
			 struct tool_error *r)
{
	char *who = requestor_who(q, o);

	tool_error_set(r, "QUOTA_EXCEEDED",
		       admission_details(o->key, o->used, o->allowed, "bytes",
					 who, BYTES_RETRY_MS),
		       "what you have stored fills your share until some of it "
		       "expires: %lld of %lld bytes are used",
		       (long long)o->used, (long long)o->allowed);
	free(who);
	return false;
}

/* The refusal tells nothing of the machine but a nearly full disk. */
static bool refuse_disk(enum disk_space room, struct tool_error *r)
{
	tool_error_set(r, "STORE_UNAVAILABLE",
		       json_pack("limit:s whoCanRaise:s retryAfterMs:i",
				 "disk_reserve_bytes",
				 "the operator: free space where the state "
				 "is, or disk_reserve_bytes in [limits]",
				 BYTES_RETRY_MS),
		       "the server takes no such run now: %s",
		       disk_space_message(room));
	return false;
}

struct json_object *admission_store_details(void)
{
	return json_pack("retryAfterMs:i", ADMISSION_STORE_MS);
}

int64_t admission_share(int64_t most, int64_t theirs)
{
	return fair_share(most, theirs);
}

static int64_t queue_share(const struct admission *a, int64_t most,
			   int64_t theirs)
{
	return a->shared ? fair_share(most, theirs) : most - theirs;
}

/*
 * Refuse by QUEUE_FULL. The figures are Q's own and the configuration's, never
 * those of other requestors.
 */
static void refuse_wait(struct tool_error *r, const char *limit, int64_t mine,
			int64_t most, const char *unit, const char *who,
			const char *what)
{
	tool_error_set(
	    r, "QUEUE_FULL",
	    admission_details(limit, mine, most, unit, who, ADMISSION_RETRY_MS),
	    "%s: %lld %s of yours wait, and there are %lld for all", what,
	    (long long)mine, unit, (long long)most);
}

void admission_refuse_queued(struct requestor *q, struct tool_error *r)
{
	int64_t own = q->section->max_queued_runs;

	q->refused++;
	(void)refuse_own(r, "QUEUE_FULL", q, "max_queued_runs", own, own,
			 "runs", ADMISSION_RETRY_MS,
			 "as many of your runs wait as may");
}

static bool admit_wait(const struct admission *a, const struct requestor *q,
		       struct tool_error *r)
{
	const struct sched_lane *l = &q->lane;
	int64_t own = q->section->max_queued_runs;
	int64_t most = a->config->max_queued_runs;
	int64_t mine = (int64_t)(l->queued + l->elsewhere);
	int64_t all = (int64_t)(a->sched->queued + a->sched->elsewhere);
	int64_t runs = queue_share(a, most, all - mine);
	int64_t bytes = queue_share(a, QUEUED_BYTES_MAX,
				    a->sched->queued_bytes - l->queued_bytes);

	if (own > 0 && mine >= own)
		return refuse_own(r, "QUEUE_FULL", q, "max_queued_runs", mine,
				  own, "runs", ADMISSION_RETRY_MS,
				  "as many of your runs wait as may");
	if (mine >= runs)
		refuse_wait(r, "max_queued_runs", mine, most, "runs",
			    "the operator: max_queued_runs in [limits]",
			    "no more of your runs may wait now");
	else if (l->queued_bytes + (int64_t)a->bytes > bytes)
		refuse_wait(r, "queued_bytes", l->queued_bytes,
			    QUEUED_BYTES_MAX, "bytes", "nobody: it is fixed",
			    "no more inputs of your runs may wait now");
	return r->code == NULL;
}

bool admission_check_run(const struct admission *a, struct requestor *q,
			 struct tool_error *r)
{
	/* a run that starts at once needs no place in the queue; but while Q has a
	   run aside, starting and setting aside would fill memory without end */
	bool passes = a->starts && q->lane.aside == 0;
	bool ok = admission_check_cpu(q, r);
	enum disk_space room;
	struct requestor_over o;

	/* room for the row, which has the inputs; and whoever has no room for an
	   artifact makes no run either */
	if (ok && (requestor_is_over(q, STORE_ROW_BYTES + (int64_t)a->bytes,
				     false, &o) ||
		   requestor_is_over(q, 1, true, &o)))
		ok = refuse_store(q, &o, r);
	room = ok ? disk_space_lately(a->config) : DISK_SPACE_OK;
	if (room != DISK_SPACE_OK &&
	    (room != DISK_SPACE_LOW || a->bytes >= DISK_SPACE_LARGE_BYTES))
		ok = refuse_disk(room, r);
	ok = ok && (passes || admit_wait(a, q, r));
	if (!ok)
		q->refused++;
	return ok;
}
