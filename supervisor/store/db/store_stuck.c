/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_stuck.c - sets aside promised writes of rows locked by another session of
 * the database, or refused by the database, so that other writes go on.
 * store_batch.c calls the functions. A stuck request is repeated every second until
 * the database takes the row; with more than a few stuck requests the store counts as
 * failing, and no new run begins.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"

#define STUCK_MAX 8   /* more are a failure of the store */
#define AGAIN_MS 1000 /* between tries */
#define HURRY_MS 5000 /* locks are awaited briefly after the last met lock */
#define ROUND_MS 500  /* for the tries of a batch */

void store_stuck_set_aside(struct store_reqs *batch, struct store_reqs *stuck)
{
	struct store_reqs rest = STAILQ_HEAD_INITIALIZER(rest);
	struct store_req *r;

	STAILQ_INIT(stuck);
	while ((r = STAILQ_FIRST(batch)) != NULL) {
		STAILQ_REMOVE_HEAD(batch, link);
		if (r->stuck || store_overtaken(r, stuck) != NULL)
			STAILQ_INSERT_TAIL(stuck, r, link);
		else
			STAILQ_INSERT_TAIL(&rest, r, link);
	}
	STAILQ_CONCAT(batch, &rest);
}

bool store_stuck_rows_alone(struct store *s)
{
	char errmsg[STORE_WHY_SIZE];
	int why_rc = s->why_rc, rc;

	memcpy(errmsg, s->errmsg, sizeof(errmsg));
	s->engine->hurry(s, true);
	/* write to this instance's row, and lock the tables as every write does */
	rc = store_sql_run(s, STMT_BEGIN_WRITE);
	if (rc == 0)
		rc = s->engine->touch(s);
	if (rc == 0)
		rc = store_sql_run(s, STMT_COMMIT);
	if (rc != 0)
		store_sql_rollback(s);
	s->engine->hurry(s, false);
	memcpy(s->errmsg, errmsg, sizeof(errmsg));
	s->why_rc = why_rc;
	if (rc != 0)
		return false;
	s->wrote = true;
	s->hurry_until_ms = clock_mono_ms() + HURRY_MS;
	return true;
}

bool store_stuck_note(struct store *s, struct store_req *r, int rc, bool rows)
{
	bool is_refused = store_is_refused(rc) || rc == -E2BIG;

	if (s->engine->hurry == NULL || !r->op->writes)
		return false;
	if (rc == -EBUSY && rows)
		s->hurry_until_ms = clock_mono_ms() + HURRY_MS;
	else if (!is_refused || !r->retry)
		return false;
	r->stuck = r->retry;
	if (!r->stuck)
		return true;
	memcpy(s->stuck_why, s->errmsg, sizeof(s->stuck_why));
	s->stuck_ms = clock_mono_ms() + AGAIN_MS;
	log_rarely("store", "run=%s record=waits msg=\"%s\"",
		   r->run.id[0] != '\0' ? r->run.id : "", s->errmsg);
	return true;
}

/* Try R alone, without a place in a queue. Returns whether R is decided or stuck no more. */
static bool try_alone(struct store *s, struct store_req *r,
		      struct store_reqs *decided,
		      struct store_reqs *retry_queue)
{
	struct store_reqs one = STAILQ_HEAD_INITIALIZER(one);
	int rc;

	r->stuck = false;
	store_req_forget(r);
	STAILQ_INSERT_TAIL(&one, r, link);
	rc = store_attempt(s, &one);
	if (rc == 0) {
		store_settle(s, r);
		STAILQ_INSERT_TAIL(decided, r, link);
		return true;
	}
	if (store_stuck_note(s, r, rc, true) && r->stuck)
		return false;
	store_refuse(s, r, rc, s->errmsg, decided, retry_queue);
	if (rc == -EBUSY)
		s->errmsg[0] = '\0'; /* of R's row alone */
	return true;
}

/* Requests tried in vain go behind the other requests. */
static void try_all(struct store *s, struct store_reqs *stuck,
		    struct store_reqs *decided, struct store_reqs *retry_queue)
{
	struct store_reqs later = STAILQ_HEAD_INITIALIZER(later);
	struct store_reqs tried = STAILQ_HEAD_INITIALIZER(tried);
	int64_t until_ms = clock_mono_ms() + ROUND_MS;
	struct store_req *r;

	while ((r = STAILQ_FIRST(stuck)) != NULL) {
		STAILQ_REMOVE_HEAD(stuck, link);
		if (store_overtaken(r, &tried) != NULL)
			STAILQ_INSERT_TAIL(&tried, r, link);
		else if (clock_mono_ms() >= until_ms || s->errmsg[0] != '\0' ||
			 !s->engine->is_open(s))
			STAILQ_INSERT_TAIL(&later, r, link);
		else if (!try_alone(s, r, decided, retry_queue)) {
			STAILQ_INSERT_TAIL(&tried, r, link);
			s->errmsg[0] = '\0';
		}
	}
	STAILQ_CONCAT(stuck, &later);
	STAILQ_CONCAT(stuck, &tried);
}

void store_stuck_try(struct store *s, struct store_reqs *stuck,
		     struct store_reqs *decided, struct store_reqs *retry_queue)
{
	struct store_req *r;
	size_t kept = 0;

	if (STAILQ_EMPTY(stuck))
		return;
	if (STAILQ_EMPTY(decided) || clock_mono_ms() >= s->stuck_ms) {
		if (STAILQ_EMPTY(decided) && STAILQ_EMPTY(retry_queue))
			s->errmsg[0] = '\0';
		s->stuck_ms = clock_mono_ms() + AGAIN_MS;
		s->engine->hurry(s, true);
		try_all(s, stuck, decided, retry_queue);
		s->engine->hurry(s, false);
	}
	/* promised requests are kept for the next try; other requests fail */
	while ((r = STAILQ_FIRST(stuck)) != NULL) {
		STAILQ_REMOVE_HEAD(stuck, link);
		r->stuck = true;
		kept += r->retry;
		store_refuse(s, r, -EBUSY, s->stuck_why, decided, retry_queue);
	}
	if (kept > STUCK_MAX && s->errmsg[0] == '\0') {
		memcpy(s->errmsg, s->stuck_why, sizeof(s->errmsg));
		s->why_rc = -EBUSY;
	}
}
