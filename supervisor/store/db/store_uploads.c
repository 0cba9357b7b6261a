/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_uploads.c - deletes uploads of a requestor before their expiry: one upload, or a
 * few of a long list. Called by the operations of store_impl.h. An artifact of a run is
 * refused; an upload whose file cannot be removed stays, and is reported.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"

#define LOOKED_AT 128 /* rows in a transaction; other requests wait meanwhile */

/* Drop an upload. 1; 0: the file could not be removed; or -errno. */
static int drop_upload(struct store *s, const struct store_artifact *a)
{
	int rc;

	/* a run uses the upload: expire the row now, and a sweep drops the row later */
	if (!s->in_rows && store_is_held(s, a->id)) {
		rc = store_change(s, STMT_EXPIRE_ARTIFACTS,
				  STORE_STR(a->run_id), STORE_NUM(1));
		return rc == 0 ? 1 : rc;
	}
	rc = store_drop_file(s, a->run_id, a->id);
	if (rc != 1)
		return rc;
	rc = store_change(s, STMT_DROP_UPLOAD, STORE_STR(a->id));
	return rc == 0 ? 1 : rc;
}

static int delete_upload(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(
	    s, STMT_GET_ARTIFACT, STORE_STR(r->id), STORE_STR(r->requestor));
	bool gone = true, upload = false;
	int rc;

	while ((rc = store_sql_step(s, st)) == 1) {
		r->found_text = store_artifact_row(st, &r->found);
		gone = store_number(st, STORE_ARTIFACT_COLUMNS) != 0;
		upload = store_number(st, STORE_ARTIFACT_COLUMNS + 1) != 0;
	}
	if (rc != 0)
		return rc;
	if (gone) {
		store_req_fail(r, -ENOENT, "no such artifact");
		return 0;
	}
	if (!upload) {
		r->res.artifact = &r->found;
		store_req_fail(r, -EPERM, "the artifact is a run's");
		return 0;
	}
	rc = drop_upload(s, &r->found);
	if (rc == 0)
		store_req_fail(r, -EIO, "the artifact's file would not go");
	return rc < 0 ? rc : 0;
}

static int delete_uploads(struct store *s, struct store_req *r)
{
	struct store_cursor *st = store_query(
	    s, STMT_LOOK_AT_UPLOADS, STORE_STR(r->requestor), STORE_STR(r->id),
	    STORE_NUM(r->time_ms), STORE_NUM(LOOKED_AT + 1));
	size_t stay = 0;
	int rc;

	/* the answer becomes the uploads to drop, for now, and the id to continue from */
	while ((rc = store_sql_step(s, st)) == 1)
		if (r->res.n_artifacts < LOOKED_AT)
			store_artifact_add(r, st);
		else
			r->res.next = r->found_text =
			    xstrdup(store_text(st, 0));
	for (size_t i = 0; rc >= 0 && i < r->res.n_artifacts; i++) {
		struct store_artifact a = r->artifacts[i];
		char *text = r->artifact_text[i];

		rc = drop_upload(s, &a);
		if (rc == 1) {
			r->res.total++;
			continue;
		}
		r->artifact_text[i] = r->artifact_text[stay];
		r->artifact_text[stay] = text;
		r->artifacts[i] = r->artifacts[stay];
		r->artifacts[stay++] = a;
	}
	for (size_t i = stay; i < r->res.n_artifacts; i++)
		free(r->artifact_text[i]);
	r->res.n_artifacts = stay;
	return rc < 0 ? rc : 0;
}

STORE_OP(delete_upload, .writes = true);
STORE_OP(delete_uploads, .writes = true);
