/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor.c - finds who asks by uid or token, holds them to their sections of
 * paddock.conf, and counts what they use. Transports ask who it is, runs and
 * sessions charge it. An unknown token is NULL, which the transport refuses;
 * counters cannot fail.
 */
#include "supervisor/requestor/requestor.h"

#include <assert.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "base/text/hex.h"
#include "base/text/words.h"
#include "supervisor/config/config_keys.h"
#include "proto/mcp/tool_error.h"

#define LOGGED_AT_ONCE 32

static const struct config_requestor none = {.uid = -1, .weight = 1};

/* ---- all of them ---- */

struct requestor *requestors_find(struct requestors *all, const char *name)
{
	struct requestor *q;

	HASH_FIND_STR(all->by_name, name, q);
	return q;
}

/* What Q may have there, by its section or else by the server's default. */
static void set_store(const struct requestors *all, struct requestor *q)
{
	int64_t own = q->section->store_bytes;

	q->store_bytes = own != 0 ? own
			 : all->config != NULL
			     ? all->config->default_store_bytes
			     : CONFIG_NONE;
}

static struct requestor *find_or_add(struct requestors *all, const char *name)
{
	struct requestor *q = requestors_find(all, name);

	if (q != NULL)
		return q;
	q = xcalloc(1, sizeof(*q));
	q->name = xstrdup(name);
	q->section = &none;
	set_store(all, q);
	sched_lane_init(&q->lane);
	fair_queue_flow_init(&q->turns);
	TAILQ_INIT(&q->http_ended);
	HASH_ADD_KEYPTR(hh, all->by_name, q->name, strlen(q->name), q);
	return q;
}

/* HEX, which was checked, of one that is good from now on; NULL: none is. */
static void set_token(struct requestor *q, const char *hex)
{
	unsigned char was[REQUESTOR_DIGEST];

	memcpy(was, q->token, sizeof(was));
	memset(q->token, 0, sizeof(q->token));
	for (size_t i = 0; hex != NULL && i < REQUESTOR_DIGEST; i++)
		q->token[i] = (unsigned char)hex_read(hex + 2 * i, 2);
	if (memcmp(was, q->token, sizeof(was)) != 0)
		q->tokens++;
	q->has_token = hex != NULL;
}

static void apply(struct requestor *q, const struct config_requestor *section)
{
	q->section = section;
	q->gone = false;
	q->lane.max_running = section->max_concurrent_runs;
	q->lane.weight = section->weight;
	set_token(q, section->token_sha256);
	requestor_hold(q);
}

/* Its runs go on, as they were admitted: with the limits that it had. */
static void dismiss(struct requestor *q)
{
	q->had = *q->section;
	q->had.name = q->had.token_sha256 = q->had.trust_level = NULL;
	q->had.templates = q->had.browser_tools = NULL;
	q->had.uid = -1;
	q->section = &q->had;
	q->gone = true;
	set_token(q, NULL);
}

/* Two texts of a configuration, or NULL. */
static bool same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static const struct config_requestor *section_of(const struct config *c,
						 const char *name)
{
	for (size_t i = 0; i < c->n_requestors; i++)
		if (strcmp(c->requestors[i].name, name) == 0)
			return &c->requestors[i];
	return NULL;
}

/* What Q has by SECTION (NULL: none). Has what it may see changed? */
static bool apply_one(struct requestor *q,
		      const struct config_requestor *section)
{
	const struct config_requestor *was = q->section;

	if (section == NULL) {
		if (was != &none && !q->gone)
			dismiss(q);
		return false;
	}
	apply(q, section);
	return !same(was->templates, section->templates) ||
	       !same(was->browser_tools, section->browser_tools) ||
	       !same(was->trust_level, section->trust_level);
}

bool requestors_apply(struct requestors *all, const struct config *c)
{
	bool changed = false;
	struct requestor *q, *next;

	all->config = c;
	for (size_t i = 0; i < c->n_requestors; i++)
		find_or_add(all, c->requestors[i].name);
	HASH_ITER(hh, all->by_name, q, next) {
		if (apply_one(q, section_of(c, q->name)))
			changed = true;
		set_store(all, q);
	}
	return changed;
}

struct requestor *requestors_of_uid(struct requestors *all, uid_t uid)
{
	struct requestor *q, *next;
	char name[32];

	HASH_ITER(hh, all->by_name, q, next)
		if (q->section->uid == (int64_t)uid)
			return q;
	snprintf(name, sizeof(name), "uid:%u", (unsigned)uid);
	return find_or_add(all, name); /* no section may be called that */
}

/* Each is compared, whole, so that time tells nothing of any. */
struct requestor *requestors_of_token(struct requestors *all, const char *token,
				      size_t len)
{
	unsigned char sum[REQUESTOR_DIGEST];
	struct requestor *q, *next, *found = NULL;
	struct sha256_ctx md;

	_Static_assert(REQUESTOR_DIGEST == SHA256_DIGEST_SIZE, "the same");
	sha256_init(&md);
	sha256_update(&md, len, (const void *)token);
	sha256_digest(&md, sizeof(sum), sum);
	HASH_ITER(hh, all->by_name, q, next) {
		bool match = memeql_sec(q->token, sum, sizeof(sum));

		found = (q->has_token & match) ? q : found;
	}
	return found;
}

