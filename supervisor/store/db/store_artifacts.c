/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_artifacts.c - artifacts on the store's thread: the file synced and
 * named, its row, reads of a range, and how much a requestor keeps. Reached by
 * the operations in store_impl.h. A file that cannot be synced fails that
 * artifact for good; the batch goes on with the others.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "supervisor/state/state_file.h"

#define COLUMN(what, field) STORE_COLUMN(what, store_artifact, field)

/* ARTIFACT of store_statements.def */
static const struct store_column columns[] = {
    COLUMN(ID, id),	COLUMN(ID, run_id),	  COLUMN(TEXT, requestor),
    COLUMN(TEXT, name), COLUMN(TEXT, mime_type),  COLUMN(TEXT, sha256),
    COLUMN(TIME, size), COLUMN(TIME, created_ms), COLUMN(TIME, expires_ms),
};

_Static_assert(ARRAY_LEN(columns) == STORE_ARTIFACT_COLUMNS, "all of them");

char *store_artifact_row(struct store_cursor *st, struct store_artifact *a)
{
	return store_read_row(st, a, columns, ARRAY_LEN(columns));
}

void store_artifact_add(struct store_req *r, struct store_cursor *st)
{
	size_t n = r->res.n_artifacts++;

	r->artifacts = xrealloc(r->artifacts, (n + 1) * sizeof(*r->artifacts));
	r->artifact_text =
	    xrealloc(r->artifact_text, (n + 1) * sizeof(*r->artifact_text));
	r->artifacts[n] = (struct store_artifact){0};
	r->artifact_text[n] = store_artifact_row(st, &r->artifacts[n]);
	r->res.artifacts = r->artifacts;
}

/* Is RC a state of the machine, rather than of this one file? */
static bool may_pass(int rc)
{
	static const int passing[] = {-ENOSPC, -EDQUOT, -EROFS,	 -EACCES,
				      -EPERM,  -ENOMEM, -EMFILE, -ENFILE,
				      -EIO,    -EBUSY,	-EFBIG};

	for (size_t i = 0; i < ARRAY_LEN(passing); i++)
		if (rc == passing[i])
			return true;
	return false;
}

static bool names_ok(const struct store_artifact *a)
{
	return state_file_name_ok(a->id) && state_file_name_ok(a->run_id) &&
	       strcmp(a->run_id, STORE_TMP_NAME) != 0;
}

/*
 * The bytes go to the disk before anyone is kept waiting by a transaction.
 * Once fsync(2) has failed it must not be believed a second time, so that
 * is final even for what was promised.
 */
static int sync_tmp(struct store *s, struct store_req *r)
{
	if (!names_ok(&r->artifact)) {
		store_req_fail(r, -EINVAL, "artifact %s of %s: not a file name",
			       r->artifact.id, r->artifact.run_id);
		return 0;
	}
	if (!r->synced) {
		r->sync_rc = state_file_sync(r->tmp_path);
		if (r->sync_rc == -EMFILE || r->sync_rc == -ENFILE)
			return store_failed(s, r->sync_rc, r->tmp_path);
		r->synced = true;
	}
	if (r->sync_rc != 0)
		store_req_fail(r, r->sync_rc, "%s: %s; %s", r->tmp_path,
			       strerror(-r->sync_rc), store_remedy(r->sync_rc));
	return 0;
}

static void take_back(struct store *s, struct store_req *r)
{
	if (r->placed)
		state_file_unplace(s->dir, r->artifact.run_id, r->artifact.id,
				   r->tmp_path);
	r->placed = false;
}

static void remove_tmp(struct store *s, struct store_req *r)
{
	(void)s;
	unlink(r->tmp_path);
}

static int insert_row(struct store *s, const struct store_artifact *a)
{
	struct store_cursor *st = store_sql(s, STMT_PUT_ARTIFACT);

	store_bind_row(st, a, columns, ARRAY_LEN(columns));
	return store_sql_step(s, st);
}

