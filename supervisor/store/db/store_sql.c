/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sql.c - opens the database of the store and executes statements, for
 * the files of store/db on the store's thread. A table converts each error to
 * -errno and a sentence for clients and operators; a lock of another process is
 * awaited as long as the retries last.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/mem.h"
#include "supervisor/store/state/state_file.h"

/* of 10 ms each: transactions of other processes are short */
#define BUSY_TRIES 500
#define BUSY_STEP_NS (10 * 1000000L)

static const struct pointer_error {
	int rc;
	/* exit status if the start finds the error; 0: the error may pass */
	int status;
	/* for clients, about the server: no path, no figure */
	const char *said;
	const char *text; /* for the operator, after the path */
} remedies[] = {
    {-ENOSPC, 0, "its disk is full",
     "free space on that file system, which is the database's where url names "
     "one, or else move state_dir"},
    {-EDQUOT, 0, "its disk quota is used up",
     "free space within the quota, or have it raised"},
    {-EFBIG, EX_UNAVAILABLE, "a file of its state may not grow",
     "raise the limit on the size of files (ulimit -f)"},
    {-EROFS, EX_UNAVAILABLE, "its state cannot be written",
     "make it writable, or set another state_dir"},
    {-EACCES, EX_NOPERM, "it may not read or write its state",
     "let this user read and write there, or set another state_dir"},
    {-EPERM, EX_NOPERM, "it may not read or write its state",
     "let this user read and write there, or set another state_dir"},
    {-ENOTDIR, EX_CONFIG, "its state is not where it should be",
     "a file is where a folder should be: set another state_dir"},
    {-EBUSY, EX_UNAVAILABLE, "another process holds its state",
     "another process holds it: see which by fuser, or in PostgreSQL by "
     "pg_locks, and end it"},
    {-EXFULL, 0, "as many of your runs wait as may",
     "it is when fewer of them wait"},
    {-ENOBUFS, 0, "too much of yours waits to be read there",
     "it is when other servers have read more of it"},
    {-EUCLEAN, EX_UNAVAILABLE, "its record of runs is damaged",
     "it is damaged: stop paddockd, and move it away or restore it"},
    {-ENOTSUP, EX_UNAVAILABLE, "its record of runs is a newer paddock's",
     "a newer paddock wrote it: run that one, or set another state_dir"},
    {-ENOTCONN, EX_UNAVAILABLE, "its database cannot be reached",
     "see whether PostgreSQL runs there and may be reached, or set another "
     "url"},
    {-EREMOTEIO, EX_UNAVAILABLE, "its database takes no writes",
     "promote it, or name the one that does in url: of several hosts "
     "target_session_attrs=read-write finds it"},
    {-ESTALE, EX_UNAVAILABLE, "its database is an older primary",
     "another has taken its place since: end it, or make it a standby of that "
     "one"},
    {-ENOKEY, EX_CONFIG, "it has no password for its database",
     "give password_file a file with the password in its first line that nobody "
     "else may read"},
    {-EKEYREJECTED, EX_UNAVAILABLE, "its database lets it not in",
     "see its user and password (password_file, PGPASSFILE), pg_hba.conf and the rights that "
     "it has there"},
    {-EPROTONOSUPPORT, EX_CONFIG, "its database is of another version",
     "run the paddockd that wrote it, or a newer one, or set another url"},
    {-EREMCHG, EX_CONFIG, "its database is behind a pooler by transactions",
     "name PostgreSQL itself in url, or have the pooler keep a session for each "
     "client (pgbouncer: pool_mode = session)"},
    {-ELIBACC, EX_UNAVAILABLE, "it lacks a library",
     "install it, or unset url"},
    {-EOWNERDEAD, EX_UNAVAILABLE, "another server took it for dead",
     "it goes on as another in a moment; its database did not hear of it for "
     "too long, so see what is between them"},
    {-EDEADLK, 0, "others write the same in its database", "try again"},
    {-ENOMEM, 0, "it lacks memory", "give the supervisor more memory"},
    {-EMFILE, 0, "it has too many files open",
     "raise the limit on open files (ulimit -n)"},
    {-EIO, EX_UNAVAILABLE, "its disk fails", "check the disk (dmesg)"},
    {-ENOMEDIUM, 0, "its bytes are not where this server keeps artifacts",
     "restore it or run again; servers of one database need the same artifacts "
     "in [store]"},
    {-E2BIG, 0, "it is more than a record may hold",
     "make its result smaller, or an artifact"},
    {-ECANCELED, 0, "it is being stopped", "start it again"},
};

