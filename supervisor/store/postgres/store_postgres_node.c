/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_node.c - this node's row in the table of nodes, the heartbeat,
 * and the search for dead nodes. store_postgres.c offers the functions as the
 * engine's, for store_recover.c. A row that another node has removed is not
 * made again, since the other node owns the runs.
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
 * No clock is compared with another machine's clock. A node is dead when an observer has
 * seen the same heartbeat for the duration of the lease, by the observer's CLOCK_BOOTTIME
 * and without a gap in the observation: so neither an unreachable database nor a changed
 * clock of the database makes a node dead. The node itself counts from before sending the
 * last heartbeat, and ends all runs a quarter of the lease earlier.
 */

#define SLACK_MS 20 /* tolerance in following the database's clock */

/* Tests set a shorter lease among the URL's options: -cpaddock.lease_ms=MS. */
#define LEASE                                                                     \
	"coalesce(nullif(current_setting('paddock.lease_ms', true), '')::bigint," \
	" 10000)"
/* An existing row belongs to this node, from a connection that ended: keep the row. */
#define ADD_NODE                                                               \
	"INSERT INTO node(id, heartbeat_ms, node_name, version,"               \
	" started_ms, lease_ms) VALUES($1, paddock_now(), $2, $3,"             \
	" paddock_now(), " LEASE ") ON CONFLICT (id) DO UPDATE"                \
	" SET node_name = excluded.node_name"

/* ---- this node ---- */

/* ---- other nodes ---- */

static struct seen *find_seen(struct pulse *u, const char *id)
{
	for (size_t i = 0; i < u->n_seen; i++)
		if (strcmp(u->seen[i].id, id) == 0)
			return &u->seen[i];
	return NULL;
}

/* Has U seen no newer heartbeat of E for the duration of E's lease? */
static bool lease_is_over(const struct pulse *u, const struct seen *e)
{
	return e->heartbeat_ms == 0 ||
	       u->looked_ms - e->since_ms >= e->lease_ms;
}

/* The heartbeat after which INSTANCE has been silent for the lease; or 0. */
static int64_t last_of(struct store *s, const char *instance)
{
	struct pulse *u = &postgres_of(s)->pulse;
	const struct seen *e;
	int64_t last;

	pthread_mutex_lock(&u->lock);
	e = find_seen(u, instance);
	last = e != NULL && lease_is_over(u, e) ? e->heartbeat_ms : 0;
	pthread_mutex_unlock(&u->lock);
	return last;
}

void store_postgres_forget_seen(struct pulse *u)
{
	pthread_mutex_lock(&u->lock);
	u->n_seen = 0;
	pthread_mutex_unlock(&u->lock);
}

/* The answer to a heartbeat: the instance, the time of sending, and the rows. */
struct beaten {
	const char *instance;
	int64_t sent_ms;
	const struct pq *pq;
	const PGresult *res;
};

static int64_t column(const struct beaten *b, int row, int at)
{
	return strtoll(b->pq->getvalue(b->res, row, at), NULL, 10);
}

/* Make a new observation from row AT of another node; E is the earlier one, or NULL. */
static struct seen look_at(const struct pulse *u, const struct beaten *b,
			   int at, const struct seen *e)
{
	struct seen now = {.heartbeat_ms = column(b, at, 1),
			   .lease_ms = column(b, at, 2),
			   .since_ms = u->looked_ms};

	snprintf(now.id, sizeof(now.id), "%s", b->pq->getvalue(b->res, at, 0));
	if (e != NULL && e->heartbeat_ms == now.heartbeat_ms)
		now.since_ms = e->since_ms;
	return now;
}

/*
 * Read the answer B: this node's row, and rows of silent nodes. False: this
 * node's row is missing.
 */
