/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_staged.c - stages rows of ended runs for SQLite: a commit writes a page
 * of each changed tree, and the table "runs" has eight trees, so a row is first
 * committed to the small table "staged". Rows move to "runs" many at a time, in
 * idle moments or at the start of any other transaction, so no read misses a
 * staged row. store_batch.c and the store's thread call the functions. Rows
 * that cannot be moved stay in "staged", where reads by id find the rows.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>

#include "base/clock.h"

/* staged in a transaction: more rows share pages of the eight trees anyway */
#define ROWS_MAX 6
#define BYTES_MAX 16384 /* pages of a larger row would be written twice */
#define STAGED_MAX 512	/* most rows, while moving fails */
#define BLIND_MS 2000	/* pause until a locked database is tried again */

/*
 * A row with an idempotency key is not staged: the index of "runs" must check
 * the key at once.
 */
static bool is_stageable(const struct store_req *r)
{
	return r->op == &store_op_put_run && r->run.status > STORE_RUNNING &&
	       r->run.idem_key == NULL && !r->run.corrects &&
	       store_row_bytes(&r->run) <= BYTES_MAX;
}

size_t store_stageable(const struct store *s, const struct store_reqs *batch)
{
	const struct store_req *r;
	size_t n = 0;

	if (s->engine->unstage == NULL)
		return 0;
	STAILQ_FOREACH(r, batch, link) {
		if (r->decided || r->superseded_by != NULL)
			continue;
		if (!is_stageable(r) || s->company + ++n > ROWS_MAX)
			return 0;
	}
	return s->staged + n <= STAGED_MAX ? n : 0;
}

static int number_of(struct store *s, enum store_stmt which, int64_t *n)
{
	struct store_cursor *st = store_sql(s, which);
	int rc;

	*n = 0;
	while ((rc = store_sql_step(s, st)) == 1)
		*n = store_number(st, 0);
	return rc;
}

int store_is_staged(struct store *s)
{
	int64_t n;
	int rc = number_of(s, STMT_IS_STAGED, &n);

	return rc == 0 ? n > 0 : rc;
}

int store_count_staged(struct store *s)
{
	int64_t n = 0;
	int rc = 0;

	if (s->engine->unstage != NULL)
		rc = number_of(s, STMT_COUNT_STAGED, &n);
	s->staged = (size_t)n;
	return rc;
}

int store_unstage(struct store *s)
{
	int staged = s->engine->unstage != NULL ? store_is_staged(s) : 0;

	return staged == 1 ? s->engine->unstage(s) : staged;
}

static int begin_moving(struct store *s)
{
	int rc;

	s->engine->relax(s, true);
	rc = store_sql_run(s, STMT_BEGIN_WRITE);
	return rc == 0 ? store_unstage(s) : rc;
}

static int end_moving(struct store *s, int rc)
{
	if (rc == 0)
		rc = store_sql_run(s, STMT_COMMIT);
	if (rc == 0)
		s->staged = 0;
	else
		store_sql_rollback(s);
	s->engine->relax(s, false);
	return rc;
}

int store_unstage_now(struct store *s)
{
	return end_moving(s, begin_moving(s));
}

/*
 * Rows move when many are staged; else when no request came during the time of
 * a deferred row, since then the thread wakes once more before a long sleep.
 */
int64_t store_unstage_due_ms(const struct store *s, int64_t due)
{
	bool idle = due == STORE_FOREVER && !s->worked;

	return s->staged >= STORE_STAGED_MANY || (s->staged > 0 && idle)
		   ? s->unstage_ms
		   : STORE_FOREVER;
}

typedef int execute_fn(struct store *s, struct store_reqs *batch);

/* With UNLESS_STAGED: -EAGAIN without reading, if rows are staged. */
static int read_plain(struct store *s, struct store_reqs *batch,
		      execute_fn *execute, bool unless_staged)
{
	int rc = store_sql_run(s, STMT_BEGIN_READ);

	if (rc != 0)
		return rc;
	if (unless_staged)
		rc = store_is_staged(s);
	if (rc == 1)
		rc = -EAGAIN;
	if (rc == 0)
		rc = execute(s, batch);
	if (rc == 0)
		rc = store_sql_run(s, STMT_COMMIT);
	if (rc != 0)
		store_sql_rollback(s);
	return rc;
}

/*
 * Read without moving staged rows, since the lock is unavailable or the state
 * is out of order. Then a run is found by id with the current row, but lists
 * and sums lack the last few ended runs: better than no answer. A lock held by
 * another process is no failure of this instance.
 */
static int read_blind(struct store *s, struct store_reqs *batch,
		      execute_fn *execute)
{
	int rc;

	s->blind = true;
	rc = read_plain(s, batch, execute, false);
	s->blind = false;
	return rc;
}

/*
 * Move the rows and read in one transaction. The read is right even if the commit fails,
 * as on a full disk: then the move is undone, and the rows stay staged.
 */
static int read_moving(struct store *s, struct store_reqs *batch,
		       execute_fn *execute)
{
	int rc = begin_moving(s);

	if (rc == 0) {
		rc = execute(s, batch);
		if (rc != 0)
			return end_moving(s, rc);
		(void)end_moving(s, 0);
		return 0;
	}
	end_moving(s, rc);
	if (rc == -EBUSY)
		s->errmsg[0] = '\0';
	s->blind_until_ms = clock_mono_ms() + BLIND_MS;
	return read_blind(s, batch, execute);
}

int store_read(struct store *s, struct store_reqs *batch, execute_fn *execute)
{
	int rc;

	if (s->engine->unstage == NULL)
		return read_plain(s, batch, execute, false);
	if (clock_mono_ms() < s->blind_until_ms)
		return read_blind(s, batch, execute);
	if (s->staged > 0)
		return read_moving(s, batch, execute);
	rc = read_plain(s, batch, execute, true);
	return rc == -EAGAIN ? read_moving(s, batch, execute) : rc;
}
