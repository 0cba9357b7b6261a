/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pq_link.c - connects to PostgreSQL, sends statements, and waits for answers
 * with a bound; for store_postgres.c, on one thread at a time. A failure is
 * -errno and a line of text; a link without an answer counts as broken, since
 * the effect of the statements is unknown.
 */
#include "supervisor/store/postgres/pq_link.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/store/postgres/pq_password.h"

#define CONNECT_MS 5000
#define ANSWER_MS 8000 /* longer than statement_timeout */
/* a peer that acknowledges nothing for so long is gone */
#define DEAD_MS "3000"
#define SESSION_SIZE 24
#define STEP_MS 100 /* between two checks of LIVES */

/*
 * Plans must use indexes even when a new partition has no statistics yet: every
 * query has an index. So generic plans are made once for all parameters:
 * planning over days of many rows takes longer than reading a page. JIT is off,
 * since compiling an expensive plan takes a second. A lock is awaited longer than
 * deadlock_timeout (1 s, unless the DBA sets another time), so that of two nodes that
 * wait for each other the database aborts one, and the other goes on.
 */
#define SETTINGS                                                               \
	"SET enable_seqscan = off;"                                            \
	"SET enable_bitmapscan = off;"                                         \
	"SET plan_cache_mode = force_generic_plan;"                            \
	"SET jit = off;"                                                       \
	"SET statement_timeout = 5000;"                                        \
	"SELECT set_config('lock_timeout', least(4000, 500 + 1000 * extract("  \
	"epoch FROM current_setting('deadlock_timeout')::interval))::int"      \
	"::text, false);"                                                      \
	"SET idle_in_transaction_session_timeout = 30000;"                     \
	"SET client_min_messages = error;"

static void ignore(void *arg, const char *text)
{
	(void)arg, (void)text;
}

/*
 * Join the lines of the server's message to a single line without a newline at the end.
 */
static void set_words(struct pq_link *l, const char *text)
{
	size_t n = 0;

	for (; *text != '\0' && n < sizeof(l->words) - 1; text++) {
		bool space = *text == '\n' || *text == '\t' || *text == ' ';

		if (!space)
			l->words[n++] = *text;
		else if (n > 0 && l->words[n - 1] != ' ')
			l->words[n++] = ' ';
	}
	while (n > 0 && l->words[n - 1] == ' ')
		n--;
	l->words[n] = '\0';
}

static int broken(struct pq_link *l, const char *text)
{
	set_words(l, text);
	l->broken = true;
	return -ENOTCONN;
}

/* libpq refused a call, normally because the connection is gone. */
static int link_refused(struct pq_link *l)
{
	return broken(l, l->pq->errorMessage(l->conn));
}

/* Wait for EVENTS of the socket, in short steps. 0, or the link is broken. */
static int wait_socket(struct pq_link *l, short events, int64_t until_ms)
{
	struct pollfd p = {.fd = l->pq->socket(l->conn), .events = events};

	do {
		if (l->lives != NULL && !l->lives(l->arg))
			return broken(l, "given up, since it is to stop");
		if (clock_mono_ms() >= until_ms)
			return broken(l, "no answer in time");
	} while (poll(&p, 1, STEP_MS) <= 0);
	return 0;
}

/* An error message at connect has no SQLSTATE, so search the text. */
static int connect_fault(const char *text)
{
	static const char *const denied[] = {
	    "authentication", "password",      "pg_hba.conf",
	    "does not exist", "not permitted", "permission denied"};

	for (size_t i = 0; i < ARRAY_LEN(denied); i++)
		if (strstr(text, denied[i]) != NULL)
			return -EKEYREJECTED;
	return -ENOTCONN;
}

static int64_t until(const struct pq_link *l, int usual_ms)
{
	return l->until_ms > 0 ? l->until_ms : clock_mono_ms() + usual_ms;
}

static int connect_in_time(struct pq_link *l)
{
	int64_t until_ms = until(l, CONNECT_MS);
	PostgresPollingStatusType state = PGRES_POLLING_WRITING;
	int rc = 0;

	while (rc == 0 && state != PGRES_POLLING_OK &&
	       l->pq->status(l->conn) != CONNECTION_BAD) {
		rc = wait_socket(
		    l, state == PGRES_POLLING_READING ? POLLIN : POLLOUT,
		    until_ms);
		if (rc == 0)
			state = l->pq->connectPoll(l->conn);
		if (state == PGRES_POLLING_FAILED)
			break;
	}
	if (rc != 0 || state == PGRES_POLLING_OK)
		return rc;
	link_refused(l);
	return connect_fault(l->words);
}

