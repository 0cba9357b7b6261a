/* SPDX-License-Identifier: Apache-2.0 */
/* store_fixture.h - shared parts of the store's tests: a folder, an answer. */
#ifndef TESTS_UNIT_SUPERVISOR_STORE_STORE_FIXTURE_H
#define TESTS_UNIT_SUPERVISOR_STORE_STORE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/store.h"
#include "supervisor/store/store_impl.h"

/*
 * SQL which turns a SQLite file into a file of version 7, except for the version
 * number.
 */
#define HELP_VERSION_7                                                         \
	"DROP TRIGGER used_upload; DROP TRIGGER used_upload_gone;"             \
	"DROP TRIGGER used_upload_removed; DROP INDEX artifacts_own;"          \
	"DROP INDEX uploads; DROP INDEX uploads_over;"                         \
	"ALTER TABLE artifacts DROP COLUMN upload;"                            \
	"ALTER TABLE runs DROP COLUMN node; DROP TABLE staged;"                \
	"DROP INDEX runs_journal; DROP TABLE proposals;" STORE_RUN_ADDED(      \
	    HELP_DROP_COLUMN, )
#define HELP_DROP_COLUMN(t, n, name, ...)                                      \
	"ALTER TABLE runs DROP COLUMN " #name ";"

#define HELP_PAGE 128
#define HELP_DATA 4096
#define HELP_WAIT_MS 60000 /* only a broken store takes so long */

/* The kept arguments of a callback store_done. */
struct answer {
	int calls;
	int order; /* of all answers */
	int rc;
	char errmsg[512];
	size_t n;
	char ids[HELP_PAGE][ID_SIZE];
	enum store_status status[HELP_PAGE];
	bool bulk; /* did some row bring inputs, options, view or log? */
	char *inputs;
	char *view;
	char idem_key[64];
	int64_t updated_ms, finished_ms, expires_ms;
	int64_t total, size, artifact_expires_ms, artifact_bytes, row_bytes;
	size_t interrupted;
	char data[HELP_DATA];
	size_t len;
};

extern int help_order;

/*
 * True if PADDOCK_TEST_STORE asks for PostgreSQL: each state folder then has a schema
 * of its own.
 */
bool help_is_postgres(void);
/* The URL of the schema for STATE_DIR; the caller frees the text. */
char *help_url(const char *state_dir);
struct store *help_start(const char *state_dir, const char *instance);
/*
 * Start a store as on another machine: with a state folder of its own, and OTHER's
 * schema.
 */
struct store *help_start_beside(const char *state_dir, const char *other,
				const char *instance);
#define store_start(state_dir, instance) help_start(state_dir, instance)

/* For SQLite: start a store which never moves staged rows by itself. */
struct store *help_start_still(const char *dir, const char *instance);
/*
 * The number returned by SQL on a second connection; the number of staged and of moved
 * rows.
 */
int64_t help_count(const char *dir, const char *sql);
int64_t help_staged(const char *dir);
int64_t help_moved(const char *dir);

void help_done(void *arg, const struct store_result *res);

/* Dispatch until A has been told. */
void help_wait(struct store *s, const struct answer *a);
void help_clear(struct answer *a);

/* Make a fresh folder; help_remove() removes the folder. */
char *help_dir(void);
void help_remove(char *dir);
bool help_exists(const char *dir, const char *below);

/* Write TEXT to DIR/NAME; returns the path. */
char *help_file(const char *dir, const char *name, const char *text);
struct store_run help_run(const char *requestor, enum store_status status);

/*
 * Let S claim the waiting runs which a recovery left in the common queue, and add the
 * runs to A.
 */
void help_claim(struct store *s, struct answer *a);

/* Make a request and wait for the answer. */
int help_put(struct store *s, const struct store_run *run,
	     enum store_urgency urgency);
/* A run which has ended, with a view; the same as a stored run of alice. */
struct store_run help_ended(const char *requestor);
struct store_run help_put_ended(struct store *s);
int help_get(struct store *s, struct answer *a, const char *requestor,
	     const char *id);
int help_list(struct store *s, struct answer *a, const struct store_filter *f);
int help_read(struct store *s, struct answer *a, const char *requestor,
	      const char *id, int64_t offset, int64_t limit);

/*
 * The number of transactions which have changed the database, from the shared file of
 * all connections: https://www.sqlite.org/walformat.html, "iChange".
 */
uint32_t help_commits(const struct store *s);

/* Take the write lock, as another supervisor may do. */
struct help_db *help_lock(const char *dir);
void help_unlock(struct help_db *db);
/* A second connection to the database of the store in DIR. */
struct help_db *help_open(const char *dir);
long long help_number(struct help_db *db, const char *sql);
/* Like help_number(), for a text which fits into SIZE bytes. */
void help_text(struct help_db *db, const char *sql, char *to, size_t size);
void help_swept(struct store *s);
void help_sql(struct help_db *db, const char *sql);
void help_close(struct help_db *db);

/*
 * Stop the store's thread at a write which waits for the lock: requests from now until
 * help_unlock() are one batch.
 */
struct help_db *help_hold(const char *dir, struct store *s);
struct store_artifact help_artifact(const struct store_run *run, int64_t size);

#endif
