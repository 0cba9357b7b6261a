/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor_use.c - counts a requestor's use: calls by the second, CPU time by
 * the hour, steps of checks, stored bytes, and questions asked too often. Runs,
 * sessions and uploads charge the requestor, admission.c asks. Counters cannot
 * fail. A counter that is not zero at the very end, when server_fini() asks, was
 * taken and never given back: the log has a line, and the tests expect none.
 */
#include "supervisor/requestor/requestor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/config/config_keys.h"
#include "supervisor/store/store.h"

/* ---- calls ---- */

/*
 * Return the calls a second allowed at this instance, and *BURST at once (0: as
 * many).
 */
static int64_t rate_of(const struct requestor *q, int64_t *burst)
{
	const struct config_requestor *c = q->section;
	int64_t all = c->rate_per_second * QUOTA_CALL, rate = all;

	*burst = c->burst * QUOTA_CALL;
	if (!q->share.is_part || all == 0)
		return all;
	if (q->share.rate < rate)
		rate = q->share.rate > 0 ? q->share.rate : 1;
	*burst = (*burst > 0 ? *burst : all) / QUOTA_CALL * rate /
		 c->rate_per_second;
	if (*burst < QUOTA_CALL) /* else there would never be a whole call */
		*burst = QUOTA_CALL;
	return rate;
}

/* Take a call from the bucket B, at TIMES the rate of requests. */
static bool take_quota(struct requestor *q, struct quota_rate *b, int64_t times,
		       int64_t *retry_after_ms)
{
	int64_t burst, rate = rate_of(q, &burst), now;

	if (rate == 0 && !q->share.is_part)
		return true;
	q->share.used_ms = now = clock_mono_ms();
	if (rate == 0 ||
	    quota_take(b, times * rate, times * burst, now, retry_after_ms))
		return true;
	q->rate_limited++;
	return false;
}

bool requestor_take(struct requestor *q, int64_t *retry_after_ms)
{
	q->share.calls++;
	return take_quota(q, &q->rate, 1, retry_after_ms);
}

/*
 * Messages that ask for nothing get a higher limit: a refused cancel or DELETE
 * harms, and no client needs more than this limit.
 */
#define OTHERS 10 /* other messages for each request */

bool requestor_take_other(struct requestor *q, int64_t *retry_after_ms)
{
	return take_quota(q, &q->other_rate, OTHERS, retry_after_ms);
}

int64_t requestor_owe_other(struct requestor *q)
{
	int64_t burst, rate = rate_of(q, &burst), wait_ms;

	if (rate == 0)
		return 0;
	wait_ms = quota_owe(&q->other_rate, OTHERS * rate, OTHERS * burst,
			    clock_mono_ms());
	if (wait_ms > 0)
		q->rate_limited++;
	return wait_ms;
}

/* ---- CPU time ---- */

int64_t requestor_cpu_ms(struct requestor *q)
{
	return quota_used(&q->cpu, clock_mono_ms()) + q->share.cpu_ms;
}

int64_t requestor_cpu_wait(struct requestor *q)
{
	int64_t allowed = q->section->cpu_seconds_per_hour * 1000;

	if (allowed == 0 || requestor_cpu_ms(q) < allowed)
		return 0;
	/* other instances used it up: ask again in a minute */
	if (q->share.cpu_ms >= allowed)
		return QUOTA_MINUTE_MS;
	return quota_wait(&q->cpu, allowed - q->share.cpu_ms, clock_mono_ms());
}

void requestor_hold(struct requestor *q)
{
	int64_t allowed = q->section->cpu_seconds_per_hour * 1000;

	q->lane.held = allowed > 0 && requestor_cpu_ms(q) >= allowed;
}

static void charge(struct requestor *q, int64_t cpu_ms)
{
	int64_t now = clock_mono_ms();

	quota_charge(&q->cpu, cpu_ms, now);
	q->share.untold_ms += cpu_ms;
	q->share.used_ms = now;
	requestor_hold(q);
}

void requestor_charge(struct requestor *q, int64_t cpu_ms)
{
	charge(q, cpu_ms + 1);
}

/* Checks of one requestor take a tenth of the loop's time at the most. */
#define STEPS_BACK_PER_MS (SCHEMA_STEPS_PER_MS / 10)
#define STEPS_AT_ONCE (UINT64_C(10) * SCHEMA_STEPS_INLINE)

uint64_t requestor_steps(struct requestor *q)
{
	uint64_t left = STEPS_AT_ONCE - q->steps_spent;

	return left < SCHEMA_STEPS_INLINE ? left : SCHEMA_STEPS_INLINE;
}

/* Read the clock only when many steps have been spent. */
void requestor_stepped(struct requestor *q, uint64_t steps)
{
	int64_t now_ms;
	uint64_t back;

	q->steps_due += steps;
	q->steps_spent += steps;
	if (q->steps_due >= SCHEMA_STEPS_PER_MS) {
		charge(q, (int64_t)(q->steps_due / SCHEMA_STEPS_PER_MS));
		q->steps_due %= SCHEMA_STEPS_PER_MS;
	}
	if (q->steps_spent < STEPS_AT_ONCE - UINT64_C(2) * SCHEMA_STEPS_INLINE)
		return;
	now_ms = clock_mono_ms();
	back = (uint64_t)(now_ms - q->steps_ms) * STEPS_BACK_PER_MS;
	q->steps_spent = back < q->steps_spent ? q->steps_spent - back : 0;
	q->steps_ms = now_ms;
	if (q->steps_spent > STEPS_AT_ONCE)
		q->steps_spent = STEPS_AT_ONCE;
}

