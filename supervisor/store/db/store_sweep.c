/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_sweep.c - deletes expired artifacts with files, runs, tasks, sessions and mail.
 * The server's timer calls store_sweep(). A sweep is limited to a transaction's worth,
 * and the next sweep continues; a file that cannot be removed is logged, tried again at a
 * later sweep, and does not stop the other files.
 */
#include "supervisor/store/store_impl.h"

#include <stdlib.h>

#include "base/mem.h"

#define SWEEP_ROWS 128 /* in a transaction; other requests wait meanwhile */

struct pair { /* two texts of a row */
	char *a;
	char *b;
};

struct pairs {
	struct pair *v;
	size_t n;
};

static void free_pairs(struct pairs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].a);
		free(p->v[i].b);
	}
	free(p->v);
}

static int read_pairs(struct store *s, struct store_cursor *st, struct pairs *p)
{
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		p->v = xrealloc(p->v, (p->n + 1) * sizeof(*p->v));
		p->v[p->n++] = (struct pair){.a = xstrdup(store_text(st, 0)),
					     .b = xstrdup(store_text(st, 1))};
	}
	return rc;
}

/* Drop the file but keep the row, which records that the artifact expired. */
int store_drop_file(struct store *s, const char *folder, const char *id)
{
	int rc = store_remove_bytes(s, folder, id);

	if (rc != 0)
		return rc > 0 ? 0 : rc;
	rc = store_change(s, STMT_ARTIFACT_GONE, STORE_STR(id));
	return rc == 0 ? 1 : rc;
}

static int drop_file(struct store *s, const struct pair *artifact)
{
	return store_drop_file(s, artifact->b, artifact->a);
}

int store_drop_run(struct store *s, const char *requestor, const char *id)
{
	struct store_cursor *st =
	    store_query(s, STMT_ARTIFACTS_OF, STORE_STR(id));
	struct pairs files = {0};
	int rc = read_pairs(s, st, &files), gone = 1;

	for (size_t i = 0; rc == 0 && gone == 1 && i < files.n; i++)
		gone = drop_file(s, &files.v[i]);
	free_pairs(&files);
	if (rc != 0)
		return rc;
	/*
	 * a run uses the artifact: expire the row, so that no other run gets the artifact
	 */
	if (gone != 1) {
		rc = store_change(s, STMT_EXPIRE_ARTIFACTS, STORE_STR(id),
				  STORE_NUM(1));
		/* a later sweep drops the row after the end of the run */
		if (rc == 0)
			rc = store_change(s, STMT_EXPIRE_RUN, STORE_STR(id),
					  STORE_STR(requestor));
		return rc == 0 ? gone : rc;
	}
	rc = store_change(s, STMT_DROP_ARTIFACTS, STORE_STR(id));
	if (rc == 0)
		rc = store_change(s, STMT_DROP_RUN, STORE_STR(id),
				  STORE_STR(requestor));
	return rc == 0 ? 1 : rc;
}

static int drop_run(struct store *s, const struct pair *run)
{
	return store_drop_run(s, run->b, run->a);
}

/*
 * DROP a transaction's worth of the pairs of WHICH, beside *STUCK pairs that
 * could not be dropped before and come first again. *MORE: further pairs exist,
 * and the sweep makes progress.
 */
static int drop_some(struct store *s, enum store_stmt which,
		     int (*drop)(struct store *, const struct pair *),
		     int64_t now_ms, int64_t *stuck, bool *more)
{
	/* doubled each time, so that few pairs are tried more than twice */
	int64_t most = *stuck + (*stuck > SWEEP_ROWS ? *stuck : SWEEP_ROWS);
	struct pairs p = {0};
	int rc = read_pairs(
	    s, store_query(s, which, STORE_NUM(now_ms), STORE_NUM(most)), &p);
	int64_t stays = (int64_t)p.n;

	for (size_t i = 0; rc >= 0 && i < p.n; i++) {
		rc = drop(s, &p.v[i]);
		stays -= rc == 1;
	}
	if (rc >= 0 && (int64_t)p.n == most)
		*more |= stays < most || stays > *stuck;
	if (rc >= 0)
		*stuck = stays;
	free_pairs(&p);
	return rc < 0 ? rc : 0;
}

/* Execute WHICH on a few expired rows; *MORE: further rows may exist. */
static int forget_some(struct store *s, enum store_stmt which, int64_t now_ms,
		       bool *more)
{
	int rc =
	    store_change(s, which, STORE_NUM(now_ms), STORE_NUM(SWEEP_ROWS));

	*more |= rc == 0 && s->engine->changes(s) >= SWEEP_ROWS;
	return rc;
}

/* Delete expired news and residents, and served templates and CPU shares of ended nodes. */
static int sweep_shared(struct store *s)
{
	static const enum store_stmt all[] = {
	    STMT_EXPIRED_NEWS, STMT_FORGET_GONE_SERVED, STMT_FORGET_GONE_CPU,
	    STMT_EXPIRED_RESIDENTS};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(all); i++)
		rc = store_sql_run(s, all[i]);
	return rc;
}

static int sweep(struct store *s, struct store_req *r)
{
	bool more = false, files = false;
	/* the run of an expired task stays */
	int rc = forget_some(s, STMT_EXPIRED_TASKS, r->time_ms, &more);

	if (rc == 0)
		/* few rows at a time: one for each run and kind */
		rc = store_change(s, STMT_EXPIRED_MAIL, STORE_NUM(r->time_ms));
	if (rc == 0 && store_is_shared(s))
		rc = sweep_shared(s);
	if (rc == 0)
		rc = forget_some(s, STMT_EXPIRED_SESSIONS, r->time_ms, &more);
	if (rc == 0)
		rc = store_change(s, STMT_EXPIRED_PROPOSALS,
				  STORE_NUM(r->time_ms));
	if (rc == 0)
		rc = forget_some(s, STMT_FORGET_USED,
				 r->time_ms - STORE_USE_KEPT_MS, &more);
	if (rc == 0)
		rc = forget_some(s, STMT_FORGET_UPLOADS,
				 r->time_ms - STORE_UPLOAD_NOTED_MS, &more);
	if (rc == 0)
		rc = drop_some(s, STMT_EXPIRED_ARTIFACTS, drop_file, r->time_ms,
			       &r->offset, &files);
	if (rc == 0 && s->engine->tidy != NULL)
		rc = s->engine->tidy(s, r->time_ms);
	if (rc == 0 && !files)
		rc = drop_some(s, STMT_EXPIRED_RUNS, drop_run, r->time_ms,
			       &r->limit, &more);
	if (rc == 0 && s->engine->chunks != NULL)
		rc = s->engine->chunks->sweep(s, &more);
	r->again = more || files;
	return rc;
}

STORE_OP(sweep, .writes = true);
