/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_import.c - copies a state of SQLite into PostgreSQL, for paddockd
 * --import: the rows, the bytes of artifacts, and the use by deleted runs. All
 * is a single transaction: after a failure the sentence says why, and nothing
 * was copied, so the import can be repeated.
 */
#include "supervisor/store/import/store_import.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "supervisor/store/state/artifact_file.h"
#include "supervisor/store/state/state_file.h"
#include "supervisor/store/import/store_import_private.h"
#include "supervisor/store/store.h"
#include "supervisor/store/store_engine.h"

/* ---- statements ---- */

static int import_refused(struct import *im, int rc, const char *what,
			  const char *id)
{
	return import_fail(im, rc, "the database refuses %s %s: %s; %s", what,
			   id, im->to.words, store_remedy(rc));
}

/*
 * Execute SQL with N texts: *GOT is the number of changed rows, or the number
 * in the only row.
 */
static int run_sql(struct import *im, const char *sql, int n,
		   const char *const *values, int64_t *got)
{
	const struct pq *pq = im->to.pq;
	PGresult *res = NULL;
	int rc = pq_link_send_params(&im->to, sql, n, values);

	if (rc == 0)
		rc = pq_link_wait(&im->to, &res);
	if (rc == 0 && got != NULL)
		*got = strtoll(pq->ntuples(res) > 0 ? pq->getvalue(res, 0, 0)
						    : pq->cmdTuples(res),
			       NULL, 10);
	if (res != NULL)
		pq->clear(res);
	return rc;
}

/* Get the values of ROW; NULL is SQL's null. */
static int values_of(sqlite3_stmt *row, const char *values[IMPORT_COLUMNS])
{
	int n = sqlite3_column_count(row);

	for (int i = 0; i < n && i < IMPORT_COLUMNS; i++)
		values[i] = (const char *)sqlite3_column_text(row, i);
	return n < IMPORT_COLUMNS ? n : IMPORT_COLUMNS;
}

static void add_insert(struct buf *b, const char *table, sqlite3_stmt *row)
{
	int n = sqlite3_column_count(row);

	buf_printf(b, "INSERT INTO %s(", table);
	for (int i = 0; i < n; i++)
		buf_printf(b, "%s%s", i > 0 ? ", " : "",
			   sqlite3_column_name(row, i));
	for (int i = 0; i < n; i++)
		buf_printf(b, "%s$%d", i > 0 ? ", " : ") VALUES(", i + 1);
	buf_add(b, ") ON CONFLICT DO NOTHING",
		sizeof(") ON CONFLICT DO NOTHING"));
}

/*
 * Copy ROW, whose first column is an id, into TABLE: *ADDED, or an equal row
 * exists already.
 */
static int copy_row(struct import *im, const char *table, const char *what,
		    sqlite3_stmt *row, bool *added)
{
	const char *values[IMPORT_COLUMNS];
	int n = values_of(row, values), rc;
	struct buf insert = {0}, compare = {0};
	int64_t got = 0;

	add_insert(&insert, table, row);
	buf_printf(&compare, "SELECT count(*) FROM %s WHERE true", table);
	for (int i = 0; i < n; i++)
		buf_printf(&compare, " AND %s IS NOT DISTINCT FROM $%d",
			   sqlite3_column_name(row, i), i + 1);
	buf_add(&compare, "", 1);
	rc = run_sql(im, buf_data(&insert), n, values, &got);
	*added = got > 0;
	if (rc == 0 && got == 0)
		rc = run_sql(im, buf_data(&compare), n, values, &got);
	if (rc != 0)
		rc = import_refused(im, rc, what, values[0]);
	else if (got == 0)
		rc = import_fail(im, -EEXIST,
				 "the database has another %s %s, or one with "
				 "its idempotency key, and nothing was copied; "
				 "delete that one, or import into an empty "
				 "schema",
				 what, values[0]);
	else if (!*added)
		im->done->before++;
	buf_fini(&insert);
	buf_fini(&compare);
	return rc;
}