static int put_artifact(struct store *s, struct store_req *r)
{
	const struct store_artifact *a = &r->artifact;
	int rc = state_file_place(s->dir, a->run_id, a->id, r->tmp_path);

	if (rc != 0) {
		char *path = state_file_artifact(s->dir, a->run_id, a->id);

		store_failed(s, rc, path);
		free(path);
		/* else it is told at once, and says nothing of the record */
		if (r->retry && may_pass(rc))
			return rc;
		store_req_fail(r, rc, "%s", s->errmsg);
		s->errmsg[0] = '\0';
		return 0;
	}
	r->placed = true;
	rc = insert_row(s, a);
	if (store_is_refused(rc)) {
		store_req_fail(r, -EINVAL, "%s: artifact %s: %s", s->db_path,
			       a->id, s->engine->words(s));
		take_back(s, r);
		s->errmsg[0] = '\0';
		rc = 0;
	}
	return rc;
}

static int expire_artifacts(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_EXPIRE_ARTIFACTS, STORE_STR(r->id),
			    STORE_NUM(r->time_ms));
}

/* The bytes, of a file that is there until its row says otherwise. */
static void read_range(struct store *s, struct store_req *r)
{
	const struct store_artifact *a = &r->found;
	int64_t left = a->size - r->offset;
	size_t want = (size_t)(r->limit < left ? r->limit : left);
	char *path = state_file_artifact(s->dir, a->run_id, a->id);
	int rc = -ENOMEM;

	r->res.len = want;
	r->data = malloc(want > 0 ? want : 1);
	if (r->data != NULL)
		rc = state_file_read(path, r->offset, r->data, &r->res.len);
	if (rc == 0 && r->res.len < want)
		rc = -EIO;
	if (rc == -ENOENT)
		store_req_fail(r, -EIO,
			       "%s: the file is missing; someone else "
			       "removed it, so restore it or run again",
			       path);
	else if (rc != 0)
		store_req_fail(r, rc, "%s: %s; %s", path, strerror(-rc),
			       store_remedy(rc));
	r->res.data = r->data;
	free(path);
}

static int find_artifact(struct store *s, struct store_req *r, bool *gone)
{
	struct store_cursor *st = store_query(
	    s, STMT_GET_ARTIFACT, STORE_STR(r->id), STORE_STR(r->requestor));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		r->found_text = store_artifact_row(st, &r->found);
		r->res.artifact = &r->found;
		*gone = store_number(st, STORE_ARTIFACT_COLUMNS) != 0;
	}
	return rc;
}

static int read_artifact(struct store *s, struct store_req *r)
{
	const struct store_artifact *a = &r->found;
	bool gone = false;
	int rc = find_artifact(s, r, &gone);

	if (rc != 0)
		return rc;
	if (r->res.artifact == NULL)
		store_req_fail(r, -ENOENT, "no such artifact");
	else if (gone ||
		 (a->expires_ms > 0 && a->expires_ms <= clock_wall_ms()))
		store_req_fail(r, -ESTALE, "the artifact has expired");
	else if (r->offset < 0 || r->offset > a->size || r->limit < 0)
		store_req_fail(r, -ERANGE,
			       "the artifact has %lld bytes: no range of it "
			       "begins at %lld",
			       (long long)a->size, (long long)r->offset);
	else
		read_range(s, r);
	return 0;
}

static int list_artifacts(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(
	    s, r->all ? STMT_LIST_ARTIFACTS : STMT_LIST_UPLOADS,
	    STORE_STR(r->requestor), STORE_STR(r->id), STORE_STR(r->key),
	    STORE_NUM(r->time_ms), STORE_NUM(r->limit));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1)
		store_artifact_add(r, st);
	return rc;
}

static int usage(struct store *s, struct store_req *r)
{
	struct store_cursor *st =
	    store_query(s, STMT_USAGE, STORE_STR(r->requestor));
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		r->res.artifact_bytes = store_number(st, 0);
		r->res.row_bytes = store_number(st, 1);
	}
	return rc;
}

STORE_OP(put_artifact, .writes = true, .ours = true, .prep = sync_tmp,
	 .undo = take_back, .drop = remove_tmp);
STORE_OP(expire_artifacts, .writes = true, .ours = true);
STORE_OP(read_artifact, .large = true);
STORE_OP(list_artifacts);
STORE_OP(usage);
