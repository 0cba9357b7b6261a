/* SPDX-License-Identifier: Apache-2.0 */
/* store_postgres_private.h - shared by the files of the engine for PostgreSQL. */
#ifndef SUPERVISOR_STORE_POSTGRES_STORE_POSTGRES_PRIVATE_H
#define SUPERVISOR_STORE_POSTGRES_STORE_POSTGRES_PRIVATE_H

#include "supervisor/store/postgres/pq_link.h"
#include "supervisor/store/store_impl.h"

#define PARAMETERS 40
#define NUMBER_SIZE 24
#define PREPARED_SIZE 64 /* PostgreSQL cuts longer names */
/* the prefix of a statement that connect() prepares; a test finds writes by the prefix */
#define STORE_POSTGRES_WRITE "paddock_write"

struct cursor {
	struct store_cursor base;
	const struct pq *pq;
	enum store_stmt which;
	char name[PREPARED_SIZE];
	enum { NOT_PREPARED, SENT, PREPARED } state;
	struct store_value values[PARAMETERS];
	int n;
	PGresult *res; /* NULL: not executed, or completely read */
	int row, rows;
};

/* A node whose heartbeat was out of date at the last observation. */
struct seen {
	char id[ID_SIZE];
	int64_t heartbeat_ms; /* in the database's time */
	/* first observation of heartbeat_ms; CLOCK_BOOTTIME */
	int64_t since_ms;
	int64_t lease_ms;
};

/*
 * The heartbeat, and the observation of other nodes. The heartbeat has a
 * separate connection and thread, since the store's connection may wait for a
 * lock or an answer for longer than a lease. LOCK protects all members but
 * LINK, which belongs to the thread; LOCK is taken before the store's lock.
 */
struct pulse {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool is_begun; /* the thread exists; for the store's thread alone */
	atomic_bool stops;
	struct pq_link link;
	char instance[ID_SIZE]; /* of this node; "": none yet */
	bool is_lost;		/* a survivor removed this node's row */
	int64_t lease_ms;	/* of this node's row */
	struct seen *seen;
	size_t n_seen;
	int64_t looked_ms; /* CLOCK_BOOTTIME of the last observation */
	/* of the last connected database cluster, once known */
	char cluster[NUMBER_SIZE];
	int64_t timeline;
};

/* The engine's part of a store, s->db. */
struct postgres {
	struct pq_link link;
	struct pulse pulse;
	bool in_transaction; /* of a write: reads need no transaction */
	bool hurries;	     /* locks of other sessions are awaited briefly */
	bool joined;	     /* the row of this node was in the table once */
	int open_rc;	     /* result of the last try */
	int64_t batch;	     /* the number of the transaction that writes */
	/* number of the last transaction committed before this connection */
	int64_t settled;
	int64_t retry_ms; /* no earlier try to connect */
	int64_t backoff_ms;
	int64_t changes;
	/*
	 * the prepared statement that begins a write. All names have the
	 * instance's id, so that a pooler that shares a connection cannot
	 * execute another server's statement
	 */
	char write_name[PREPARED_SIZE];
	unsigned names;		     /* number of prepared statements so far */
	struct store_database about; /* at the last open connection */
	struct cursor cursors[STORE_STMTS];
	/* first steps of requests that were sent ahead, and the answers */
	struct {
		const struct store_req *of; /* NULL: the answer was taken */
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

/* Set S->why_rc to RC, and S->errmsg from the link's words. Returns RC. */
int store_postgres_failed(struct store *s, int rc);
/* Wait for all sent statements, as pq_link_wait(), and mark statements as prepared. */
int store_postgres_wait(struct postgres *p, PGresult **res);
int store_postgres_wait_each(struct postgres *p, PGresult **res, int n);
/* Execute SQL with N texts, and copy the first column of the only row to TO, or "". */
int store_postgres_ask(struct postgres *p, const char *sql, int n,
		       const char *const *values, char *to, size_t size);

/* Note the server of P->link, with the schema's version; 0 or -errno and words. */
int store_postgres_note_server(struct postgres *p);
/* Does L accept writes, and is the server the latest primary? 0 or -errno and words. */
int store_postgres_check_writable(struct pulse *u, struct pq_link *l,
				  bool *standby);
/* Count the live nodes, and measure the round trip: the result is in P->about. */
int store_postgres_count_nodes(struct postgres *p);
/* Get the version of the tables, 0: no tables. 0 or -errno and words. */
int store_postgres_schema(struct postgres *p, int64_t *version);
/* Can VERSION be used or migrated? 0, or -errno and words. */
int store_postgres_schema_ok(struct postgres *p, int64_t version);
void store_postgres_about(struct store *s, struct store_database *about);

/* ---- store_postgres_node.c ---- */

/* Make this node's row, only once: a row that another node removed stays removed. */
int store_postgres_join(struct store *s);
/*
 * Send a heartbeat of INSTANCE on L. 0, or -errno and words; -EOWNERDEAD: the
 * row is gone.
 */
int store_postgres_beat_by(struct store *s, struct pq_link *l,
			   const char *instance);
/* Forget how long other nodes have been silent. */
void store_postgres_forget_seen(struct pulse *u);

/* ---- store_postgres_pulse.c ---- */

void store_postgres_pulse_init(struct pulse *u);
/* Start the heartbeat's thread, once this node's row exists. 0 or -errno. */
int store_postgres_pulse_begin(struct store *s);
/* Note that this node has a new id, without a row yet. */
void store_postgres_pulse_rejoin(struct pulse *u);
bool store_postgres_pulse_is_lost(struct pulse *u);
/* or do nothing before the begin */
void store_postgres_pulse_end(struct pulse *u);

/* ---- store_postgres_ahead.c ---- */

void store_postgres_ahead_begin(struct store *s);
int store_postgres_ahead_wait(struct store *s);
/* Note that WHICH was sent for S->doing. */
void store_postgres_ahead_sent(struct store *s, enum store_stmt which);
/* Take the answer to WHICH of S->doing, if sent ahead; the caller owns the result. */
PGresult *store_postgres_ahead_take(struct store *s, enum store_stmt which);
void store_postgres_ahead_forget(struct store *s);

/* ---- store_postgres_listen.c ---- */

/* Listen for wake-ups on the new connection. 0, or -errno and a broken link. */
int store_postgres_listen(struct store *s);

/* Connect now: 0, or -errno with the link's words, and closed. */
int store_postgres_connect(struct store *s);

/* Functions of the engine. */
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