static int copy_run(struct import *im, sqlite3_stmt *row)
{
	bool added;
	int rc = copy_row(im, "runs", "run", row, &added);

	im->done->runs += rc == 0 && added;
	return rc;
}

/* Copy a session, unless the row exists: the existing row is newer. */
static int copy_session(struct import *im, sqlite3_stmt *row)
{
	const char *values[IMPORT_COLUMNS];
	int n = values_of(row, values), rc;
	struct buf insert = {0};
	int64_t got = 0;

	add_insert(&insert, "sessions", row);
	rc = run_sql(im, buf_data(&insert), n, values, &got);
	im->done->sessions += got > 0;
	buf_fini(&insert);
	return rc == 0 ? 0 : import_refused(im, rc, "a session", "");
}

/* ---- artifacts ---- */

struct bytes {
	const char *id, *run_id, *sha256;
	char *path;
	int64_t size;
	struct sha256 sum;
	struct artifact_file *file; /* in the folder; NULL: in the database */
};

static int put_part(struct import *im, const struct bytes *a, int64_t part,
		    const char *data, size_t len)
{
	char number[24];
	const char *const values[] = {a->id, number, data};
	const int lengths[] = {0, 0, (int)len};
	PGresult *res = NULL;
	int rc;

	if (a->file != NULL)
		return artifact_file_write(a->file, data, len);
	snprintf(number, sizeof(number), "%" PRId64, part);
	rc = pq_link_send_binary(
	    &im->to, "INSERT INTO artifact_chunk VALUES($1, $2, $3::bytea)", 3,
	    values, lengths);
	if (rc == 0)
		rc = pq_link_wait(&im->to, &res);
	if (res != NULL)
		im->to.pq->clear(res);
	return rc == 0
		   ? 0
		   : import_refused(im, rc, "the bytes of the artifact", a->id);
}

static int damaged(struct import *im, const struct bytes *a, const char *why)
{
	return import_fail(im, -EUCLEAN,
			   "%s: %s; restore that file, or delete its run or "
			   "upload, and import it then",
			   a->path, why);
}

static int copy_parts(struct import *im, struct bytes *a)
{
	char *block = xrealloc(NULL, STORE_CHUNK_BYTES);
	int rc = 0;

	sha256_begin(&a->sum);
	for (int64_t at = 0, part = 0; rc == 0 && at < a->size; part++) {
		size_t len = STORE_CHUNK_BYTES, want = len;

		if (a->size - at < (int64_t)want)
			want = (size_t)(a->size - at);
		rc = state_file_read(a->path, at, block, &len);
		if (rc != 0)
			rc = damaged(im, a, strerror(-rc));
		else if (len < want)
			rc = damaged(im, a, "it is shorter than it was");
		else
			rc = put_part(im, a, part, block, want);
		sha256_add(&a->sum, block, rc == 0 ? want : 0);
		at += (int64_t)want;
	}
	free(block);
	return rc;
}

/* Place the file in the folder under the final name, before the row is written. */
static int place_bytes(struct import *im, struct bytes *a)
{
	char hex[65], *tmp = artifact_file_finish(a->file, hex);
	int rc = tmp == NULL ? -errno : state_file_sync(tmp);

	a->file = NULL;
	if (rc == 0)
		rc = state_file_place(im->folder, a->run_id, a->id, tmp);
	if (rc != 0 && tmp != NULL)
		unlink(tmp);
	free(tmp);
	return rc == 0 ? 0
		       : import_fail(im, rc, "%s: %s; %s", im->folder,
				     strerror(-rc), store_remedy(rc));
}

