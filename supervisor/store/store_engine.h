/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_engine.h - the functions that a database gives to the store; the files
 * of store/db call only these. Only the store's thread calls; one statement of
 * a name is under way at a time.
 *
 * A failure is -errno, with S->errmsg and S->why_rc set: -EEXIST, a unique
 * value exists already, and -EINVAL, a table refuses the row, which both leave
 * the transaction as it was; -E2BIG, more than a row may have; every other
 * error keeps the database from its work.
 */
#ifndef SUPERVISOR_STORE_STORE_ENGINE_H
#define SUPERVISOR_STORE_STORE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_AHEAD 64 /* reads whose first statements go together, at most */

struct store;
struct store_database;
struct store_engine;

/* The number that N is defined as, in a statement. */
#define STORE_TEXT(n) STORE_TEXT_OF(n)
#define STORE_TEXT_OF(n) #n

enum store_stmt {
#define STORE_STMT(name, ...) STMT_##name,
#include "supervisor/store/store_statements.def"
	STORE_STMTS
};

/* What a statement is given for a parameter. */
struct store_value {
	bool is_text;
	/* lent until the statement's last step; NULL is null */
	const char *text;
	int64_t number;
};

/* A statement under way, and the row that it is at: the engine's has it first. */
struct store_cursor {
	const struct store_engine *engine;
};

/*
 * Bytes of artifacts in rows of a part each. A writer says first of which artifact,
 * and again in each transaction; no part is anybody's before the last one ends it,
 * beside the artifact's row. What was begun and not ended, and what was dropped, is
 * litter: it goes by and by. 0 or -errno.
 */
struct store_chunks {
	/* -ESTALE: what was written AGAIN and again has been taken for litter. */
	int (*begin)(struct store *s, const char *id, bool again);
	int (*end)(struct store *s, const char *id);
	int (*put)(struct store *s, const char *id, int64_t part,
		   const void *data, size_t len);
	/* Bytes of a part into TO: *LEN of them from FROM on, or as many as there are. */
	int (*get)(struct store *s, const char *id, int64_t part, size_t from,
		   void *to, size_t *len);
	int (*drop)(struct store *s, const char *id);
	int (*sweep)(struct store *s, bool *more); /* a little of the litter */
};

#define STORE_CHUNK_BYTES ((size_t)1 << 20) /* of all parts but the last */

struct store_engine {
	/* A statement that writes may be without a transaction around it. */
	bool commits_alone;
	/*
	 * In a transaction that writes: rows of STMT_STAGE_RUN are put where they
	 * belong, by STMT_PUT_RUN and in order. NULL: none is ever staged.
	 */
	int (*unstage)(struct store *s);
	/*
	 * For what only moves what is durable already: until it is said again, without
	 * RELAXED, a commit is whole or not there, but not durable, nothing of it is
	 * written before, and others' locks are waited for but briefly.
	 */
	void (*relax)(struct store *s, bool relaxed);
	/*
	 * Between these two a statement's first step is sent, in order, for the request
	 * S->doing, and is -EINPROGRESS; then all answers are waited for at once, and the
	 * same step of that request has its own: 0 or -errno. NULL: it would not be faster.
	 */
	void (*ahead_begin)(struct store *s);
	int (*ahead_wait)(struct store *s);
	void (*ahead_forget)(
	    struct store *s); /* answers that nobody asked for again */

	/* Open what is closed, and raise the schema: 0, or -errno and closed. */
	int (*open)(struct store *s);
	void (*close)(struct store *s); /* fine when it is */
	bool (*is_open)(const struct store *s);
	bool (*is_usable)(struct store *s); /* open, and nothing to be mended */
	int (*touch)(struct store *s);	    /* write what is there already */
	bool (*in_transaction)(const struct store *s);
	int64_t (*changes)(const struct store *s); /* rows of the last change */
	/* What it says itself of what failed last; lent until the next call. */
	const char *(*words)(const struct store *s);

	/*
	 * The statement, to be bound from 1 on; what could not be prepared its
	 * first step tells. STEP: 1 a row; 0 the end, and it is reset; -errno the
	 * same.
	 */
	struct store_cursor *(*prepare)(struct store *s, enum store_stmt which);
	void (*bind)(struct store_cursor *c, int at, struct store_value v);
	int (*step)(struct store *s, struct store_cursor *c);
	void (*reset)(struct store_cursor *c);

	/* Of the row, from 0 on; a text is lent until the next step. */
	int (*columns)(const struct store_cursor *c);
	bool (*is_null)(const struct store_cursor *c, int at);
	const char *(*text)(const struct store_cursor *c, int at); /* or NULL */
	size_t (*length)(const struct store_cursor *c, int at);
	int64_t (*number)(const struct store_cursor *c, int at);

	/*
	 * Runs lie in pieces by the time in their ids: a list looks at the newest
	 * few of so many ms first. 0: they lie together.
	 */
	int64_t piece_ms;
	/*
	 * In a sweep's transaction: what has expired of such pieces goes as a whole,
	 * and those of the time to come are made. NULL: it goes by statements.
	 */
	int (*tidy)(struct store *s, int64_t now_ms);

	/*
	 * Instances of several machines, by rows; NULL: those of one, by locks on
	 * files of the state folder alone. From OPEN on the engine says that we live;
	 * BEAT, every so often, looks whether the database is there, and we are who we
	 * were. LEAVE says that we go.
	 */
	int (*beat)(struct store *s);
	void (*leave)(struct store *s);
	/* What is known of a server, of ABOUT all but what the queue knows. */
	void (*about)(struct store *s, struct store_database *about);
	/* S has another name, and none of what it was stays. */
	void (*rejoin)(struct store *s);
	/*
	 * The thread has nothing to do until UNTIL_MS (monotonic), or WAKE_FD is
	 * readable: then, or sooner, this returns. Whether others wake us it sees
	 * meanwhile, and tells. NULL: nobody does.
	 */
	void (*rest)(struct store *s, int wake_fd, int64_t until_ms);
	/* The same of who never rests: of what came beside answers. */
	void (*hear)(struct store *s);
	/* Does INSTANCE? 1, 0 or -errno. */
	int (*lives)(struct store *s, const char *instance);
	/*
	 * In a transaction that takes over what INSTANCE had, when it is dead, or is
	 * known to be: it can write no more. 1; 0: it lives; or -errno.
	 */
	int (*bury)(struct store *s, const char *instance, bool is_dead);

	const struct store_chunks *chunks; /* NULL: artifacts are files */
};

extern const struct store_engine store_sqlite, store_postgres;

/* Of the database of S->url, without a row or a table made: 0 or -errno, as above. */
int store_postgres_look(struct store *s, struct store_database *about);

#endif
