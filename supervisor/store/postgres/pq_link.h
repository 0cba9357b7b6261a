/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_link.h - a connection to PostgreSQL. Statements are sent in a pipeline without
 * waiting; pq_link_wait() waits. No call blocks for longer than the bound of the call, or
 * than LIVES allows. Calls return 0 or -errno, with WORDS: pq_fault.c maps errors to
 * -errno. After -ENOTCONN the link is broken: close and reopen the link.
 */
#ifndef SUPERVISOR_STORE_POSTGRES_PQ_LINK_H
#define SUPERVISOR_STORE_POSTGRES_PQ_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/store/postgres/pq.h"

#define PQ_LINK_WORDS 320
#define PQ_LINK_PARAMETERS 8 /* of a statement with binary parameters */

struct pq_link {
	const struct pq *pq;
	PGconn *conn; /* NULL: closed */
	bool broken;
	bool is_pipeline;
	/* the message of the last failure, in one line */
	char words[PQ_LINK_WORDS];
	/*
	 * of CLOCK_MONOTONIC, the bound for all calls together; 0: the usual
	 * bound of each call
	 */
	int64_t until_ms;
	/* of pq_link_wait_each(): the last results with rows, at most KEEPS */
	PGresult **kept;
	int keeps, n_kept;
	bool (*lives)(void *arg); /* false: give up; or NULL */
	void *arg;
};

/*
 * Connect to the database of URL (lent). -EREMCHG: a pooler before the server
 * gives each transaction another session.
 */
int pq_link_open(struct pq_link *l, const char *url);
void pq_link_close(struct pq_link *l); /* or do nothing if closed */

/* Execute SQL, one or more statements without parameters; outside of a pipeline. */
int pq_link_run(struct pq_link *l, const char *sql);
/* Execute a statement, and copy the first column of the only row to TO, or "". */
int pq_link_ask(struct pq_link *l, const char *sql, char *to, size_t size);

/* From now on statements are sent in a pipeline, and executed in order. */
int pq_link_pipeline(struct pq_link *l);
int pq_link_prepare(struct pq_link *l, const char *name, const char *sql, int n,
		    const Oid *types);
int pq_link_send(struct pq_link *l, const char *name, int n,
		 const char *const *values);
int pq_link_send_sql(struct pq_link *l, const char *sql);
/* As pq_link_send_sql(), with texts as parameters. */
int pq_link_send_params(struct pq_link *l, const char *sql, int n,
			const char *const *values);
/*
 * As pq_link_send_params(), with binary parameters: LEN has the lengths of
 * binary values, and 0 for texts.
 */
int pq_link_send_binary(struct pq_link *l, const char *sql, int n,
			const char *const *values, const int *len);
/*
 * Wait until all sent statements are executed; after a failed statement none is executed,
 * and the failure is returned. *RES is the last result, which the caller clears.
 */
int pq_link_wait(struct pq_link *l, PGresult **res);

/*
 * As pq_link_wait(), and RES gets the last N results with rows. Another number
 * of results breaks the link.
 */
int pq_link_wait_each(struct pq_link *l, PGresult **res, int n);

/* Read arrived notifications without waiting. */
int pq_link_read(struct pq_link *l);
/* Get the text of a read notification; false: no notification is left. */
bool pq_link_notified(struct pq_link *l, char *text, size_t size);

/* The -errno of SQLSTATE. */
int pq_fault(const char *sqlstate);

#endif