static int import_bytes(struct import *im, struct bytes *a)
{
	char hex[65];
	int rc;

	if (im->folder != NULL) {
		a->file = artifact_file_new(im->folder, "import");
		if (a->file == NULL)
			return import_fail(im, -errno, "%s: %s; %s", im->folder,
					   strerror(errno),
					   store_remedy(-errno));
	}
	rc = copy_parts(im, a);
	sha256_end(&a->sum, hex);
	if (rc == 0 && strcmp(hex, a->sha256) != 0)
		rc = damaged(im, a, "its SHA-256 is another than it was");
	if (rc == 0 && a->file != NULL)
		rc = place_bytes(im, a);
	artifact_file_free(a->file);
	if (rc == 0)
		im->done->bytes += a->size;
	return rc;
}

/*
 * Copy an artifact without bytes as if the bytes existed, then mark the bytes
 * as gone: so the triggers count as they counted in the source.
 */
static int copy_artifact(struct import *im, sqlite3_stmt *row)
{
	struct bytes a = {
	    .id = (const char *)sqlite3_column_text(row, 0),
	    .run_id = (const char *)sqlite3_column_text(row, 1),
	    .sha256 = (const char *)sqlite3_column_text(row, 2),
	    .size = sqlite3_column_int64(row, 3),
	};
	bool added;
	int rc;

	if (!state_file_name_ok(a.id) || !state_file_name_ok(a.run_id))
		return import_fail(im, -EUCLEAN,
				   "%s: an artifact has no id; %s", im->dir,
				   store_remedy(-EUCLEAN));
	rc = copy_row(im, "artifacts", "artifact", row, &added);
	if (rc != 0 || !added)
		return rc;
	im->done->artifacts++;
	a.path = state_file_artifact(im->dir, a.run_id, a.id);
	rc = import_bytes(im, &a);
	free(a.path);
	return rc;
}

static int copy_gone(struct import *im, sqlite3_stmt *row)
{
	const char *values[IMPORT_COLUMNS];
	int n = values_of(row, values);
	struct buf insert = {0};
	int64_t added = 0;
	int rc;

	add_insert(&insert, "artifacts", row);
	rc = run_sql(im, buf_data(&insert), n, values, &added);
	if (rc == 0 && added > 0)
		rc = run_sql(im, "UPDATE artifacts SET gone = 1 WHERE id = $1",
			     1, values, NULL);
	buf_fini(&insert);
	return rc == 0 ? 0 : import_refused(im, rc, "the artifact", values[0]);
}

/* ---- use by deleted runs ---- */

/* Use that belongs to no row, so that triggers do not count the use. */
#define USED_BY_NO_ROW                                                         \
	"SELECT requestor, template_id, hour, sum(n) AS n, sum(cpu) AS cpu,"   \
	" sum(bytes) AS bytes FROM ("                                          \
	"SELECT requestor, template_id, hour, runs AS n, cpu_ms AS cpu, bytes" \
	" FROM used UNION ALL SELECT requestor, template_id,"                  \
	" created_ms / 3600000, -1, -cpu_ms, -bytes FROM runs"                 \
	" UNION ALL SELECT r.requestor, r.template_id,"                        \
	" r.created_ms / 3600000, 0, 0, -a.size FROM artifacts AS a"           \
	" JOIN runs AS r ON r.requestor = a.requestor AND r.id = a.run_id"     \
	" WHERE a.gone = 0 UNION ALL SELECT requestor, '',"                    \
	" created_ms / 3600000, -1, 0, CASE gone WHEN 0 THEN -size ELSE 0 END" \
	" FROM artifacts WHERE upload = 1) GROUP BY 1, 2, 3"                   \
	" HAVING sum(n) <> 0 OR sum(cpu) <> 0 OR sum(bytes) <> 0"

static int copy_used(struct import *im, sqlite3_stmt *row)
{
	const char *values[IMPORT_COLUMNS];
	int n = values_of(row, values);
	int rc = run_sql(
	    im,
	    "INSERT INTO used AS u VALUES($1, $2, $3, $4, $5, $6)"
	    " ON CONFLICT (requestor, template_id, hour, slot) DO UPDATE SET"
	    " runs = u.runs + excluded.runs, cpu_ms = u.cpu_ms + excluded.cpu_ms,"
	    " bytes = u.bytes + excluded.bytes",
	    n, values, NULL);

	return rc == 0 ? 0
		       : import_refused(im, rc, "what was used by", values[0]);
}

