/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_staged.c - stages rows of ended runs for SQLite: a commit writes a page
 * of each changed tree, and the table "runs" has eight trees, so a row is first
 * committed to a small table of its own. Rows move to "runs" many at a time, in
 * idle moments or at the start of any other transaction, so nobody reads the
 * store without the rows. store_batch.c and the store's thread call it. Rows
 * that cannot be moved stay, and are read all the same.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>

#include "base/clock.h"

#define ROWS_MAX 6	/* that end, or will: more share pages of those trees */
#define BYTES_MAX 16384 /* a large one's own pages would be written twice */
#define STAGED_MAX 512	/* while they cannot be moved */
#define BLIND_MS 2000	/* until a lock that others have is waited for again */

/* An idempotency key has to be unique at once, by the index of "runs". */
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
 * It is moved when there is much of it; else when nothing has been asked for as long as
 * a lazy row waits, for then the thread looks once more before it sleeps.
 */
int64_t store_unstage_due_ms(const struct store *s, int64_t due)
{
	bool idle = due == STORE_FOREVER && !s->worked;

	return s->staged >= STORE_STAGED_MANY || (s->staged > 0 && idle)
		   ? s->unstage_ms
		   : STORE_FOREVER;
}

typedef int execute_fn(struct store *s, struct store_reqs *batch);

/* With UNLESS_STAGED: -EAGAIN, and nothing was done, if there is something. */
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
 * The lock is not to be had, or the state is not in order. Then a run is found by its
 * id as it is, and lists and sums are those of before the last few ended: better than
 * no answer. Who holds the lock is no failure of ours.
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
 * What is read in the transaction is right, though it cannot be committed, as on a full
 * disk: then it is undone, and what was staged is, still.
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
