/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_chunks.c - stores the bytes of artifacts in rows of 1 MiB, as the
 * engine's chunks (store_engine.h). Each row is sent in the pipeline and awaited, so that
 * at most one row is in memory. A failure is -errno and a sentence.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int chunk_rc(struct store *s, int rc)
{
	if (postgres_of(s)->link.broken)
		postgres_of(s)->in_transaction = false;
	return rc == 0 ? 0 : store_postgres_failed(s, rc);
}

/* Execute SQL with N texts; *CHANGED, unless NULL, gets the number of changed rows. */
static int change(struct store *s, const char *sql, int n,
		  const char *const *values, int64_t *changed)
{
	struct postgres *p = postgres_of(s);
	int rc = pq_link_send_params(&p->link, sql, n, values);
	PGresult *res = NULL;

	if (rc == 0)
		rc = store_postgres_wait(p, &res);
	if (rc == 0 && changed != NULL)
		*changed = strtoll(p->link.pq->cmdTuples(res), NULL, 10);
	if (res != NULL)
		p->link.pq->clear(res);
	return chunk_rc(s, rc);
}

static int begin_chunks(struct store *s, const char *id, bool again)
{
	const char *const values[] = {id, s->instance};
	int64_t changed = 0;
	int rc = change(s,
			again ? "UPDATE artifact_litter"
				" SET since_ms = paddock_now()"
				" WHERE id = $1 AND instance = $2"
			      : "INSERT INTO artifact_litter"
				" VALUES($1, $2, paddock_now())"
				" ON CONFLICT (id) DO UPDATE SET"
				" since_ms = excluded.since_ms,"
				" instance = excluded.instance",
			2, values, &changed);

	return rc == 0 && changed == 0 ? -ESTALE : rc;
}

static int end_chunks(struct store *s, const char *id)
{
	const char *const values[] = {id, s->instance};
	int64_t changed = 0;
	int rc = change(s,
			"DELETE FROM artifact_litter"
			" WHERE id = $1 AND instance = $2",
			2, values, &changed);

	return rc == 0 && changed == 0 ? -ESTALE : rc;
}

static int put_chunk(struct store *s, const char *id, int64_t part,
		     const void *data, size_t len)
{
	struct postgres *p = postgres_of(s);
	char number[NUMBER_SIZE];
	const char *const values[] = {id, number, len > 0 ? data : ""};
	const int lengths[] = {0, 0, (int)len};
	PGresult *res = NULL;
	int rc;

	assert(len <= STORE_CHUNK_BYTES);
	snprintf(number, sizeof(number), "%" PRId64, part);
	/*
	 * a repeated part has the same bytes as the first try, which may have succeeded
	 */
	rc = pq_link_send_binary(&p->link,
				 "INSERT INTO artifact_chunk"
				 " VALUES($1, $2, $3::bytea)"
				 " ON CONFLICT (id, part) DO NOTHING",
				 3, values, lengths);
	if (rc == 0)
		rc = store_postgres_wait(p, &res);
	if (res != NULL)
		p->link.pq->clear(res);
	return chunk_rc(s, rc);
}

static int get_chunk(struct store *s, const char *id, int64_t part, size_t from,
		     void *to, size_t *len)
{
	struct postgres *p = postgres_of(s);
	const struct pq *pq = p->link.pq;
	char number[NUMBER_SIZE], first[NUMBER_SIZE], most[NUMBER_SIZE];
	const char *const values[] = {id, number, first, most};
	const int lengths[] = {0, 0, 0, 0};
	PGresult *res = NULL;
	size_t got = 0;
	int rc;

	snprintf(number, sizeof(number), "%" PRId64, part);
	snprintf(first, sizeof(first), "%zu", from + 1);
	snprintf(most, sizeof(most), "%zu", *len);
	rc = pq_link_send_binary(&p->link,
				 "SELECT substring(data FROM $3::int FOR"
				 " $4::int) FROM artifact_chunk"
				 " WHERE id = $1 AND part = $2",
				 4, values, lengths);
	if (rc == 0)
		rc = store_postgres_wait(p, &res);
	if (rc == 0 && pq->ntuples(res) > 0) {
		got = (size_t)pq->getlength(res, 0, 0);
		if (got > *len)
			got = *len;
		memcpy(to, pq->getvalue(res, 0, 0), got);
	}
	if (res != NULL)
		pq->clear(res);
	*len = got;
	return chunk_rc(s, rc);
}

static int drop_chunks(struct store *s, const char *id)
{
	return change(s, "SELECT paddock_drop_chunks($1)", 1,
		      (const char *const[]){id}, NULL);
}

static int sweep_chunks(struct store *s, bool *more)
{
	char some[NUMBER_SIZE];
	int rc =
	    store_postgres_ask(postgres_of(s), "SELECT paddock_sweep_chunks()",
			       0, NULL, some, sizeof(some));

	if (rc == 0)
		*more |= some[0] == 't';
	return chunk_rc(s, rc);
}

const struct store_chunks store_postgres_chunks = {
    .begin = begin_chunks,
    .end = end_chunks,
    .put = put_chunk,
    .get = get_chunk,
    .drop = drop_chunks,
    .sweep = sweep_chunks,
};
