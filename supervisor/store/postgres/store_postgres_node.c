/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_node.c - our row among the nodes, its heartbeat, and which of the
 * others are dead. store_postgres.c has it as the engine's, for store_recover.c. A row
 * that another has removed is not made again: what we had is its.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"

/*
 * Nobody's clock is held against another's. A node is dead when who looks has seen
 * one heartbeat of it, and no newer one, for as long as its lease, by its own
 * CLOCK_BOOTTIME and without a gap in its looking: so neither a database that was
 * away nor one whose clock was set makes anybody dead. The node itself counts from
 * before it sent its last heartbeat, and ends what it runs a quarter earlier.
 */

#define SLACK_MS 20 /* of the database's clock, as we follow it */

/* Tests have a shorter one: -cpaddock.lease_ms=… among the URL's options. */
#define LEASE                                                                     \
	"coalesce(nullif(current_setting('paddock.lease_ms', true), '')::bigint," \
	" 10000)"
#define ADD_NODE                                                               \
	"INSERT INTO node(id, batch, heartbeat_ms, node_name, version,"        \
	" started_ms, lease_ms) VALUES($1, 0, paddock_now(), $2, $3,"          \
	" paddock_now(), " LEASE ") ON CONFLICT (id) DO UPDATE SET batch = 0"

/* ---- ours ---- */

void store_postgres_renew(struct store *s, int64_t sent_ms)
{
	int64_t lease = postgres_of(s)->lease_ms;
	int64_t until = sent_ms + lease - lease / STORE_LEASE_MARGIN;

	if (until > atomic_load(&s->lease_until_ms) ||
	    atomic_load(&s->lease_until_ms) == STORE_NO_LEASE)
		atomic_store(&s->lease_until_ms, until);
}

/* ---- others ---- */

static struct seen *find(struct postgres *p, const char *id)
{
	for (size_t i = 0; i < p->n_seen; i++)
		if (strcmp(p->seen[i].id, id) == 0)
			return &p->seen[i];
	return NULL;
}

/* Has P seen nothing newer of E for as long as E's lease? */
static bool is_over(const struct postgres *p, const struct seen *e)
{
	return e->heartbeat_ms == 0 ||
	       p->looked_ms - e->since_ms >= e->lease_ms;
}

/* Row AT of RES is of another node, which E, if any, was seen as. */
static struct seen look_at(const struct postgres *p, const PGresult *res,
			   int at, const struct seen *e)
{
	const struct pq *pq = p->link.pq;
	struct seen now = {
	    .heartbeat_ms = strtoll(pq->getvalue(res, at, 1), NULL, 10),
	    .lease_ms = strtoll(pq->getvalue(res, at, 2), NULL, 10),
	    .since_ms = p->looked_ms};

	snprintf(now.id, sizeof(now.id), "%s", pq->getvalue(res, at, 0));
	if (e != NULL && e->heartbeat_ms == now.heartbeat_ms)
		now.since_ms = e->since_ms;
	return now;
}

/* RES has our row, and those of the others that are silent. */
static int look(struct store *s, const PGresult *res, int64_t sent_ms)
{
	struct postgres *p = postgres_of(s);
	const struct pq *pq = p->link.pq;
	int n = pq->ntuples(res);
	struct seen *seen = xcalloc((size_t)n + 1, sizeof(*seen));
	int64_t now = clock_boot_ms();
	bool own = false, dead = false;
	size_t n_seen = 0;

	/* in a gap nobody may have reached the database */
	if (p->looked_ms + p->lease_ms - p->lease_ms / STORE_LEASE_MARGIN < now)
		p->n_seen = 0;
	p->looked_ms = now;
	for (int i = 0; i < n; i++) {
		const char *id = pq->getvalue(res, i, 0);
		struct seen *e = &seen[n_seen];

		if (strcmp(id, s->instance) == 0) {
			own = true;
			p->lease_ms =
			    strtoll(pq->getvalue(res, i, 2), NULL, 10);
			if (clock_follow(
				strtoll(pq->getvalue(res, i, 3), NULL, 10),
				sent_ms + (now - sent_ms) / 2,
				SLACK_MS + (now - sent_ms) / 2))
				id_clock_was_set();
			continue;
		}
		*e = look_at(p, res, i, find(p, id));
		dead |= is_over(p, e);
		n_seen++;
	}
	free(p->seen);
	p->seen = seen;
	p->n_seen = n_seen;
	if (dead)
		store_tell_death(s);
	if (own)
		return 0;
	snprintf(p->link.words, sizeof(p->link.words),
		 "another server has taken over what this one had");
	return -EOWNERDEAD;
}

/* ---- */

static int add(struct store *s, struct postgres *p)
{
	const char *const values[] = {s->instance, store_node_name(s),
				      PADDOCK_VERSION};

	return pq_link_send_params(&p->link, ADD_NODE, 3, values);
}