/* Connect; no statement was sent yet. */
static int open_plain(struct pq_link *l, const char *url)
{
	static const char *const keys[] = {"dbname",
					   "password",
					   "fallback_application_name",
					   "client_encoding",
					   "tcp_user_timeout",
					   "gssencmode",
					   NULL};
	const char *values[] = {url,	 NULL,	    "paddockd", "UTF8",
				DEAD_MS, "disable", NULL};
	char password[PQ_PASSWORD_SIZE];
	int rc;

	l->broken = l->is_pipeline = false;
	l->pq = pq_load();
	if (l->pq == NULL) {
		set_words(l, "libpq is not installed (Debian: libpq5)");
		return -ELIBACC;
	}
	rc = pq_password_read(password, l->words, sizeof(l->words));
	if (rc != 0)
		return rc;
	values[1] = password[0] != '\0' ? password : NULL;
	l->conn = l->pq->connectStartParams(keys, values, 1);
	explicit_bzero(password, sizeof(password));
	if (l->conn == NULL)
		return -ENOMEM;
	l->pq->setNoticeProcessor(l->conn, ignore, NULL);
	rc = connect_in_time(l);
	if (rc == 0 && l->pq->setnonblocking(l->conn, 1) != 0)
		rc = link_refused(l);
	return rc;
}

/* ---- poolers ---- */

/* The server process that answers L now; 0: no answer. */
static long backend_pid(struct pq_link *l)
{
	char pid[SESSION_SIZE];
	int rc = pq_link_ask(l, "SELECT pg_backend_pid()", pid, sizeof(pid));

	return rc == 0 ? strtol(pid, NULL, 10) : 0;
}

/* Do the open links L and OTHER keep a session each, whatever the order of queries? */
static bool have_own(struct pq_link *l, struct pq_link *other, long session)
{
	long before = backend_pid(l), theirs = backend_pid(other);
	long after = backend_pid(l);

	return l->broken || other->broken ||
	       (before == session && after == session && theirs != session);
}

/*
 * Settings, prepared statements, LISTEN and locks belong to a session. PostgreSQL itself
 * reports the process id at connect, and a pooler reports another number; only a second
 * connection reveals whether a pooler keeps a session for each client.
 */
static int check_own(struct pq_link *l, const char *url)
{
	struct pq_link other = {
	    .until_ms = l->until_ms, .lives = l->lives, .arg = l->arg};
	long session = backend_pid(l);
	bool own = true;

	if (l->broken)
		return -ENOTCONN;
	if (session == l->pq->backendPID(l->conn))
		return 0;
	if (open_plain(&other, url) == 0)
		own = have_own(l, &other, session);
	pq_link_close(&other);
	if (l->broken)
		return -ENOTCONN;
	if (own)
		return 0;
	set_words(l,
		  "a pooler before it gives each transaction another session");
	return -EREMCHG;
}

int pq_link_open(struct pq_link *l, const char *url)
{
	int rc = open_plain(l, url);

	if (rc == 0)
		rc = check_own(l, url);
	return rc == 0 ? pq_link_run(l, SETTINGS) : rc;
}

void pq_link_close(struct pq_link *l)
{
	if (l->conn != NULL)
		l->pq->finish(l->conn);
	l->conn = NULL;
}

/* ---- answers ---- */

/* Flush the output, and wait until a result can be read without blocking. */
static int wait_result(struct pq_link *l, int64_t until_ms)
{
	int left = l->pq->flush(l->conn), rc = 0;

	while (left > 0 || l->pq->isBusy(l->conn)) {
		if (left < 0)
			return link_refused(l);
		rc = wait_socket(l, left > 0 ? POLLIN | POLLOUT : POLLIN,
				 until_ms);
		if (rc != 0)
			return rc;
		if (l->pq->consumeInput(l->conn) == 0)
			return link_refused(l);
		left = l->pq->flush(l->conn);
	}
	return left < 0 ? link_refused(l) : 0;
}

static int query_failed(struct pq_link *l, const PGresult *res)
{
	const char *state = l->pq->resultErrorField(res, PG_DIAG_SQLSTATE);
	const char *text =
	    l->pq->resultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	int rc;

	if (state == NULL || l->pq->status(l->conn) == CONNECTION_BAD)
		return link_refused(l);
	set_words(l, text != NULL ? text : "");
	rc = pq_fault(state);
	/* a server that became a standby: the next connect may find the new primary */
	if (rc == -ENOTCONN || rc == -EREMOTEIO)
		l->broken = true;
	return rc;
}

/* Make RES the *LAST result, or keep RES beside others. */
static void take_result(struct pq_link *l, PGresult **last, PGresult *res)
{
	if (l->keeps == 0 || l->pq->resultStatus(res) != PGRES_TUPLES_OK) {
		l->pq->clear(*last);
		*last = res;
		return;
	}
	if (l->n_kept == l->keeps) {
		l->pq->clear(l->kept[0]);
		memmove(l->kept, l->kept + 1,
			sizeof(PGresult *) * (size_t)--l->n_kept);
	}
	l->kept[l->n_kept++] = res;
}

/*
 * Read results to the end of the sent statements: the mark of the pipeline,
 * else NULL. Returns the first error; *LAST is the last result.
 */