static const struct pointer_error *sql_fault(int rc)
{
	static const struct pointer_error other = {
	    0, EX_UNAVAILABLE, "its state cannot be used",
	    "check the path and its owner"};

	for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
		if (remedies[i].rc == rc)
			return &remedies[i];
	return &other;
}

const char *store_says(int rc)
{
	return sql_fault(rc)->said;
}

const char *store_remedy(int rc)
{
	return sql_fault(rc)->text;
}

int store_ends_start(int rc)
{
	return sql_fault(rc)->status;
}

int store_failed(struct store *s, int rc, const char *path)
{
	s->why_rc = rc;
	snprintf(s->errmsg, sizeof(s->errmsg), "%s: %s; %s", path,
		 strerror(-rc), store_remedy(rc));
	return rc;
}

bool store_is_refused(int rc)
{
	return rc == -EEXIST || rc == -EINVAL;
}

struct store_cursor *store_sql(struct store *s, enum store_stmt which)
{
	return s->engine->prepare(s, which);
}

struct store_cursor *store_query_values(struct store *s, enum store_stmt which,
					const struct store_value *v, size_t n)
{
	struct store_cursor *st = store_sql(s, which);

	for (size_t i = 0; i < n; i++)
		store_bind(st, (int)i + 1, v[i]);
	return st;
}

int store_sql_step(struct store *s, struct store_cursor *st)
{
	return s->engine->step(s, st);
}

void store_sql_reset(struct store_cursor *st)
{
	st->engine->reset(st);
}

int store_sql_run(struct store *s, enum store_stmt which)
{
	struct store_cursor *st = store_sql(s, which);
	int rc = store_sql_step(s, st);

	if (rc > 0)
		store_sql_reset(st);
	return rc < 0 ? rc : 0;
}

/* Roll back, and keep the message of the original failure. */
void store_sql_rollback(struct store *s)
{
	char errmsg[STORE_WHY_SIZE];
	int why_rc = s->why_rc;

	if (!s->engine->in_transaction(s))
		return;
	memcpy(errmsg, s->errmsg, sizeof(errmsg));
	store_sql_run(s, STMT_ROLLBACK);
	memcpy(s->errmsg, errmsg, sizeof(errmsg));
	s->why_rc = why_rc;
}

bool store_pause(struct store *s, int count)
{
	bool abandon;

	pthread_mutex_lock(&s->lock);
	abandon = s->abandon;
	pthread_mutex_unlock(&s->lock);
	if (abandon || count >= BUSY_TRIES)
		return false;
	nanosleep(&(struct timespec){.tv_nsec = count < 10 ? BUSY_STEP_NS / 10
							   : BUSY_STEP_NS},
		  NULL);
	return true;
}

/* A missing folder, as in /proc, is not the same error as a missing row. */
static int no_folder(struct store *s, int rc, const char *path)
{
	store_failed(s, rc, path);
	if (rc == -ENOENT)
		s->why_rc = rc = -ENXIO;
	return rc;
}

int store_sql_open(struct store *s)
{
	int rc;

	if (s->engine->is_usable(s))
		return 0;
	s->engine->close(s);
	rc = state_file_mkdirs(s->dir);
	if (rc != 0)
		return no_folder(s, rc, s->dir);
	rc = state_file_folder_ok(s->files);
	if (rc != 0)
		return no_folder(s, rc, s->files);
	rc = store_instance_lock(s);
	if (rc == 0)
		rc = s->engine->open(s);
	return rc == 0 ? store_count_staged(s) : rc;
}

void store_sql_close(struct store *s)
{
	s->engine->close(s);
}