static bool read_beats(struct store *s, struct pulse *u, const struct beaten *b)
{
	int n = b->pq->ntuples(b->res);
	struct seen *seen = xcalloc((size_t)n + 1, sizeof(*seen));
	int64_t now = clock_boot_ms(), half_ms = (now - b->sent_ms) / 2;
	bool own = false, dead = false;
	size_t n_seen = 0;

	/* in a gap possibly no node could reach the database */
	if (u->looked_ms + u->lease_ms - u->lease_ms / STORE_LEASE_MARGIN < now)
		u->n_seen = 0;
	u->looked_ms = now;
	for (int i = 0; i < n; i++) {
		const char *id = b->pq->getvalue(b->res, i, 0);
		struct seen *e = &seen[n_seen];

		if (strcmp(id, b->instance) == 0) {
			/* the lease and the database's clock */
			own = true;
			u->lease_ms = column(b, i, 2);
			if (clock_follow(column(b, i, 3), b->sent_ms + half_ms,
					 SLACK_MS + half_ms))
				id_clock_was_set();
			continue;
		}
		*e = look_at(u, b, i, find_seen(u, id));
		dead |= lease_is_over(u, e);
		n_seen++;
	}
	free(u->seen);
	u->seen = seen;
	u->n_seen = n_seen;
	if (dead)
		store_tell_death(s);
	return own;
}

static int send_beat(struct store *s, struct pq_link *l, const char *instance)
{
	char numbers[4][NUMBER_SIZE];
	const char *const values[] = {instance, numbers[0], numbers[1],
				      numbers[2], numbers[3]};
	struct store_load load = store_load(s);

	snprintf(numbers[0], NUMBER_SIZE, "%zu", load.running);
	snprintf(numbers[1], NUMBER_SIZE, "%zu", load.queued);
	snprintf(numbers[2], NUMBER_SIZE, "%d", load.draining);
	snprintf(numbers[3], NUMBER_SIZE, "%zu", load.room);
	return pq_link_send_params(
	    l, "SELECT * FROM paddock_beat($1, $2, $3, $4, $5)", 5, values);
}

/*
 * The lease counts from before sending; an answer for an earlier instance id is ignored.
 */
int store_postgres_beat_by(struct store *s, struct pq_link *l,
			   const char *instance)
{
	struct pulse *u = &postgres_of(s)->pulse;
	struct beaten b = {
	    .instance = instance, .sent_ms = clock_boot_ms(), .pq = l->pq};
	PGresult *res = NULL;
	int rc = send_beat(s, l, instance);
	bool own = true;
	int64_t until;

	if (rc == 0)
		rc = pq_link_wait(l, &res);
	if (rc != 0)
		return rc;
	b.res = res;
	pthread_mutex_lock(&u->lock);
	if (strcmp(u->instance, instance) == 0) {
		own = read_beats(s, u, &b);
		u->is_lost |= !own;
		until =
		    b.sent_ms + u->lease_ms - u->lease_ms / STORE_LEASE_MARGIN;
		if (own && (until > atomic_load(&s->lease_until_ms) ||
			    atomic_load(&s->lease_until_ms) == STORE_NO_LEASE))
			atomic_store(&s->lease_until_ms, until);
		if (own && b.sent_ms > atomic_load(&s->beaten_ms))
			atomic_store(&s->beaten_ms, b.sent_ms);
	}
	pthread_mutex_unlock(&u->lock);
	l->pq->clear(res);
	if (own)
		return 0;
	snprintf(l->words, sizeof(l->words),
		 "another server has taken over what this one had");
	return -EOWNERDEAD;
}

static int add_node(struct store *s, struct postgres *p)
{
	const char *const values[] = {s->instance, store_node_name(s),
				      PADDOCK_VERSION};
	char number[NUMBER_SIZE];
	int rc =
	    store_postgres_ask(p, ADD_NODE, 3, values, number, sizeof(number));

	if (rc == 0)
		rc = store_postgres_ask(p,
					"SELECT greatest(batch, barrier)"
					" FROM epoch WHERE node = $1",
					1, values, number, sizeof(number));
	if (rc != 0)
		return rc;
	p->batch = strtoll(number, NULL, 10);
	pthread_mutex_lock(&p->pulse.lock);
	snprintf(p->pulse.instance, sizeof(p->pulse.instance), "%s",
		 s->instance);
	pthread_mutex_unlock(&p->pulse.lock);
	return 0;
}

/* Read the common sealing key of all nodes; the first node makes the key. */
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