struct requestor *requestors_anonymous(struct requestors *all)
{
	struct requestor *q, *next;

	HASH_ITER(hh, all->by_name, q, next)
		if (q->has_token)
			return NULL;
	return find_or_add(all, REQUESTOR_ANONYMOUS);
}

void requestors_fini(struct requestors *all)
{
	struct requestor *q = all->by_name, *next;

	HASH_CLEAR(hh, all->by_name);
	for (; q != NULL; q = next) {
		next = q->hh.next;
		free(q->name);
		free(q);
	}
}

bool requestor_is_anonymous(const struct requestor *q)
{
	return strcmp(q->name, REQUESTOR_ANONYMOUS) == 0;
}

/* Before the store has told what it keeps for Q, that is not known. */
static void log_one(struct requestor *q)
{
	char kept[24] = "-", stored[24] = "-";

	if (q->usage_known) {
		snprintf(kept, sizeof(kept), "%lld",
			 (long long)requestor_kept(q));
		snprintf(stored, sizeof(stored), "%lld",
			 (long long)requestor_stored(q));
	}
	log_info(
	    "requestor",
	    "requestor=%s status=%s running=%zu queued=%zu parked=%zu cpu_ms=%lld "
	    "artifact_bytes=%s store_bytes=%s refused=%llu rate_limited=%llu lookups_failed=%llu "
	    "overpolls=%llu",
	    q->name,
	    q->gone	   ? "gone"
	    : q->lane.held ? "held"
			   : "ok",
	    q->lane.running, q->lane.queued, q->parked,
	    (long long)requestor_cpu_ms(q), kept, stored,
	    (unsigned long long)q->refused, (unsigned long long)q->rate_limited,
	    (unsigned long long)q->lookups_failed,
	    (unsigned long long)q->overpolls);
}

struct requestor *requestors_log(struct requestors *all, struct requestor *from)
{
	struct requestor *q = from != NULL ? from : all->by_name;

	for (int i = 0; q != NULL && i < LOGGED_AT_ONCE; i++) {
		log_one(q);
		q = q->hh.next;
	}
	return q;
}

/* ---- what one may see ---- */

const char *trust_name(enum template_trust trust)
{
	return trust == TRUST_LOCAL ? "local" : "remote";
}

enum template_trust requestor_trust(const struct requestor *q,
				    enum template_trust via)
{
	if (q->section->trust_level == NULL)
		return via;
	return strcmp(q->section->trust_level, "local") == 0 ? TRUST_LOCAL
							     : TRUST_REMOTE;
}

bool requestor_sees(const struct requestor *q, const char *id)
{
	const char *list = q->section->templates;

	return list == NULL || words_have(list, id);
}

/* Who is held to some templates is not given pages unasked. */
bool requestor_uses(const struct requestor *q, const char *tool)
{
	const char *list = q->section->browser_tools;

	if (list == NULL)
		return q->section->templates == NULL;
	return words_have(list, tool) || words_have(list, "all");
}

bool requestor_gone(const struct requestor *q)
{
	return q->gone;
}

/* ---- what it uses ---- */

/* Calls a second, and at once (0: as many), that are allowed here. */
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
	if (*burst < QUOTA_CALL) /* else there would never be a whole one */
		*burst = QUOTA_CALL;
	return rate;
}

/* TIMES as many as a request is allowed, out of B. */
static bool take(struct requestor *q, struct quota_rate *b, int64_t times,
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
	return take(q, &q->rate, 1, retry_after_ms);
}

/* A refused cancel or DELETE harms: only what no client needs is over it. */
#define OTHERS 10 /* for each request */

bool requestor_take_other(struct requestor *q, int64_t *retry_after_ms)
{
	return take(q, &q->other_rate, OTHERS, retry_after_ms);
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

int64_t requestor_cpu_ms(struct requestor *q)
{
	return quota_used(&q->cpu, clock_mono_ms()) + q->share.cpu_ms;
}

int64_t requestor_cpu_wait(struct requestor *q)
{
	int64_t allowed = q->section->cpu_seconds_per_hour * 1000;

	if (allowed == 0 || requestor_cpu_ms(q) < allowed)
		return 0;
	if (q->share.cpu_ms >= allowed) /* others know when */
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

/* A tenth of the loop's time is one requestor's for checks, at the most. */
#define STEPS_BACK_PER_MS (SCHEMA_STEPS_PER_MS / 10)
#define STEPS_AT_ONCE (UINT64_C(10) * SCHEMA_STEPS_INLINE)

uint64_t requestor_steps(struct requestor *q)
{
	uint64_t left = STEPS_AT_ONCE - q->steps_spent;

	return left < SCHEMA_STEPS_INLINE ? left : SCHEMA_STEPS_INLINE;
}

/* The clock is looked at when that is worth it. */
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
	if (taken)
		q->replayable_bytes += size;
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

/* What it counted was asked for before the newer ones. */
void requestor_set_usage(struct requestor *q, int64_t artifacts, int64_t rows)
{
	q->replayable_bytes = artifacts;
	q->row_bytes = rows + q->newer_bytes;
	q->usage_known = true;
}

/* ---- what it should not do ---- */

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