/* The key that all seal with; the first of them makes it. */
static int read_seal(struct store *s, struct postgres *p)
{
	unsigned char key[STORE_SEAL_BYTES];
	char hex[2 * STORE_SEAL_BYTES + 1];
	const char *const values[] = {hex};
	int rc;

	if (s->sealed)
		return 0;
	if (getrandom(key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return -EIO;
	for (size_t i = 0; i < sizeof(key); i++)
		snprintf(hex + 2 * i, 3, "%02x", key[i]);
	rc = pq_link_send_params(&p->link,
				 "INSERT INTO secret VALUES('seal', $1)"
				 " ON CONFLICT (name) DO NOTHING",
				 1, values);
	if (rc == 0)
		rc = store_postgres_ask(
		    p, "SELECT value FROM secret WHERE name = 'seal'", 0, NULL,
		    hex, sizeof(hex));
	if (rc == 0 && strlen(hex) != 2 * sizeof(key))
		rc = -EIO;
	for (size_t i = 0; rc == 0 && i < sizeof(key); i++) {
		const char two[] = {hex[2 * i], hex[2 * i + 1], '\0'};

		key[i] = (unsigned char)strtoul(two, NULL, 16);
	}
	if (rc != 0)
		return rc;
	pthread_mutex_lock(&s->lock);
	memcpy(s->seal_key, key, sizeof(key));
	s->sealed = true;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static int beat(struct store *s, struct postgres *p)
{
	char numbers[4][NUMBER_SIZE];
	const char *const values[] = {s->instance, numbers[0], numbers[1],
				      numbers[2], numbers[3]};
	int64_t sent_ms = clock_boot_ms();
	struct store_load load = store_load(s);
	PGresult *res = NULL;
	int rc;

	snprintf(numbers[0], NUMBER_SIZE, "%zu", load.running);
	snprintf(numbers[1], NUMBER_SIZE, "%zu", load.queued);
	snprintf(numbers[2], NUMBER_SIZE, "%d", load.draining);
	snprintf(numbers[3], NUMBER_SIZE, "%zu", load.room);
	rc = pq_link_send_params(
	    &p->link, "SELECT * FROM paddock_beat($1, $2, $3, $4, $5)", 5,
	    values);
	if (rc == 0)
		rc = store_postgres_wait(p, &res);
	if (rc == 0)
		rc = look(s, res, sent_ms);
	if (rc == 0)
		store_postgres_renew(s, sent_ms);
	if (res != NULL)
		p->link.pq->clear(res);
	return rc;
}

/* What was sent on a connection before this one is done by now, or never is. */
static int settle(struct store *s, struct postgres *p)
{
	char number[NUMBER_SIZE];
	const char *const values[] = {s->instance, number};
	int rc;

	snprintf(number, sizeof(number), "%" PRId64, p->batch);
	rc = store_postgres_ask(p, "SELECT paddock_settle($1, $2)", 2, values,
				number, sizeof(number));
	if (rc == 0)
		p->settled = strtoll(number, NULL, 10);
	return rc;
}

int store_postgres_join(struct store *s)
{
	struct postgres *p = postgres_of(s);
	int rc = p->joined ? 0 : add(s, p);

	if (rc == 0)
		rc = beat(s, p);
	if (rc == 0 && p->batch > 0)
		rc = settle(s, p);
	if (rc == 0)
		rc = read_seal(s, p);
	if (rc == 0)
		p->joined = true;
	return rc;
}

void store_postgres_rejoin(struct store *s)
{
	struct postgres *p = postgres_of(s);

	if (p == NULL)
		return;
	store_postgres_close(s);
	p->joined = false;
	p->batch = 0;
	p->open_rc = 0;
	p->retry_ms = p->backoff_ms = 0;
}

int store_postgres_beat(struct store *s)
{
	int rc = beat(s, postgres_of(s));

	return rc == 0 ? 0 : store_postgres_failed(s, rc);
}

void store_postgres_leave(struct store *s)
{
	struct postgres *p = postgres_of(s);
	char none[NUMBER_SIZE];

	if (store_postgres_is_open(s) && p->joined)
		(void)store_postgres_ask(p, "DELETE FROM node WHERE id = $1", 1,
					 (const char *const[]){s->instance},
					 none, sizeof(none));
}

int store_postgres_lives(struct store *s, const char *instance)
{
	struct postgres *p = postgres_of(s);
	const struct seen *e = find(p, instance);
	char beat_ms[NUMBER_SIZE];
	int rc = store_postgres_ask(
	    p, "SELECT heartbeat_ms FROM node WHERE id = $1", 1,
	    (const char *const[]){instance}, beat_ms, sizeof(beat_ms));

	if (rc != 0)
		return store_postgres_failed(s, rc);
	if (beat_ms[0] == '\0' || strtoll(beat_ms, NULL, 10) == 0)
		return 0;
	return e == NULL || e->heartbeat_ms != strtoll(beat_ms, NULL, 10) ||
	       !is_over(p, e);
}

/* By one of many: who finds another at it leaves it to that one. */
int store_postgres_bury(struct store *s, const char *instance, bool is_dead)
{
	struct postgres *p = postgres_of(s);
	const struct seen *e = find(p, instance);
	char seen_ms[NUMBER_SIZE], left[NUMBER_SIZE];
	const char *const values[] = {instance, is_dead ? "1" : "0", seen_ms};
	int rc;

	snprintf(seen_ms, sizeof(seen_ms), "%" PRId64,
		 e != NULL && is_over(p, e) ? e->heartbeat_ms : 0);
	rc = pq_link_send_params(
	    &p->link,
	    "DELETE FROM node WHERE id = (SELECT id FROM node WHERE id = $1"
	    " AND ($2 = '1' OR heartbeat_ms IN (0, CAST($3 AS bigint)))"
	    " FOR UPDATE SKIP LOCKED)",
	    3, values);
	if (rc == 0)
		rc = store_postgres_ask(
		    p, "SELECT count(*) FROM node WHERE id = $1", 1, values,
		    left, sizeof(left));
	return rc != 0 ? store_postgres_failed(s, rc) : left[0] == '0';
}