/* ---- bytes that are kept ---- */

int64_t requestor_kept(const struct requestor *q)
{
	return q->replayable_bytes + q->keeping_bytes;
}

int64_t requestor_stored(const struct requestor *q)
{
	return requestor_kept(q) + q->row_bytes;
}

bool requestor_is_over(const struct requestor *q, int64_t size, bool artifact,
		       struct requestor_over *o)
{
	int64_t own = q->section->artifact_bytes;

	*o = (struct requestor_over){"artifact_bytes", CONFIG_REQUESTOR,
				     requestor_kept(q), own};
	if (artifact && own > 0 && size > own - o->used)
		return true;
	*o = (struct requestor_over){"store_bytes", CONFIG_REQUESTOR,
				     requestor_stored(q), q->store_bytes};
	if (artifact)
		size += STORE_ARTIFACT_BYTES;
	if (q->section->store_bytes == 0) {
		o->key = "default_store_bytes";
		o->section = "limits";
	}
	return q->store_bytes != CONFIG_NONE && size > o->allowed - o->used;
}

bool requestor_has_room(const struct requestor *q, int64_t size)
{
	struct requestor_over o;

	return !requestor_is_over(q, size, true, &o);
}

char *requestor_who(const struct requestor *q, const struct requestor_over *o)
{
	if (strcmp(o->section, CONFIG_REQUESTOR) != 0)
		return xasprintf("the operator: %s in [%s]", o->key,
				 o->section);
	return xasprintf("the operator: %s in [requestor \"%s\"]", o->key,
			 q->name);
}

bool requestor_no_room(const struct requestor *q, int64_t size,
		       struct tool_error *errmsg)
{
	struct requestor_over o;
	char *who;

	if (!requestor_is_over(q, size, true, &o))
		return false;
	who = requestor_who(q, &o);
	tool_error_set(
	    errmsg, "RESOURCE_LIMIT",
	    tool_error_limit(o.key, o.used + size, o.allowed, "bytes", who),
	    "an artifact of %lld bytes is over what you may have stored: %lld "
	    "of %lld bytes are used, until older ones expire; who can raise "
	    "that is %s",
	    (long long)size, (long long)o.used, (long long)o.allowed, who);
	free(who);
	return true;
}

void requestor_keep(struct requestor *q, int64_t size)
{
	q->keeping_bytes += size;
}

void requestor_kept_one(struct requestor *q, int64_t size, bool taken)
{
	q->keeping_bytes -= size;
	assert(q->keeping_bytes >= 0);
	if (!taken)
		return;
	q->replayable_bytes += size;
	q->row_bytes += STORE_ARTIFACT_BYTES;
}

void requestor_row(struct requestor *q, int64_t size)
{
	q->row_bytes += size;
	q->newer_bytes += size;
}

void requestor_asks_usage(struct requestor *q)
{
	q->usage_asked = true;
	q->newer_bytes = 0;
}

/* Newer rows are added, for the store counted before they came. */
void requestor_set_usage(struct requestor *q, int64_t artifacts, int64_t rows)
{
	q->replayable_bytes = artifacts;
	q->row_bytes = rows + q->newer_bytes;
	q->usage_known = true;
}

/* ---- questions that Q should not ask ---- */

void requestor_missed(struct requestor *q)
{
	q->lookups_failed++;
	log_rarely("requestor", "requestor=%s lookups_failed=%llu", q->name,
		   (unsigned long long)q->lookups_failed);
}

void requestor_polled(struct requestor *q, int64_t *last_ms,
		      int64_t interval_ms)
{
	int64_t now = clock_mono_ms();

	if (*last_ms != 0 && now - *last_ms < interval_ms / 2) {
		q->overpolls++;
		log_rarely("requestor", "requestor=%s overpolls=%llu", q->name,
			   (unsigned long long)q->overpolls);
	}
	*last_ms = now;
}

/* ---- counters at the end ---- */

struct counter {
	const char *name;
	long long left;
};

static size_t tell_counter(const struct requestor *q, const struct counter *c)
{
	if (c->left == 0)
		return 0;
	log_warn("requestor", "requestor=%s left=%lld of=%s", q->name, c->left,
		 c->name);
	return 1;
}

#define COUNTER(member)                                                        \
	{                                                                      \
#member, (long long)q->member                                  \
	}

static size_t tell_requestor(const struct requestor *q)
{
	const struct counter all[] = {
	    COUNTER(lane.running),
	    COUNTER(lane.lent[0]),
	    COUNTER(lane.queued),
	    COUNTER(lane.queued_bytes),
	    COUNTER(parked),
	    COUNTER(keeping_bytes),
	    COUNTER(n_reads),
	    COUNTER(n_listens),
	    COUNTER(http_sessions),
	    COUNTER(http_streams),
	    COUNTER(http_conns),
	    COUNTER(http_store_waits),
	    COUNTER(http_session_deletes),
	    COUNTER(http_open_streams),
	    COUNTER(http_live_bytes),
	    COUNTER(http_ended_bytes),
	    COUNTER(http.bodies),
	    COUNTER(http.unread),
	    COUNTER(message_bytes),
	    COUNTER(uploads),
	    COUNTER(downloads),
	    COUNTER(line_bytes),
	    COUNTER(memory.held),
	    COUNTER(n_requests),
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		n += tell_counter(q, &all[i]);
	return n;
}

size_t requestors_left(const struct requestors *all)
{
	const struct requestor *q, *next;
	size_t n = 0;

	HASH_ITER(hh, all->by_name, q, next)
		n += tell_requestor(q);
	return n;
}
