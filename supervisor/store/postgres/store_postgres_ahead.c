/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_ahead.c - answers to the first statements of several reads, sent
 * together and awaited once. store_batch.c chooses the reads, and store_postgres.c
 * sends the statements. A statement that fails fails all reads, as in any batch.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <errno.h>

void store_postgres_ahead_forget(struct store *s)
{
	struct postgres *p = postgres_of(s);

	for (int i = 0; i < p->n_ahead; i++)
		if (p->ahead[i].of != NULL && p->ahead_res[i] != NULL)
			p->link.pq->clear(p->ahead_res[i]);
	p->n_ahead = 0;
	p->goes_ahead = false;
}

void store_postgres_ahead_begin(struct store *s)
{
	struct postgres *p = postgres_of(s);

	store_postgres_ahead_forget(s);
	p->goes_ahead = true;
}

void store_postgres_ahead_sent(struct store *s, enum store_stmt which)
{
	struct postgres *p = postgres_of(s);

	p->ahead[p->n_ahead].of = s->doing;
	p->ahead[p->n_ahead].which = which;
	p->ahead_res[p->n_ahead++] = NULL;
}

int store_postgres_ahead_wait(struct store *s)
{
	struct postgres *p = postgres_of(s);
	int n = p->n_ahead, rc = 0;

	p->goes_ahead = false;
	if (n > 0)
		rc = store_postgres_wait_each(p, p->ahead_res, n);
	if (rc == 0)
		return 0;
	p->n_ahead = 0;
	if (p->link.broken)
		p->in_transaction = false;
	return store_postgres_failed(s, rc);
}

PGresult *store_postgres_ahead_take(struct store *s, enum store_stmt which)
{
	struct postgres *p = postgres_of(s);

	for (int i = 0; i < p->n_ahead; i++) {
		if (p->ahead[i].of == NULL || p->ahead[i].of != s->doing ||
		    p->ahead[i].which != which)
			continue;
		p->ahead[i].of = NULL;
		return p->ahead_res[i];
	}
	return NULL;
}