int store_postgres_join(struct store *s)
{
	struct postgres *p = postgres_of(s);
	char number[NUMBER_SIZE];
	const char *const values[] = {s->instance, number};
	int rc = p->joined ? 0 : add_node(s, p);

	if (rc == 0)
		rc = store_postgres_beat_by(s, &p->link, s->instance);
	/*
	 * Transactions sent on an earlier connection are committed by now, or never will be.
	 * The row gives the same answer again, if the answer was lost or a later step failed.
	 */
	if (rc == 0 && p->batch > 0) {
		snprintf(number, sizeof(number), "%" PRId64, p->batch);
		rc = store_postgres_ask(p, "SELECT paddock_settle($1, $2)", 2,
					values, number, sizeof(number));
		if (rc == 0)
			p->settled = strtoll(number, NULL, 10);
	}
	if (rc == 0)
		rc = read_seal(s, p);
	if (rc == 0)
		rc = store_postgres_pulse_begin(s);
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
	store_postgres_pulse_rejoin(&p->pulse);
	p->joined = false;
	p->batch = 0;
	p->open_rc = 0;
	p->retry_ms = p->backoff_ms = 0;
}

/* Check the store's connection, since the heartbeat has a separate connection. */
int store_postgres_beat(struct store *s)
{
	struct postgres *p = postgres_of(s);
	int64_t lease_ms, silent_ms = clock_boot_ms() - s->beaten_ms;
	int rc = 0;

	if (store_postgres_pulse_is_lost(&p->pulse)) {
		snprintf(p->link.words, sizeof(p->link.words),
			 "another server has taken over what this one had");
		rc = -EOWNERDEAD;
	}
	pthread_mutex_lock(&p->pulse.lock);
	lease_ms = p->pulse.lease_ms;
	pthread_mutex_unlock(&p->pulse.lock);
	/*
	 * When the heartbeat's own connection is silent, perhaps the database takes no
	 * further connection, so beat by the store's. A busy row is left to the next beat.
	 */
	if (rc == 0 && silent_ms >= lease_ms / STORE_LEASE_MARGIN) {
		rc = store_postgres_beat_by(s, &p->link, s->instance);
		rc = rc == -EBUSY ? 0 : rc;
	}
	if (rc == 0)
		rc = store_postgres_count_nodes(p);
	return rc == 0 ? 0 : store_postgres_failed(s, rc);
}

void store_postgres_leave(struct store *s)
{
	struct postgres *p = postgres_of(s);
	char none[NUMBER_SIZE];

	if (p == NULL)
		return;
	store_postgres_pulse_end(&p->pulse);
	if (store_postgres_is_open(s) && p->joined)
		(void)store_postgres_ask(p, "DELETE FROM node WHERE id = $1", 1,
					 (const char *const[]){s->instance},
					 none, sizeof(none));
}

int store_postgres_lives(struct store *s, const char *instance)
{
	int64_t beat_ms, last = last_of(s, instance);
	char text[NUMBER_SIZE];
	int rc = store_postgres_ask(
	    postgres_of(s), "SELECT heartbeat_ms FROM node WHERE id = $1", 1,
	    (const char *const[]){instance}, text, sizeof(text));

	if (rc != 0)
		return store_postgres_failed(s, rc);
	beat_ms = strtoll(text, NULL, 10); /* "": no row */
	return beat_ms != 0 && beat_ms != last;
}

/*
 * Take over INSTANCE, by a single node: skip a row that another node, or
 * INSTANCE itself, has locked.
 */
int store_postgres_bury(struct store *s, const char *instance, bool is_dead)
{
	struct postgres *p = postgres_of(s);
	char seen_ms[NUMBER_SIZE], left[NUMBER_SIZE];
	const char *const values[] = {instance, is_dead ? "1" : "0", seen_ms};
	int rc;

	snprintf(seen_ms, sizeof(seen_ms), "%" PRId64, last_of(s, instance));
	rc = pq_link_send_params(
	    &p->link,
	    "DELETE FROM node WHERE id = (SELECT id FROM node"
	    " JOIN epoch ON epoch.node = id WHERE id = $1"
	    " AND ($2 = '1' OR heartbeat_ms IN (0, CAST($3 AS bigint)))"
	    " FOR UPDATE SKIP LOCKED)",
	    3, values);
	if (rc == 0)
		rc = store_postgres_ask(
		    p, "SELECT count(*) FROM node WHERE id = $1", 1, values,
		    left, sizeof(left));
	return rc != 0 ? store_postgres_failed(s, rc) : left[0] == '0';
}