/* ---- the whole state ---- */

#define ARTIFACT_COLUMNS                                                       \
	"id, run_id, sha256, size, requestor, name, mime_type, created_ms,"    \
	" expires_ms, upload, 0 AS gone FROM artifacts"

static int copy_all(struct import *im)
{
	const struct store_imported *done = im->done;
	int rc = pq_link_run(&im->to, "BEGIN; SELECT pg_advisory_xact_lock("
				      "hashtextextended('paddock import ' ||"
				      " current_schema(), 0))");

	if (rc != 0)
		return import_refused(im, rc, "to begin", "");
	rc = import_each(im, "SELECT * FROM runs", copy_run);
	if (rc == 0)
		rc = import_each(im,
				 "SELECT " ARTIFACT_COLUMNS " WHERE gone = 0",
				 copy_artifact);
	if (rc == 0 && done->before > 0 && done->runs + done->artifacts > 0)
		rc = import_fail(im, -EEXIST,
				 "the database has %" PRId64
				 " of these runs and "
				 "artifacts, and lacks the others: they were "
				 "imported before, and have changed since; "
				 "nothing was copied",
				 done->before);
	if (rc != 0 || done->before > 0)
		return rc; /* the rows exist already */
	rc = import_each(im, "SELECT " ARTIFACT_COLUMNS " WHERE gone <> 0",
			 copy_gone);
	if (rc == 0)
		rc = import_each(im, "SELECT * FROM sessions", copy_session);
	if (rc == 0)
		rc = import_each(im, USED_BY_NO_ROW, copy_used);
	if (rc == 0 && (rc = pq_link_run(&im->to, "COMMIT")) != 0)
		rc = import_refused(im, rc, "to commit", "");
	return rc;
}

struct opened {
	bool told;
	struct import *im;
	int rc;
};

static void on_open(void *arg, const struct store_result *res)
{
	struct opened *v = arg;

	v->told = true;
	v->rc = res->rc;
	if (res->rc != 0)
		import_fail(v->im, res->rc, "%s", res->errmsg);
}

/* Create the tables or migrate the schema by starting a store, as a server does. */
static int make_tables(struct import *im, const char *url)
{
	char instance[ID_SIZE];
	struct opened v = {.im = im};
	struct store *s;

	id_new(instance, "inst");
	s = store_start(im->dir, instance);
	if (s == NULL)
		return import_fail(im, -errno, "%s", strerror(errno));
	store_set_url(s, url);
	store_open(s, on_open, &v);
	while (!v.told) {
		struct pollfd p = {.fd = store_fd(s), .events = POLLIN};

		(void)poll(&p, 1, -1);
		store_dispatch(s);
	}
	store_stop(s, 0);
	return v.rc;
}

int store_import(const char *state_dir, const char *url, const char *folder,
		 struct store_imported *done, char *errmsg, size_t size)
{
	struct import im = {.dir = state_dir,
			    .folder = folder,
			    .done = done,
			    .errmsg = errmsg,
			    .size = size};
	int rc = import_open(&im);

	if (rc == 0)
		rc = make_tables(&im, url);
	if (rc == 0) {
		rc = pq_link_open(&im.to, url);
		if (rc != 0)
			import_fail(&im, rc, "the database: %s; %s",
				    im.to.words, store_remedy(rc));
	}
	if (rc == 0)
		rc = copy_all(&im);
	if (im.to.pq != NULL)
		pq_link_close(&im.to);
	import_close(&im);
	if (rc != 0 || done->before > 0)
		*done = (struct store_imported){.before = done->before};
	return rc;
}
