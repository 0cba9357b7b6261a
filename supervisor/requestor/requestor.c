/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor.c - finds the requestor by uid or token, and applies the sections
 * of paddock.conf to requestors; requestor_use.c counts their use. Transports
 * ask here. An unknown token yields NULL, and the transport refuses the client.
 */
#include "supervisor/requestor/requestor.h"

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

#define LOGGED_AT_ONCE 32

static const struct config_requestor none = {.uid = -1, .weight = 1};

/* ---- the list of requestors ---- */

struct requestor *requestors_find(struct requestors *all, const char *name)
{
	struct requestor *q;

	HASH_FIND_STR(all->by_name, name, q);
	return q;
}

/*
 * Set Q's bound of stored bytes, by Q's section or else by the server's
 * default.
 */
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
	TAILQ_INIT(&q->lost_residents);
	q->memory.all = &all->memory;
	q->http.memory = q->lane.memory = &q->memory;
	HASH_ADD_KEYPTR(hh, all->by_name, q->name, strlen(q->name), q);
	return q;
}

/* Make HEX, a checked digest, Q's token from now on; NULL: no token is good. */
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

/* Are two texts of a configuration, or NULL, the same? */
static bool same_text(const char *a, const char *b)
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

/* Apply SECTION (NULL: none) to Q. True: what Q may see may have changed. */
static bool apply_one(struct requestor *q,
		      const struct config_requestor *section)
{
	const struct config_requestor *was = q->section;

	if (section == NULL && (was == &none || q->gone))
		return false;
	if (section == NULL) {
		/* Q's section was removed: Q is gone, and Q's runs go on with the
		   limits under which they were admitted, so these are copied */
		q->had = *q->section;
		q->had.name = q->had.token_sha256 = q->had.trust_level = NULL;
		q->had.templates = q->had.browser_tools = NULL;
		q->had.uid = -1;
		q->section = &q->had;
		q->gone = true;
		set_token(q, NULL);
		return false;
	}
	q->section = section;
	q->gone = false;
	q->lane.max_running = section->max_concurrent_runs;
	q->lane.weight = section->weight;
	set_token(q, section->token_sha256);
	requestor_hold(q);
	return !same_text(was->templates, section->templates) ||
	       !same_text(was->browser_tools, section->browser_tools) ||
	       !same_text(was->trust_level, section->trust_level);
}

bool requestors_apply(struct requestors *all, const struct config *c)
{
	bool changed = false;
	struct requestor *q, *next;

	all->config = c;
	all->memory.most = memory_of(c->server_memory);
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
	return find_or_add(all, name); /* no section may have such a name */
}

/*
 * Every digest is compared in full, so that the time tells nothing of any
 * token.
 */
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

/*
 * Write one line of the log. Bytes are "-" until the store has told what Q has
 * stored.
 */
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
	    "overpolls=%llu memory_bytes=%lld memory_refused=%llu",
	    q->name,
	    q->gone	   ? "gone"
	    : q->lane.held ? "held"
			   : "ok",
	    q->lane.running + q->lane.lent[0], q->lane.queued, q->parked,
	    (long long)requestor_cpu_ms(q), kept, stored,
	    (unsigned long long)q->refused, (unsigned long long)q->rate_limited,
	    (unsigned long long)q->lookups_failed,
	    (unsigned long long)q->overpolls, (long long)q->memory.held,
	    (unsigned long long)q->memory.refused);
}

#define TOLD_EACH_MS 60000

void requestors_log_memory(struct requestors *all)
{
	struct requestor *q, *next;
	int64_t now = clock_mono_ms();

	if (all->memory.refused == 0)
		return;
	HASH_ITER(hh, all->by_name, q, next) {
		struct memory_account *a = &q->memory;

		if (a->refused == a->told ||
		    (a->told_ms != 0 && now - a->told_ms < TOLD_EACH_MS))
			continue;
		log_warn("requestor",
			 "requestor=%s memory=refused times=%llu "
			 "memory_bytes=%lld of_all=%lld most=%lld "
			 "msg=\"server_memory in [limits] can be raised\"",
			 q->name, (unsigned long long)(a->refused - a->told),
			 (long long)a->held, (long long)a->all->held,
			 (long long)a->all->most);
		a->told = a->refused;
		a->told_ms = now;
	}
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

/* ---- views of one requestor ---- */

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

/*
 * A requestor whose section lists templates gets browser tools only when
 * listed, too.
 */
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
