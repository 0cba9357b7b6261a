/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_engine.h - the functions that a database engine offers to the store;
 * the files of store/db call only these functions. Only the store's thread
 * calls; at most one statement of a name is executed at a time. A failure is
 * -errno, with S->errmsg and S->why_rc set: -EEXIST, a unique value exists
 * already, and -EINVAL, a table refuses the row, both leave the transaction
 * unchanged; -E2BIG: the row exceeds the size limit; any other error means that
 * the database does not work.
 */
#ifndef SUPERVISOR_STORE_STORE_ENGINE_H
#define SUPERVISOR_STORE_STORE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_AHEAD 64 /* most reads whose first statements are sent together */

struct store;
struct store_database;
struct store_engine;

/* The value of the macro N as text for a statement. */
#define STORE_TEXT(n) STORE_TEXT_OF(n)
#define STORE_TEXT_OF(n) #n

enum store_stmt {
#define STORE_STMT(name, ...) STMT_##name,
#include "supervisor/store/store_statements.def"
	STORE_STMTS
};

/* The value of a parameter of a statement. */
struct store_value {
	bool is_text;
	/* lent until the statement's last step; NULL means SQL's null */
	const char *text;
	int64_t number;
};

/*
 * A statement in execution with the current row; the first member of the
 * engine's own struct.
 */
struct store_cursor {
	const struct store_engine *engine;
};

/*
 * Bytes of artifacts in rows, a row for each part. A writer first calls begin() with the
 * artifact, and again in each transaction; no part belongs to an artifact before the row
 * of the artifact exists and the last part is written, by end(). Unfinished and dropped
 * parts are litter, which sweep() deletes gradually. 0 or -errno.
 */
struct store_chunks {
	/* AGAIN: not the first transaction. -ESTALE: the parts were swept as litter. */
	int (*begin)(struct store *s, const char *id, bool again);
	int (*end)(struct store *s, const char *id);
	int (*put)(struct store *s, const char *id, int64_t part,
		   const void *data, size_t len);
	/*
	 * Copy bytes of a part to TO: *LEN bytes from FROM on, or fewer at the
	 * end of the part.
	 */
	int (*get)(struct store *s, const char *id, int64_t part, size_t from,
		   void *to, size_t *len);
	int (*drop)(struct store *s, const char *id);
	int (*sweep)(struct store *s, bool *more); /* delete a little litter */
};

#define STORE_CHUNK_BYTES ((size_t)1 << 20) /* of all parts but the last */

struct store_engine {
	/* A single statement that writes may run without a transaction. */
	bool commits_alone;
	/*
	 * In a transaction that writes: move the rows of STMT_STAGE_RUN to the table of
	 * runs, by STMT_PUT_RUN and in order. NULL: the engine never stages rows.
	 */
	int (*unstage)(struct store *s);
	/*
	 * For writes that only move rows which are durable already: until a call with
	 * RELAXED false, a commit is atomic but not durable, nothing is written to the
	 * disk before, and locks of other processes are awaited only briefly.
	 */
	void (*relax)(struct store *s, bool relaxed);
	/*
	 * While HURRIES, a transaction that writes awaits locks of other sessions only
	 * briefly, and touch() tests the locks of tables. NULL: a lock is of the whole
	 * database, never of a row.
	 */
	void (*hurry)(struct store *s, bool hurries);
	/*
	 * Between ahead_begin() and ahead_wait() the first step of a statement
	 * is sent, in order, for the request S->doing, and returns
	 * -EINPROGRESS; then ahead_wait() awaits all answers at once, and the
	 * same step of the same request returns the request's answer: 0 or
	 * -errno. NULL: sending ahead would not be faster.
	 */
	void (*ahead_begin)(struct store *s);
	int (*ahead_wait)(struct store *s);
	void (*ahead_forget)(
	    struct store *s); /* drop answers that no request asked for again */

	/*
	 * Open the database if closed, and migrate the schema: 0, or -errno and closed.
	 */
	int (*open)(struct store *s);
	void (*close)(struct store *s); /* or do nothing if closed */
	bool (*is_open)(const struct store *s);
	/* open, and without need of repair */
	bool (*is_usable)(struct store *s);
	int (*touch)(struct store *s); /* write an unchanged value */
	bool (*in_transaction)(const struct store *s);
	int64_t (*changes)(const struct store *s); /* rows of the last change */
	/* The database's own message for the last failure; lent until the next call. */
	const char *(*words)(const struct store *s);

	/*
	 * Prepare the statement, whose parameters are bound from 1 on; the
	 * first step reports a failure to prepare. STEP returns 1 for a row; 0
	 * at the end, or -errno, and both reset the statement.
	 */
	struct store_cursor *(*prepare)(struct store *s, enum store_stmt which);
	void (*bind)(struct store_cursor *c, int at, struct store_value v);
	int (*step)(struct store *s, struct store_cursor *c);
	void (*reset)(struct store_cursor *c);

	/* Columns of the row, from 0 on; a text is lent until the next step. */
	int (*columns)(const struct store_cursor *c);
	bool (*is_null)(const struct store_cursor *c, int at);
	const char *(*text)(const struct store_cursor *c, int at); /* or NULL */
	size_t (*length)(const struct store_cursor *c, int at);
	int64_t (*number)(const struct store_cursor *c, int at);

	/*
	 * Runs are partitioned by the time in their ids: a list first reads the
	 * newest few partitions of so many ms. 0: no partitions.
	 */
	int64_t piece_ms;
	/*
	 * In a sweep's transaction: drop expired partitions as a whole, and create the
	 * partitions of the near future. NULL: statements delete expired rows.
	 */
	int (*tidy)(struct store *s, int64_t now_ms);

	/*
	 * Instances on several machines, known by rows; NULL: instances on one machine,
	 * known by locks on files of the state folder. From OPEN on the engine maintains
	 * a heartbeat of this instance; BEAT, called periodically, checks that the
	 * database is reachable and that this instance still counts as alive. LEAVE
	 * records that this instance ends.
	 */
	int (*beat)(struct store *s);
	void (*leave)(struct store *s);
	/*
	 * Fill ABOUT with the facts about a database server, except facts about
	 * the queue.
	 */
	void (*about)(struct store *s, struct store_database *about);
	/* S has a new instance id; drop everything that belonged to the old id. */
	void (*rejoin)(struct store *s);
	/*
	 * The thread is idle until UNTIL_MS (monotonic), or until WAKE_FD is
	 * readable: then, or sooner, the function returns. Meanwhile the engine
	 * reports wake-ups by other instances. NULL: no instance wakes another.
	 */
	void (*rest)(struct store *s, int wake_fd, int64_t until_ms);
	/*
	 * Report wake-ups that arrived beside answers, for a thread that is never idle.
	 */
	void (*hear)(struct store *s);
	/* Is INSTANCE alive? 1, 0 or -errno. */
	int (*lives)(struct store *s, const char *instance);
	/*
	 * In a transaction that takes over the rows of INSTANCE: if INSTANCE is
	 * dead, or IS_DEAD, prevent any further write by INSTANCE, and return
	 * 1. 0: INSTANCE is alive; or -errno.
	 */
	int (*bury)(struct store *s, const char *instance, bool is_dead);

	const struct store_chunks *chunks; /* NULL: artifacts are files */
};

extern const struct store_engine store_sqlite, store_postgres;

/*
 * Describe the database of S->url without creating a row or a table: 0 or
 * -errno, as above.
 */
int store_postgres_look(struct store *s, struct store_database *about);

#endif