static int read_results(struct pq_link *l, PGresult **last)
{
	int64_t until_ms = until(l, ANSWER_MS);
	int rc = 0, wait_rc;
	PGresult *res;

	for (int nulls = 0;;) {
		ExecStatusType status;

		wait_rc = wait_result(l, until_ms);
		if (wait_rc != 0)
			return wait_rc;
		res = l->pq->getResult(l->conn);
		if (res == NULL) {
			if (!l->is_pipeline)
				return rc;
			if (++nulls > 1 &&
			    l->pq->status(l->conn) == CONNECTION_BAD)
				return link_refused(l);
			continue;
		}
		nulls = 0;
		status = l->pq->resultStatus(res);
		if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
			take_result(l, last, res);
			continue;
		}
		if (status == PGRES_FATAL_ERROR && rc == 0)
			rc = query_failed(l, res);
		l->pq->clear(res);
		if (status == PGRES_PIPELINE_SYNC || l->broken)
			return rc;
		/* for copies libpq returns a result after another, without an end mark */
		if (status != PGRES_FATAL_ERROR &&
		    status != PGRES_NONFATAL_ERROR &&
		    status != PGRES_PIPELINE_ABORTED &&
		    status != PGRES_EMPTY_QUERY)
			return broken(l, "an answer that nothing asks for");
	}
}

int pq_link_wait(struct pq_link *l, PGresult **res)
{
	int rc = 0;

	*res = NULL;
	if (l->conn == NULL || l->broken)
		return -ENOTCONN;
	if (l->is_pipeline && l->pq->pipelineSync(l->conn) == 0)
		return link_refused(l);
	rc = read_results(l, res);
	if (rc != 0) {
		l->pq->clear(*res);
		*res = NULL;
	}
	return rc;
}

int pq_link_wait_each(struct pq_link *l, PGresult **res, int n)
{
	PGresult *last;
	int rc;

	l->kept = res;
	l->keeps = n;
	l->n_kept = 0;
	rc = pq_link_wait(l, &last);
	l->keeps = 0;
	l->pq->clear(last);
	if (rc == 0 && l->n_kept < n)
		rc = broken(l, "fewer answers than questions");
	while (rc != 0 && l->n_kept > 0)
		l->pq->clear(res[--l->n_kept]);
	return rc;
}

/* ---- notifications ---- */

int pq_link_read(struct pq_link *l)
{
	return l->pq->consumeInput(l->conn) != 0 ? 0 : link_refused(l);
}

bool pq_link_notified(struct pq_link *l, char *text, size_t size)
{
	PGnotify *n = l->pq->notifies(l->conn);

	if (n == NULL)
		return false;
	snprintf(text, size, "%s", n->extra);
	l->pq->freemem(n);
	return true;
}

/* ---- sending ---- */

static int sent(struct pq_link *l, int done)
{
	return done != 0 ? 0 : link_refused(l);
}

int pq_link_run(struct pq_link *l, const char *sql)
{
	PGresult *res = NULL;
	int rc = sent(l, l->pq->sendQuery(l->conn, sql));

	if (rc == 0)
		rc = pq_link_wait(l, &res);
	l->pq->clear(res);
	return rc;
}

int pq_link_ask(struct pq_link *l, const char *sql, char *to, size_t size)
{
	PGresult *res = NULL;
	int rc = sent(l, l->pq->sendQuery(l->conn, sql));

	if (rc == 0)
		rc = pq_link_wait(l, &res);
	to[0] = '\0';
	if (rc == 0 && l->pq->ntuples(res) > 0)
		snprintf(to, size, "%s", l->pq->getvalue(res, 0, 0));
	l->pq->clear(res);
	return rc;
}

int pq_link_pipeline(struct pq_link *l)
{
	int rc = sent(l, l->pq->enterPipelineMode(l->conn));

	l->is_pipeline = rc == 0;
	return rc;
}

int pq_link_prepare(struct pq_link *l, const char *name, const char *sql, int n,
		    const Oid *types)
{
	return sent(l, l->pq->sendPrepare(l->conn, name, sql, n, types));
}

int pq_link_send(struct pq_link *l, const char *name, int n,
		 const char *const *values)
{
	return sent(l, l->pq->sendQueryPrepared(l->conn, name, n, values, NULL,
						NULL, 0));
}

int pq_link_send_params(struct pq_link *l, const char *sql, int n,
			const char *const *values)
{
	return sent(l, l->pq->sendQueryParams(l->conn, sql, n, NULL, values,
					      NULL, NULL, 0));
}

int pq_link_send_sql(struct pq_link *l, const char *sql)
{
	return pq_link_send_params(l, sql, 0, NULL);
}

/* Results are in binary format, too. */
int pq_link_send_binary(struct pq_link *l, const char *sql, int n,
			const char *const *values, const int *len)
{
	int formats[PQ_LINK_PARAMETERS];

	assert(n <= PQ_LINK_PARAMETERS);
	for (int i = 0; i < n; i++)
		formats[i] = len[i] > 0;
	return sent(l, l->pq->sendQueryParams(l->conn, sql, n, NULL, values,
					      len, formats, 1));
}
