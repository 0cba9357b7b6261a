/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_batch.c - executes a batch of requests in one transaction, and after a
 * failure each request by itself, so that one bad request fails alone. The
 * store's thread calls the functions. Requests to be kept go to a queue for
 * further tries; the others get -errno. db/store_stuck.c tries requests whose
 * rows other sessions lock.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define PARTS_EACH 8 /* of 1 MiB; the rest waits for the next batch */
/* consecutive failures, after which the remaining requests fail without a try */
#define TRIES 3
/* for locks of rows; the remaining writes fail without a try */
#define LOCKS_MS 1000
/* consecutive deadlocks before a deadlock counts as a failure */
#define DEADLOCKS 5

size_t store_slot(const char *id)
{
	size_t n = strlen(id), h = 0;

	for (size_t i = n > 4 ? n - 4 : 0; i < n; i++)
		h = h * 37 + (unsigned char)id[i];
	return h % STORE_SLOTS;
}

/*
 * Merge two puts of a row if no request between can see the difference. A put whose slot
 * another row takes over is not merged: the row is just written twice.
 */
static void merge_batch(struct store_reqs *batch)
{
	struct store_req *puts[STORE_SLOTS] = {NULL}, *r;
	const char *inputs;

	STAILQ_FOREACH(r, batch, link) {
		struct store_req **before = &puts[store_slot(r->run.id)];

		/* the puts before must be done before, and none can merge with a put after */
		if (r->op != &store_op_put_run &&
		    r->op != &store_op_expire_artifacts)
			memset(puts, 0, sizeof(puts));
		if (r->op != &store_op_put_run)
			continue;
		if (*before != NULL &&
		    strcmp((*before)->run.id, r->run.id) == 0) {
			(*before)->superseded_by = r;
			inputs = (*before)->run.inputs != NULL
				     ? (*before)->run.inputs
				     : (*before)->inputs_carried;
			/* a put without the inputs must keep the row's */
			if (inputs != NULL && r->run.inputs_before != 0 &&
			    r->inputs_carried == NULL)
				r->inputs_carried = xstrdup(inputs);
			r->run.corrects &= (*before)->run.corrects;
		}
		*before = r;
	}
}

static int prepare_batch(struct store *s, struct store_reqs *batch,
			 bool *writes)
{
	struct store_req *r;
	int rc = store_sql_open(s);

	STAILQ_FOREACH(r, batch, link) {
		/* queued under an instance id from before store_rejoin()? */
		if (rc == 0 && r->op->ours &&
		    r->epoch != atomic_load(&s->epoch))
			store_req_fail(r, -EOWNERDEAD,
				       "it was asked for before another server "
				       "took over");
		else if (rc == 0 && r->op->prep != NULL)
			rc = r->op->prep(s, r);
		if (!r->decided && r->op->writes)
			*writes = true;
	}
	return rc;
}

static bool is_to_do(const struct store_req *r)
{
	return !r->decided && r->superseded_by == NULL;
}

/*
 * The next request after R that can be sent ahead together with R, with no
 * request to do between; or NULL.
 */
static struct store_req *next_ahead(struct store_req *r)
{
	do
		r = STAILQ_NEXT(r, link);
	while (r != NULL && !is_to_do(r));
	return r != NULL && r->op->goes_ahead ? r : NULL;
}

/*
 * Send the first statements of R and of the reads behind R together, since each statement
 * by itself would wait for a round trip. The reads stay behind earlier writes.
 */
static int send_ahead(struct store *s, struct store_req *r)
{
	int n = 0, rc = -EINPROGRESS;

	if (s->engine->ahead_begin == NULL || !r->op->goes_ahead ||
	    r->is_ahead || next_ahead(r) == NULL)
		return 0;
	s->engine->ahead_begin(s);
	for (; rc == -EINPROGRESS && r != NULL && n < STORE_AHEAD; n++) {
		s->doing = r;
		rc = r->op->exec(s, r);
		r->is_ahead = true;
		r = next_ahead(r);
	}
	n = s->engine->ahead_wait(s);
	return rc == -EINPROGRESS || rc == 0 ? n : rc;
}

static int execute(struct store *s, struct store_reqs *batch)
{
	struct store_req *r;
	int rc = 0;

	STAILQ_FOREACH(r, batch, link)
		r->is_ahead = false;
	STAILQ_FOREACH(r, batch, link) {
		if (rc == 0 && is_to_do(r))
			rc = send_ahead(s, r);
		s->doing = r;
		if (rc == 0 && is_to_do(r))
			rc = r->op->exec(s, r);
	}
	s->doing = NULL;
	if (s->engine->ahead_forget != NULL)
		s->engine->ahead_forget(s);
	return rc;
}

/* Does BATCH have a single request to do, whose statement is a transaction by itself? */
static bool is_whole(const struct store_reqs *batch)
{
	const struct store_req *r;
	size_t n = 0;

	STAILQ_FOREACH(r, batch, link) {
		if (r->decided || r->superseded_by != NULL)
			continue;
		if (!r->op->whole || n++ > 0)
			return false;
	}
	return n == 1;
}

