/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres.c - PostgreSQL as the store's engine (store_engine.h): prepares
 * statements at their first use, sends statements in a pipeline, and waits only for a
 * needed result. A failure is -errno and a sentence, and rolls the transaction back.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/postgres/store_postgres_schema.h"

#define TEXT_OID 25
#define INT8_OID 20
/* how long to ask whether a commit without an answer took effect */
#define RESOLVE_MS 3000
#define HURRY "SET LOCAL lock_timeout = 100"
/* tables that a transaction with the end of a run writes to */
#define LOCK                                                                   \
	"LOCK TABLE runs, artifacts, mail, shown, queue, news, counts, usage," \
	" used IN ROW EXCLUSIVE MODE"

static struct cursor *cursor_of(const struct store_cursor *c)
{
	return (struct cursor *)(uintptr_t)c;
}

/* ---- statements ---- */

static void clear(struct cursor *c)
{
	if (c->res != NULL)
		c->pq->clear(c->res);
	c->res = NULL;
}

static struct store_cursor *prepare_pq(struct store *s, enum store_stmt which)
{
	struct cursor *c = &postgres_of(s)->cursors[which];

	clear(c);
	c->base.engine = &store_postgres;
	c->pq = postgres_of(s)->link.pq;
	c->which = which;
	c->n = 0;
	return &c->base;
}

static void bind(struct store_cursor *base, int at, struct store_value v)
{
	struct cursor *c = cursor_of(base);

	c->values[at - 1] = v;
	if (at > c->n)
		c->n = at;
}

/*
 * Prepare with the types of the values, which are the same at each use of the statement.
 */
static int send_prepare(struct postgres *p, struct cursor *c)
{
	char *sql = xstrdup(store_postgres_statements[c->which]);
	Oid types[PARAMETERS];
	int rc;

	/* PostgreSQL's parameters are $1 and so on */
	for (char *p_at = sql; (p_at = strchr(p_at, '?')) != NULL; p_at++)
		*p_at = '$';
	for (int i = 0; i < c->n; i++)
		types[i] = c->values[i].is_text ? TEXT_OID : INT8_OID;
	/* a new name each time, since a failure may leave the old name behind */
	snprintf(c->name, sizeof(c->name), "s%u_%.*s", ++p->names,
		 PREPARED_SIZE / 2,
		 p->write_name + strlen(STORE_POSTGRES_WRITE));
	rc = pq_link_prepare(&p->link, c->name, sql, c->n, types);
	c->state = SENT;
	free(sql);
	return rc;
}

static int send_statement(struct postgres *p, struct cursor *c)
{
	const char *values[PARAMETERS];
	char numbers[PARAMETERS][NUMBER_SIZE];
	int rc = c->state == NOT_PREPARED ? send_prepare(p, c) : 0;

	for (int i = 0; i < c->n; i++) {
		values[i] = c->values[i].text;
		if (c->values[i].is_text)
			continue;
		snprintf(numbers[i], NUMBER_SIZE, "%" PRId64,
			 c->values[i].number);
		values[i] = numbers[i];
	}
	return rc != 0 ? rc : pq_link_send(&p->link, c->name, c->n, values);
}

/*
 * After success the sent statements count as prepared; after a failure the
 * state is unknown.
 */
static void note_prepared(struct postgres *p, bool well)
{
	for (size_t i = 0; i < STORE_STMTS; i++)
		if (p->cursors[i].state == SENT)
			p->cursors[i].state = well ? PREPARED : NOT_PREPARED;
}

int store_postgres_wait(struct postgres *p, PGresult **res)
{
	int rc = pq_link_wait(&p->link, res);

	note_prepared(p, rc == 0);
	return rc;
}

int store_postgres_wait_each(struct postgres *p, PGresult **res, int n)
{
	int rc = pq_link_wait_each(&p->link, res, n);

	note_prepared(p, rc == 0);
	return rc;
}

/* Execute SQL with N texts, and copy the first column of the only row to TO, or "". */
int store_postgres_ask(struct postgres *p, const char *sql, int n,
		       const char *const *values, char *to, size_t size)
{
	const struct pq *pq = p->link.pq;
	int rc = pq_link_send_params(&p->link, sql, n, values);
	PGresult *res = NULL;

	if (rc == 0)
		rc = store_postgres_wait(p, &res);
	if (rc != 0)
		return rc;
	snprintf(to, size, "%s",
		 pq->ntuples(res) > 0 ? pq->getvalue(res, 0, 0) : "");
	pq->clear(res);
	return 0;
}

static void note_result(struct postgres *p, struct cursor *c, PGresult *res)
{
	const struct pq *pq = p->link.pq;

	p->changes = strtoll(pq->cmdTuples(res), NULL, 10);
	c->res = res;
	c->row = -1;
	c->rows = pq->ntuples(res);
}

/* ---- transactions ---- */

