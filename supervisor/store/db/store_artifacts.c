/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_artifacts.c - artifacts on the store's thread: syncs and names the
 * file, writes the row, reads a range, and sums what a requestor keeps. Called
 * by the operations of store_impl.h. A file that cannot be synced fails the
 * artifact for good; the batch goes on.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "supervisor/store/state/state_file.h"

#define COLUMN(what, field) STORE_COLUMN(what, store_artifact, field)

/* the columns ARTIFACT of store_statements.def */
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

/* Is RC a state of the machine, rather than of a single file? */
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

/*
 * The bytes are synced before the transaction, so that no other process waits
 * for the sync. After a failed fsync(2) a second fsync must not be believed, so
 * the failure is final even for a promised artifact.
 */
static int sync_tmp(struct store *s, struct store_req *r)
{
	const struct store_artifact *a = &r->artifact;

	if (!state_file_name_ok(a->id) || !state_file_name_ok(a->run_id) ||
	    strcmp(a->run_id, STORE_TMP_NAME) == 0) {
		store_req_fail(r, -EINVAL, "artifact %s of %s: not a file name",
			       a->id, a->run_id);
		return 0;
	}
	if (s->in_rows)
		return 0;
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

static void remove_artifact_file(struct store *s, struct store_req *r)
{
	if (r->placed)
		state_file_unplace(s->files, r->artifact.run_id, r->artifact.id,
				   r->tmp_path);
	r->placed = false;
}

static void remove_tmp(struct store *s, struct store_req *r)
{
	(void)s;
	unlink(r->tmp_path);
}

/* Write the row after the bytes, so that each artifact with a row can be read. */
static int put_artifact_row(struct store *s, struct store_req *r)
{
	const struct store_artifact *a = &r->artifact;
	struct store_cursor *st = store_sql(s, STMT_PUT_ARTIFACT);
	int rc;

	store_bind_row(st, 1, a, columns, ARRAY_LEN(columns));
	rc = store_sql_step(s, st);
	if (!store_is_refused(rc))
		return rc;
	store_req_fail(r, -EINVAL, "%s: artifact %s: %s", s->db_path, a->id,
		       s->engine->words(s));
	remove_artifact_file(s, r);
	s->errmsg[0] = '\0';
	return 0;
}

static int put_artifact_file(struct store *s, struct store_req *r)
{
	const struct store_artifact *a = &r->artifact;
	int rc;

	/* other instances judge by the time how long the file has had no row */
	if (s->engine->lives != NULL)
		(void)utimensat(AT_FDCWD, r->tmp_path, NULL, 0);
	rc = state_file_place(s->files, a->run_id, a->id, r->tmp_path);
	if (rc != 0) {
		char *path = state_file_artifact(s->files, a->run_id, a->id);

		store_failed(s, rc, path);
		free(path);
		/*
		 * else the failure is reported at once, and says nothing about the record
		 */
		if (r->retry && may_pass(rc))
			return rc;
		store_req_fail(r, rc, "%s", s->errmsg);
		s->errmsg[0] = '\0';
		return 0;
	}
	r->placed = true;
	return put_artifact_row(s, r);
}

/* ---- bytes in rows ---- */

/* Write the next part of R's file, as long as the file has bytes. */
static int put_part(struct store *s, struct store_req *r, void *block)
{
	const struct store_artifact *a = &r->artifact;
	int64_t at = r->parts * (int64_t)STORE_CHUNK_BYTES;
	int64_t left = a->size - at;
	size_t want = left < (int64_t)STORE_CHUNK_BYTES ? (size_t)left
							: STORE_CHUNK_BYTES;
	size_t len = want;
	int rc = state_file_read(r->tmp_path, at, block, &len);

	if (rc == 0 && len < want)
		rc = -EIO;
	if (rc != 0) {
		store_req_fail(r, rc, "%s: %s; %s", r->tmp_path, strerror(-rc),
			       store_remedy(rc));
		return 0;
	}
	rc = s->engine->chunks->put(s, a->id, r->parts, block, len);
	if (rc == 0)
		r->parts++;
	s->parts_left--;
	return rc;
}

/*
 * Write as many parts as the batch allows, and after the last part the row. An
 * artifact that needs several batches is registered as unfinished, so that the
 * parts are swept if this instance dies.
 */
static int put_parts(struct store *s, struct store_req *r)
{
	int64_t all = (r->artifact.size + (int64_t)STORE_CHUNK_BYTES - 1) /
		      (int64_t)STORE_CHUNK_BYTES;
	bool begun = r->parts_kept > 0;
	void *block;
	int rc = 0;

	r->parts = r->parts_kept;
	r->again = all - r->parts > s->parts_left;
	if (begun || (r->again && s->parts_left > 0))
		rc = s->engine->chunks->begin(s, r->artifact.id, begun);
	/* the parts were swept as litter, since the writer took too long */
	if (rc == -ESTALE) {
		r->parts = 0;
		r->again = true;
		return 0;
	}
	block = xrealloc(NULL, STORE_CHUNK_BYTES);
	while (rc == 0 && r->parts < all && s->parts_left > 0 && !r->decided)
		rc = put_part(s, r, block);
	free(block);
	if (r->decided)
		r->again = false;
	if (rc != 0 || r->again || r->decided)
		return rc;
	if (begun)
		rc = s->engine->chunks->end(s, r->artifact.id);
	return rc == 0 ? put_artifact_row(s, r) : rc;
}

static int put_artifact(struct store *s, struct store_req *r)
{
	return s->in_rows ? put_parts(s, r) : put_artifact_file(s, r);
}

static void kept(struct store *s, struct store_req *r)
{
	r->parts_kept = r->parts;
	if (s->in_rows && r->res.rc == 0 && !r->again)
		unlink(r->tmp_path);
}

static int read_parts(struct store *s, struct store_req *r, size_t want)
{
	const struct store_artifact *a = &r->found;
	int rc = 0;

	for (size_t done = 0, len; rc == 0 && done < want; done += len) {
		int64_t at = r->offset + (int64_t)done;
		size_t from = (size_t)(at % (int64_t)STORE_CHUNK_BYTES);
		size_t most = STORE_CHUNK_BYTES - from;

		len = want - done < most ? want - done : most;
		most = len;
		rc = s->engine->chunks->get(s, a->id,
					    at / (int64_t)STORE_CHUNK_BYTES,
					    from, (char *)r->data + done, &len);
		if (rc == 0 && len < most) {
			store_req_fail(r, -ENOMEDIUM,
				       "%s: artifact %s: its bytes are not "
				       "there; someone else removed them, or "
				       "artifacts was changed, so restore them "
				       "or run again",
				       s->db_path, a->id);
			break;
		}
	}
	return rc;
}

/* ---- queries and changes of both ---- */

static int expire_artifacts(struct store *s, struct store_req *r)
{
	return store_change(s, STMT_EXPIRE_ARTIFACTS, STORE_STR(r->id),
			    STORE_NUM(r->time_ms));
}

/* Read a file, which exists as long as the row does not say otherwise. */
static void read_file(struct store *s, struct store_req *r, size_t want)
{
	const struct store_artifact *a = &r->found;
	char *path = state_file_artifact(s->files, a->run_id, a->id);
	int rc = state_file_read(path, r->offset, r->data, &r->res.len);

	if (rc == 0 && r->res.len < want)
		rc = -EIO;
	if (rc == -ENOENT)
		store_req_fail(r, -ENOMEDIUM,
			       "%s: the file is missing; someone else "
			       "removed it, or artifacts was changed, so "
			       "restore it or run again",
			       path);
	else if (rc != 0)
		store_req_fail(r, rc, "%s: %s; %s", path, strerror(-rc),
			       store_remedy(rc));
	free(path);
}

static int read_range(struct store *s, struct store_req *r)
{
	int64_t left = r->found.size - r->offset;
	size_t want = (size_t)(r->limit < left ? r->limit : left);
	int rc = 0;

	r->res.len = want;
	r->data = malloc(want > 0 ? want : 1);
	if (r->data == NULL)
		store_req_fail(r, -ENOMEM, "artifact %s: %s", r->found.id,
			       store_remedy(-ENOMEM));
	else if (s->in_rows)
		rc = read_parts(s, r, want);
	else
		read_file(s, r, want);
	r->res.data = r->data;
	return rc;
}

static int read_artifact(struct store *s, struct store_req *r)
{
	const struct store_artifact *a = &r->found;
	struct store_cursor *st = store_query(
	    s, STMT_GET_ARTIFACT, STORE_STR(r->id), STORE_STR(r->requestor));
	bool gone = false;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		r->found_text = store_artifact_row(st, &r->found);
		r->res.artifact = &r->found;
		gone = store_number(st, STORE_ARTIFACT_COLUMNS) != 0;
	}
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
		rc = read_range(s, r);
	return rc;
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

STORE_OP(put_artifact, .writes = true, .ours = true, .ends = true,
	 .prep = sync_tmp, .keep = kept, .undo = remove_artifact_file,
	 .drop = remove_tmp);
STORE_OP(expire_artifacts, .writes = true, .ours = true);
STORE_OP(read_artifact, .large = true);
STORE_OP(list_artifacts);
STORE_OP(usage);