/*
 * A write of staged rows leaves earlier staged rows in place; any other write moves the
 * staged rows first. A single statement is executed without BEGIN, since within a
 * transaction SQLite keeps what a statement changes, for undo. A single put reads no
 * other row, so rows staged by other instances may stay staged.
 */
static int transact(struct store *s, struct store_reqs *batch, bool writes)
{
	size_t stageable = store_stageable(s, batch);
	bool alone;
	int rc;

	if (!writes)
		return store_read(s, batch, execute);
	s->staging = stageable > 0;
	alone = s->engine->commits_alone && (s->staging || s->staged == 0) &&
		is_whole(batch);
	rc = alone ? 0 : store_sql_run(s, STMT_BEGIN_WRITE);
	if (rc == 0 && !alone && !s->staging)
		rc = store_unstage(s);
	if (rc == 0)
		rc = execute(s, batch);
	if (rc == 0 && !alone)
		rc = store_sql_run(s, STMT_COMMIT);
	if (rc != 0)
		store_sql_rollback(s);
	else
		s->staged = (s->staging ? s->staged : 0) + stageable;
	s->staging = false;
	return rc;
}

int store_attempt(struct store *s, struct store_reqs *batch)
{
	struct store_req *r;
	bool writes = false, brief;
	int rc;

	s->errmsg[0] = '\0';
	s->alone = STAILQ_NEXT(STAILQ_FIRST(batch), link) == NULL;
	s->parts_left = PARTS_EACH;
	rc = prepare_batch(s, batch, &writes);
	/* the probe of a failing store: reads wait behind it, so the probe waits briefly for a lock */
	brief = rc == 0 && s->alone &&
		STAILQ_FIRST(batch)->op == &store_op_probe &&
		s->failing[0] != '\0' && s->engine->relax != NULL &&
		s->engine->is_open(s);
	if (brief)
		s->engine->relax(s, true);
	if (rc == 0)
		rc = transact(s, batch, writes);
	if (brief)
		s->engine->relax(s, false);
	s->wrote |= writes && rc == 0;
	s->not_wrote |= writes && rc != 0;
	if (rc == 0)
		store_leaving_go(s);
	else
		store_leaving_forget(s);
	STAILQ_FOREACH(r, batch, link) {
		void (*after)(struct store *, struct store_req *) =
		    rc == 0 ? r->op->keep : r->op->undo;

		if (after != NULL)
			after(s, r);
	}
	return rc;
}

static int attempt_merged(struct store *s, struct store_reqs *batch)
{
	if (STAILQ_NEXT(STAILQ_FIRST(batch), link) != NULL)
		merge_batch(batch);
	return store_attempt(s, batch);
}

static int attempt_again(struct store *s, struct store_reqs *batch)
{
	struct store_req *r;

	STAILQ_FOREACH(r, batch, link)
		store_req_forget(r);
	return attempt_merged(s, batch);
}

void store_settle(struct store *s, struct store_req *r)
{
	const struct store_req *last = r;

	while (last->superseded_by != NULL)
		last = last->superseded_by;
	if (last != r && last->res.rc != 0)
		store_req_fail(r, last->res.rc, "%s", last->res.errmsg);
	if (r->res.rc != 0 && r->op->drop != NULL)
		r->op->drop(s, r);
}

/* Returns the id or key of the row that R writes. */
static const char *row_of(const struct store_req *r)
{
	if (r->run.id[0] != '\0')
		return r->run.id;
	if (r->artifact.id[0] != '\0')
		return r->artifact.id;
	if (r->session.key != NULL)
		return r->session.key;
	return r->id != NULL ? r->id : r->key != NULL ? r->key : "";
}

const struct store_req *store_overtaken(const struct store_req *r,
					const struct store_reqs *queue)
{
	const struct store_req *k;

	STAILQ_FOREACH(k, queue, link)
		if (r->op == k->op && strcmp(row_of(r), row_of(k)) == 0)
			return k;
	return NULL;
}

void store_refuse(struct store *s, struct store_req *r, int rc,
		  const char *errmsg, struct store_reqs *decided,
		  struct store_reqs *retry_queue)
{
	store_req_forget(r);
	if (r->retry && !(rc == -EOWNERDEAD && r->op->ours)) {
		STAILQ_INSERT_TAIL(retry_queue, r, link);
		return;
	}
	store_req_fail(r, rc, "%s", errmsg);
	store_settle(s, r);
	STAILQ_INSERT_TAIL(decided, r, link);
}

/* The requests of a failed batch, tried one after the other. */
struct pass {
	struct store_reqs decided;
	struct store_reqs *retry_queue;
	int tries[2]; /* left, of reads and of writes */
	bool asked;   /* ROWS is known */
	bool rows;    /* other sessions lock rows alone */
	int64_t until_ms;
	int rc; /* of the last failure, with its words */
	char errmsg[STORE_WHY_SIZE];
	bool failed; /* not for a row alone */
};

