/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_private.h - shared by the files of the engine for PostgreSQL.
 */
#ifndef SUPERVISOR_STORE_POSTGRES_STORE_POSTGRES_PRIVATE_H
#define SUPERVISOR_STORE_POSTGRES_STORE_POSTGRES_PRIVATE_H

#include "supervisor/store/postgres/pq_link.h"
#include "supervisor/store/store_impl.h"

#define PARAMETERS 40
#define NUMBER_SIZE 24
#define PREPARED_SIZE 64 /* no more of a name is read there */
/* begins the name of a statement of connect(); a test knows what writes by it */
#define STORE_POSTGRES_WRITE "paddock_write"

struct cursor {
	struct store_cursor base;
	const struct pq *pq;
	enum store_stmt which;
	char name[PREPARED_SIZE];
	enum { NOT_PREPARED, SENT, PREPARED } state;
	struct store_value values[PARAMETERS];
	int n;
	PGresult *res; /* NULL: not executed, or read */
	int row, rows;
};

/* Another node whose heartbeat was not of now when we looked. */
struct seen {
	char id[ID_SIZE];
	int64_t heartbeat_ms; /* the database's… */
	int64_t since_ms;     /* …seen to be that since; CLOCK_BOOTTIME */
	int64_t lease_ms;
};

/*
 * The heartbeat, and what it finds of the others. It has a connection and a thread of
 * its own, since the store's may wait for a lock or a lost answer for longer than a
 * lease. LOCK is over all but LINK, which is the thread's; it is taken before the
 * store's.
 */
struct pulse {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool is_begun; /* there is that thread; the store's alone */
	atomic_bool stops;
	struct pq_link link;
	char instance[ID_SIZE]; /* whose it is; "": nobody's yet */
	bool is_lost;		/* its row is another's to remove, and gone */
	int64_t lease_ms;	/* of its row */
	struct seen *seen;
	size_t n_seen;
	int64_t looked_ms; /* CLOCK_BOOTTIME: others were last looked at */
	/* of whom we were connected to last, once that is known */
	char cluster[NUMBER_SIZE];
	int64_t timeline;
};

/* The store's db. */
struct postgres {
	struct pq_link link;
	struct pulse pulse;
	bool in_transaction; /* which writes: who reads needs none */
	bool joined;	     /* our row was among the nodes once */
	int open_rc;	     /* of the last try */
	int64_t batch;	     /* the number of the transaction that writes */
	int64_t settled;     /* the last that was done before this connection */
	int64_t retry_ms;    /* no connection is tried before */
	int64_t backoff_ms;
	int64_t changes;
	/* that begins what writes, as prepared: with the instance, as all of these, so
	   that no other server's is done by a connection that several have */
	char write_name[PREPARED_SIZE];
	unsigned names;		     /* given to statements */
	struct store_database about; /* when it was open last */
	struct cursor cursors[STORE_STMTS];
	/* first steps of requests that went ahead, and their answers */
	struct {
		const struct store_req *of; /* NULL: it was taken */
		enum store_stmt which;
	} ahead[STORE_AHEAD];
	PGresult *ahead_res[STORE_AHEAD];
	int n_ahead;
	bool goes_ahead; /* between ahead_begin() and ahead_wait() */
};

static inline struct postgres *postgres_of(const struct store *s)
{
	return s->db;
}

/* RC and the link's words, as S->errmsg and the other; RC. */
int store_postgres_failed(struct store *s, int rc);
/* All that was sent: as pq_link_wait(), and what was to be prepared is. */
int store_postgres_wait(struct postgres *p, PGresult **res);
int store_postgres_wait_each(struct postgres *p, PGresult **res, int n);
/* SQL with N texts, and the text of its one row's first column, or "". */
int store_postgres_ask(struct postgres *p, const char *sql, int n,
		       const char *const *values, char *to, size_t size);

/* The server that P->link is of, its schema's version too; 0 or -errno and words. */
int store_postgres_note_server(struct postgres *p);
/* May L be written by, and is it to who was promoted last? 0 or -errno and words. */
int store_postgres_check_writable(struct pulse *u, struct pq_link *l,
				  bool *standby);
/* How many nodes live, by a round trip that is timed: into P->about. */
int store_postgres_count_nodes(struct postgres *p);
/* The version of its tables, 0: there are none. 0 or -errno and words. */
int store_postgres_schema(struct postgres *p, int64_t *version);
/* May VERSION be used, or raised to ours? 0, or -errno and words. */
int store_postgres_schema_ok(struct postgres *p, int64_t version);
void store_postgres_about(struct store *s, struct store_database *about);

/* ---- store_postgres_node.c ---- */

/* Our row, which is made once: who has taken us for dead has removed it for good. */
int store_postgres_join(struct store *s);
/* A heartbeat of INSTANCE's by L. 0, or -errno and words; -EOWNERDEAD: its row is gone. */
int store_postgres_beat_by(struct store *s, struct pq_link *l,
			   const char *instance);
/* Nothing is known of how long others have been silent. */
void store_postgres_forget_seen(struct pulse *u);

/* ---- store_postgres_pulse.c ---- */

void store_postgres_pulse_init(struct pulse *u);
/* Our row is there: from now on it beats by itself. 0 or -errno. */
int store_postgres_pulse_begin(struct store *s);
/* We have another name, and no row yet. */
void store_postgres_pulse_rejoin(struct pulse *u);
bool store_postgres_pulse_is_lost(struct pulse *u);
void store_postgres_pulse_end(struct pulse *u); /* fine when it has not begun */

/* ---- */

/* ---- store_postgres_ahead.c ---- */

void store_postgres_ahead_begin(struct store *s);
int store_postgres_ahead_wait(struct store *s);
/* What is asked for S->doing was sent. */
void store_postgres_ahead_sent(struct store *s, enum store_stmt which);
/* The answer to WHICH of S->doing, if it went ahead; the caller's. */
PGresult *store_postgres_ahead_take(struct store *s, enum store_stmt which);
void store_postgres_ahead_forget(struct store *s);

/* ---- store_postgres_listen.c ---- */

/* The connection is new: others can wake us by it. 0, or -errno and it is broken. */
int store_postgres_listen(struct store *s);

/* ---- */

/* A new connection, now: 0, or -errno and the link's words, and it is closed. */
int store_postgres_connect(struct store *s);

/* Of the engine. */
void store_postgres_rest(struct store *s, int wake_fd, int64_t until_ms);
void store_postgres_hear(struct store *s);
int store_postgres_open(struct store *s);
void store_postgres_close(struct store *s);
bool store_postgres_is_open(const struct store *s);
void store_postgres_rejoin(struct store *s);
int store_postgres_beat(struct store *s);
void store_postgres_leave(struct store *s);
int store_postgres_lives(struct store *s, const char *instance);
int store_postgres_bury(struct store *s, const char *instance, bool is_dead);

extern const struct store_chunks store_postgres_chunks;

#endif