static int send_begin(struct store *s, struct postgres *p, struct cursor *c)
{
	char number[NUMBER_SIZE];
	const char *const values[] = {s->instance, number};
	int rc = send_statement(p, c);

	p->in_transaction = true;
	if (rc == 0 && p->hurries)
		rc = pq_link_send_sql(&p->link, HURRY);
	if (rc != 0)
		return rc;
	snprintf(number, sizeof(number), "%" PRId64, ++p->batch);
	return pq_link_send(&p->link, p->write_name, 2, values);
}

/*
 * The connection broke during a commit. The number of the batch in this node's
 * row tells whether the commit took effect. 0; -errno: no, or unknown in time,
 * or unknown forever since the row is gone.
 */
static int resolve(struct store *s, struct postgres *p, int rc)
{
	int64_t until_ms = clock_mono_ms() + RESOLVE_MS;

	for (int i = 0; clock_mono_ms() < until_ms; i++) {
		int open_rc = store_postgres_connect(s);

		if (open_rc == 0)
			return p->settled == p->batch ? 0 : rc;
		if (open_rc == -EOWNERDEAD)
			return open_rc;
		if (!store_pause(s, i))
			break;
	}
	return rc;
}

static int commit(struct store *s, struct postgres *p, struct cursor *c)
{
	int rc = send_statement(p, c);
	PGresult *res = NULL;

	if (rc == 0)
		rc = store_postgres_wait(p, &res);
	/* COMMIT of a failed transaction is a rollback */
	if (rc == 0 && strcmp(p->link.pq->cmdStatus(res), "COMMIT") != 0) {
		snprintf(p->link.words, sizeof(p->link.words),
			 "what was written before has failed");
		rc = -EIO;
	}
	if (res != NULL)
		p->link.pq->clear(res);
	/* else an earlier failure kept the COMMIT from being executed */
	if (rc == 0 || p->link.broken)
		p->in_transaction = false;
	return rc == -ENOTCONN ? resolve(s, p, rc) : rc;
}

/* ---- steps ---- */

/* Can the statement be sent without waiting, since no caller needs the result? */
static bool is_deferred(const struct store *s, enum store_stmt which)
{
	if (which == STMT_PUT_RUN || which == STMT_PUT_ARTIFACT)
		return !s->alone; /* a single request learns of a refused row */
	switch (which) {
	case STMT_EXPIRE_ARTIFACTS:
	case STMT_SHOW:
	case STMT_DROP_SESSION:
	case STMT_DROP_SESSIONS:
	case STMT_ENQUEUE:
	case STMT_QUEUE_CLOCK:
	case STMT_FORGET_NEWS:
	case STMT_FORGET_SERVED:
	case STMT_SERVE:
	case STMT_HEARD:
	case STMT_EXPIRED_NEWS:
	case STMT_FORGET_GONE_SERVED:
	case STMT_FORGET_GONE_CPU:
	case STMT_DROP_MAIL:
		return true;
	default:
		return false;
	}
}

static int send_and_wait(struct postgres *p, struct cursor *c)
{
	PGresult *res = NULL;
	int rc = send_statement(p, c);

	if (rc == 0)
		rc = store_postgres_wait(p, &res);
	if (rc == 0)
		note_result(p, c, res);
	return rc;
}

/* Execute a statement so that a refused row leaves the transaction intact. */
static int guarded(struct postgres *p, struct cursor *c)
{
	char words[PQ_LINK_WORDS];
	PGresult *res = NULL;
	int rc = pq_link_send_sql(&p->link, "SAVEPOINT put"), back;

	if (rc == 0)
		rc = send_and_wait(p, c);
	if (rc == 0)
		return pq_link_send_sql(&p->link, "RELEASE SAVEPOINT put");
	if (!store_is_refused(rc) && rc != -E2BIG)
		return rc;
	memcpy(words, p->link.words, sizeof(words));
	back = pq_link_send_sql(&p->link, "ROLLBACK TO SAVEPOINT put");
	if (back == 0)
		back = store_postgres_wait(p, &res);
	if (res != NULL)
		p->link.pq->clear(res);
	memcpy(p->link.words, words, sizeof(words));
	return back == 0 ? rc : back;
}

static int execute(struct store *s, struct postgres *p, struct cursor *c)
{
	switch (c->which) {
	/* each statement reads the committed state, with or without a transaction */
	case STMT_BEGIN_READ:
		return 0;
	case STMT_BEGIN_WRITE:
		return send_begin(s, p, c);
	case STMT_COMMIT:
		if (p->in_transaction)
			return commit(s, p, c);
		/* the transaction of a write is gone with the link */
		return p->link.broken ? -ENOTCONN : 0;
	case STMT_ROLLBACK:
		p->in_transaction = false;
		return send_and_wait(p, c);
	case STMT_PUT_RUN:
	case STMT_PUT_ARTIFACT:
		if (s->alone)
			return guarded(p, c);
		break;
	default:
		break;
	}
	return is_deferred(s, c->which) ? send_statement(p, c)
					: send_and_wait(p, c);
}