/* A write met a lock: shorten the wait for further locks, if they are of rows. */
static void meet_lock(struct store *s, struct pass *p)
{
	if (p->asked || s->engine->hurry == NULL || !s->engine->is_open(s))
		return;
	p->asked = true;
	p->rows = store_stuck_rows_alone(s);
	if (p->rows)
		s->engine->hurry(s, true);
}

/* How many requests of R's kind may fail yet, after R ended with VERDICT? */
static int tries_left(const struct pass *p, const struct store_req *r,
		      int verdict, int left)
{
	if (verdict == 0)
		return TRIES;
	if (verdict != -EBUSY)
		return left - 1;
	return r->op->writes && p->rows && clock_mono_ms() < p->until_ms ? left
									 : 0;
}

/* Try R alone. Returns whether a failure is of R's row alone. */
static bool try_alone(struct store *s, struct pass *p, struct store_req *r,
		      int *verdict)
{
	struct store_reqs one = STAILQ_HEAD_INITIALIZER(one);
	const struct store_req *older = store_overtaken(r, p->retry_queue);
	int *left = &p->tries[r->op->writes];

	if (older != NULL)
		return r->stuck = older->stuck;
	if (*left == 0)
		return false;
	store_req_forget(r);
	STAILQ_INSERT_TAIL(&one, r, link);
	*verdict = store_attempt(s, &one);
	if (s->errmsg[0] != '\0')
		memcpy(p->errmsg, s->errmsg, sizeof(p->errmsg));
	if (*verdict == -EBUSY && r->op->writes)
		meet_lock(s, p);
	*left = tries_left(p, r, *verdict, *left);
	return store_stuck_note(s, r, *verdict, p->rows);
}

/*
 * The batch failed with RC. Try each request alone, so that a bad request fails
 * alone, and so that reads are served while writes are impossible. Detect a
 * failure of the machine soon: after a request that waited for a lock or took
 * too long, no further request is tried.
 */
static void one_by_one(struct store *s, struct store_reqs *batch,
		       struct store_reqs *retry_queue, int rc)
{
	bool closed = !s->engine->is_open(s);
	struct pass p = {
	    .decided = STAILQ_HEAD_INITIALIZER(p.decided),
	    .retry_queue = retry_queue,
	    .until_ms = clock_mono_ms() + LOCKS_MS,
	    .rc = rc,
	};
	struct store_req *r;

	memcpy(p.errmsg, s->errmsg, sizeof(p.errmsg));
	if (rc == -EBUSY)
		meet_lock(s, &p);
	p.tries[false] = closed ? 0 : TRIES;
	p.tries[true] = closed || (rc == -EBUSY && !p.rows) ? 0 : TRIES;
	while ((r = STAILQ_FIRST(batch)) != NULL) {
		int verdict = p.rc;
		bool of_row;

		STAILQ_REMOVE_HEAD(batch, link);
		of_row = try_alone(s, &p, r, &verdict);
		if (verdict == 0) {
			store_settle(s, r);
			STAILQ_INSERT_TAIL(&p.decided, r, link);
			continue;
		}
		p.failed |= !of_row;
		p.rc = verdict;
		store_refuse(s, r, verdict, p.errmsg, &p.decided, retry_queue);
	}
	if (p.rows)
		s->engine->hurry(s, false);
	STAILQ_CONCAT(batch, &p.decided);
	memcpy(s->errmsg, p.errmsg, sizeof(p.errmsg));
	if (!p.failed)
		s->errmsg[0] = '\0';
}

/* Execute BATCH, which is not empty and has no stuck requests. */
static void do_batch(struct store *s, struct store_reqs *batch,
		     struct store_reqs *retry_queue)
{
	bool was_open = s->engine->is_open(s);
	bool hurries = s->engine->hurry != NULL && was_open &&
		       clock_mono_ms() < s->hurry_until_ms;
	struct store_req *r;
	int rc;

	if (hurries)
		s->engine->hurry(s, true);
	rc = attempt_merged(s, batch);
	if (hurries)
		s->engine->hurry(s, false);

	/* reconnect after a lost connection before any request is refused */
	if (rc == -ENOTCONN && was_open)
		rc = attempt_again(s, batch);
	/* the database aborts one of two servers that wait for each other */
	for (int i = 0; rc == -EDEADLK && i < DEADLOCKS; i++)
		rc = attempt_again(s, batch);
	if (rc != 0) {
		one_by_one(s, batch, retry_queue, rc);
		return;
	}
	STAILQ_FOREACH(r, batch, link)
		store_settle(s, r);
}

void store_batch(struct store *s, struct store_reqs *batch,
		 struct store_reqs *retry_queue)
{
	struct store_reqs stuck;

	store_stuck_set_aside(batch, &stuck);
	if (!STAILQ_EMPTY(batch))
		do_batch(s, batch, retry_queue);
	store_stuck_try(s, &stuck, batch, retry_queue);
}
