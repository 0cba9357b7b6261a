/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_open.c - opens the engine's connection and migrates the
 * schema. The next batch after a broken connection connects again, within a
 * rate; batches in between get the error of the last try.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/postgres/store_postgres_schema.h"

#define RETRY_MIN_MS 100
#define RETRY_MAX_MS 2000
int store_postgres_failed(struct store *s, int rc)
{
	s->why_rc = rc;
	snprintf(s->errmsg, sizeof(s->errmsg), "%s: %s; %s", s->db_path,
		 postgres_of(s)->link.words, store_remedy(rc));
	return rc;
}

static bool open_is_wanted(void *arg)
{
	struct store *s = arg;
	bool abandon;

	pthread_mutex_lock(&s->lock);
	abandon = s->abandon;
	pthread_mutex_unlock(&s->lock);
	return !abandon;
}

void store_postgres_close(struct store *s)
{
	struct postgres *p = postgres_of(s);

	if (p == NULL)
		return;
	for (size_t i = 0; i < STORE_STMTS; i++) {
		struct cursor *c = &p->cursors[i];

		if (c->res != NULL)
			p->link.pq->clear(c->res);
		c->res = NULL;
		c->state = NOT_PREPARED;
	}
	store_postgres_ahead_forget(s);
	pq_link_close(&p->link);
	store_wakes_lost(s);
	p->in_transaction = false;
}

/* Migrate under a lock, since another server may be migrating, which takes a while. */
static int raise_schema(struct postgres *p)
{
	char version[NUMBER_SIZE] = "";
	int rc = pq_link_run(
	    &p->link,
	    "BEGIN; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(hashtextextended("
	    "'paddock ' || current_schema(), 0));"
	    "CREATE TABLE IF NOT EXISTS paddock_schema(version bigint NOT NULL);"
	    "INSERT INTO paddock_schema SELECT 0"
	    " WHERE NOT EXISTS (SELECT 1 FROM paddock_schema)");

	if (rc == 0)
		rc = pq_link_ask(&p->link, "SELECT version FROM paddock_schema",
				 version, sizeof(version));
	for (int64_t v = rc == 0 ? strtoll(version, NULL, 10) : 0;
	     rc == 0 && v < STORE_POSTGRES_VERSION; v++)
		rc = pq_link_run(&p->link, store_postgres_steps[v]);
	return rc == 0 ? pq_link_run(&p->link, "COMMIT") : rc;
}

int store_postgres_connect(struct store *s)
{
	struct postgres *p = postgres_of(s);
	int64_t version = 0;
	int rc;

	store_postgres_close(s);
	rc = pq_link_open(&p->link, s->url);
	if (rc == 0)
		rc = store_postgres_note_server(p);
	if (rc == 0)
		rc = store_postgres_schema(p, &version);
	if (rc == 0)
		rc = store_postgres_schema_ok(p, version);
	if (rc == 0 && version < STORE_POSTGRES_VERSION)
		rc = raise_schema(p);
	if (rc == 0)
		rc = pq_link_pipeline(&p->link);
	snprintf(p->write_name, sizeof(p->write_name),
		 STORE_POSTGRES_WRITE "_%s", s->instance);
	/* prepared once, since each write begins with the statement */
	if (rc == 0)
		rc = pq_link_prepare(&p->link, p->write_name,
				     "SELECT paddock_write($1, $2)", 2, NULL);
	if (rc == 0)
		rc = store_postgres_join(s);
	if (rc == 0)
		rc = store_postgres_listen(s);
	if (rc != 0)
		store_postgres_close(s);
	return rc;
}

/* Connect, unless the last try was recent: then return the error of the last try. */
int store_postgres_open(struct store *s)
{
	struct postgres *p = postgres_of(s);

	if (p == NULL) {
		p = s->db = xcalloc(1, sizeof(*p));
		store_postgres_pulse_init(&p->pulse);
		p->link.lives = open_is_wanted;
		p->link.arg = s;
	}
	if (clock_mono_ms() >= p->retry_ms) {
		p->open_rc = store_postgres_connect(s);
		p->backoff_ms =
		    p->open_rc == 0
			? 0
			: backoff_ms(p->backoff_ms, RETRY_MIN_MS, RETRY_MAX_MS);
		p->retry_ms = clock_mono_ms() + p->backoff_ms;
	}
	return p->open_rc == 0 ? 0 : store_postgres_failed(s, p->open_rc);
}

bool store_postgres_is_open(const struct store *s)
{
	const struct postgres *p = postgres_of(s);

	return p != NULL && p->link.conn != NULL && !p->link.broken;
}