static int step_pq(struct store *s, struct store_cursor *base)
{
	struct postgres *p = postgres_of(s);
	struct cursor *c = cursor_of(base);
	PGresult *res;
	int rc = 0;

	if (c->res == NULL) {
		/* an answer that was sent ahead */
		res = store_postgres_ahead_take(s, c->which);
		if (res != NULL)
			note_result(p, c, res);
		else if (p->goes_ahead)
			rc = send_statement(p, c);
		else
			rc = execute(s, p, c);
		if (res == NULL && p->goes_ahead && rc == 0) {
			store_postgres_ahead_sent(s, c->which);
			return -EINPROGRESS;
		}
	}
	if (p->link.broken)
		p->in_transaction = false;
	if (rc != 0)
		return store_postgres_failed(s, rc);
	if (c->res != NULL && ++c->row < c->rows)
		return 1;
	clear(c);
	return 0;
}

static void reset_pq(struct store_cursor *base)
{
	clear(cursor_of(base));
}

static int columns(const struct store_cursor *base)
{
	const struct cursor *c = cursor_of(base);

	return c->pq->nfields(c->res);
}

static bool is_null_pq(const struct store_cursor *base, int at)
{
	const struct cursor *c = cursor_of(base);

	return c->pq->getisnull(c->res, c->row, at) != 0;
}

static const char *text(const struct store_cursor *base, int at)
{
	const struct cursor *c = cursor_of(base);

	return is_null_pq(base, at) ? NULL
				    : c->pq->getvalue(c->res, c->row, at);
}

static size_t length_pq(const struct store_cursor *base, int at)
{
	const struct cursor *c = cursor_of(base);

	return (size_t)c->pq->getlength(c->res, c->row, at);
}

static int64_t number_pq(const struct store_cursor *base, int at)
{
	const char *digits = text(base, at);

	return digits != NULL ? strtoll(digits, NULL, 10) : 0;
}

static bool is_usable(struct store *s)
{
	return store_postgres_is_open(s);
}

static void hurry(struct store *s, bool hurries)
{
	postgres_of(s)->hurries = hurries;
}

/*
 * The transaction of the probe has already written to this node's row. The locks
 * of writers are tested only after a failed write, so that a start never waits
 * for a DBA's lock.
 */
static int touch(struct store *s)
{
	char none[2];
	int rc = s->failing[0] == '\0' && !postgres_of(s)->hurries
		     ? 0
		     : store_postgres_ask(postgres_of(s), LOCK, 0, NULL, none,
					  sizeof(none));

	return rc == 0 ? 0 : store_postgres_failed(s, rc);
}

static bool in_transaction(const struct store *s)
{
	return postgres_of(s)->in_transaction;
}

static int64_t changes(const struct store *s)
{
	return postgres_of(s)->changes;
}

static const char *engine_words_pq(const struct store *s)
{
	return postgres_of(s)->link.words;
}

static int tidy(struct store *s, int64_t now_ms)
{
	struct postgres *p = postgres_of(s);
	char now[NUMBER_SIZE], done[NUMBER_SIZE];
	const char *const values[] = {now};
	int rc;

	snprintf(now, sizeof(now), "%" PRId64, now_ms);
	rc = store_postgres_ask(p, "SELECT paddock_make_days($1::bigint)", 1,
				values, done, sizeof(done));
	if (rc == 0)
		rc = store_postgres_ask(p,
					"SELECT paddock_drop_days($1::bigint)",
					1, values, done, sizeof(done));
	return rc == 0 ? 0 : store_postgres_failed(s, rc);
}

const struct store_engine store_postgres = {
    .piece_ms = STORE_POSTGRES_DAY_MS,
    .tidy = tidy,
    .ahead_begin = store_postgres_ahead_begin,
    .ahead_wait = store_postgres_ahead_wait,
    .ahead_forget = store_postgres_ahead_forget,
    .open = store_postgres_open,
    .close = store_postgres_close,
    .is_open = store_postgres_is_open,
    .is_usable = is_usable,
    .touch = touch,
    .hurry = hurry,
    .in_transaction = in_transaction,
    .changes = changes,
    .words = engine_words_pq,
    .prepare = prepare_pq,
    .bind = bind,
    .step = step_pq,
    .reset = reset_pq,
    .columns = columns,
    .is_null = is_null_pq,
    .text = text,
    .length = length_pq,
    .number = number_pq,
    .rest = store_postgres_rest,
    .hear = store_postgres_hear,
    .beat = store_postgres_beat,
    .leave = store_postgres_leave,
    .about = store_postgres_about,
    .rejoin = store_postgres_rejoin,
    .lives = store_postgres_lives,
    .bury = store_postgres_bury,
    .chunks = &store_postgres_chunks,
};
