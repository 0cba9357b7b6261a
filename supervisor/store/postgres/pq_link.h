/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_link.h - a connection to PostgreSQL. What is sent goes into a pipeline and is
 * not waited for; pq_link_wait() is. Nothing here blocks for longer than its own
 * bound, or than LIVES says.
 *
 * Calls return 0 or -errno, with WORDS: in pq_fault.c is what becomes of which
 * error. After -ENOTCONN the link is broken: close it, and open it again.
 */
#ifndef SUPERVISOR_STORE_POSTGRES_PQ_LINK_H
#define SUPERVISOR_STORE_POSTGRES_PQ_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "supervisor/store/postgres/pq.h"

#define PQ_LINK_WORDS 320
#define PQ_LINK_PARAMETERS 8 /* of what is sent as binary */

struct pq_link {
	const struct pq *pq;
	PGconn *conn; /* NULL: closed */
	bool broken;
	bool is_pipeline;
	char words[PQ_LINK_WORDS]; /* of what failed last, in one line */
	/* of CLOCK_MONOTONIC, for all that is done by it; 0: as usual, for each step */
	int64_t until_ms;
	/* of pq_link_wait_each(): the last rows that came, at most KEEPS of them */
	PGresult **kept;
	int keeps, n_kept;
	bool (*lives)(void *arg); /* false: give up; or NULL */
	void *arg;
};

/*
 * Connect to the database that URL names (lent). -EREMCHG: a pooler stands before it, and
 * gives each transaction another session.
 */
int pq_link_open(struct pq_link *l, const char *url);
void pq_link_close(struct pq_link *l); /* fine when it is */

/* SQL, of statements with no parameter, done; outside of the pipeline. */
int pq_link_run(struct pq_link *l, const char *sql);
/* One such statement, and the text of its one row's first column, or "". */
int pq_link_ask(struct pq_link *l, const char *sql, char *to, size_t size);

/* From here on what is sent is done in order, when it may be. */
int pq_link_pipeline(struct pq_link *l);
int pq_link_prepare(struct pq_link *l, const char *name, const char *sql, int n,
		    const Oid *types);
int pq_link_send(struct pq_link *l, const char *name, int n,
		 const char *const *values);
int pq_link_send_sql(struct pq_link *l, const char *sql);
/* The same with parameters, which are texts. */
int pq_link_send_params(struct pq_link *l, const char *sql, int n,
			const char *const *values);
/* The same; of the values LEN has the lengths of those that are binary, 0 elsewhere. */
int pq_link_send_binary(struct pq_link *l, const char *sql, int n,
			const char *const *values, const int *len);
/*
 * All that was sent is done, or the first that failed is told and none after it
 * was. *RES is what the last brought: the caller clears it.
 */
int pq_link_wait(struct pq_link *l, PGresult **res);

/* The same; the last N that bring rows, as all of RES. Another number is broken. */
int pq_link_wait_each(struct pq_link *l, PGresult **res, int n);

/* What has come unasked is read, without waiting. */
int pq_link_read(struct pq_link *l);
/* One notification that was read, and its text; false: there is none. */
bool pq_link_notified(struct pq_link *l, char *text, size_t size);

/* What SQLSTATE comes to: -errno. */
int pq_fault(const char *sqlstate);

#endif
