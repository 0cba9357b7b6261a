/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.c - files that clients send, for upload_method.c (lines) and
 * HTTP. A job on a thread has the file and a block of it; the loop
 * has the other block. What is wrong is told once, by on_done(); a client that
 * goes leaves nothing behind.
 */
#include "supervisor/uploads/upload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fair_share.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "base/text/mime.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/exec/artifact_save.h"
#include "supervisor/inputs/file_name.h"
#include "supervisor/state/artifact_file.h"
#include "supervisor/state/disk_space.h"
#include "supervisor/store/store.h"
#include "supervisor/threads/thread_pool.h"

#define BLOCK_BYTES (1u << 20)
#define SYNC_BYTES (8u << 20) /* after which the disk begins with them */
#define CPU_MS 5000	      /* of one block: far above what it takes */
#define MIME_MAX 255

struct block {
	char *data;
	size_t n;
};

struct job; /* of a thread, and what of the upload it has meanwhile */

struct upload {
	struct context *ctx;
	struct requestor *requestor;
	const struct upload_ops *ops;
	void *arg;
	char id[ID_SIZE];
	char *name, *mime_type;
	char wanted[65]; /* the digest that its client said; or "" */
	int64_t size;	 /* UPLOAD_UNKNOWN: as it comes */
	int64_t got, promised;
	struct artifact_file *file;
	struct block in, out; /* the loop's, and the job's… */
	uint64_t written;     /* …which has written so many bytes */
	struct job *job;
	struct event *tell; /* of ERR, when nothing is under way */
	struct tool_error err;
	bool ended; /* all of it has come… */
	bool last;  /* …and the last job is given */
	bool full;  /* room was asked for, and there was none */
	bool storing, canceled;
	char *path; /* finished, and not the store's yet */
	char sha256[65];
	int64_t kept_ms; /* when it went to the store */
	int64_t expires_ms;
};

struct job {
	struct upload *upload;
	struct thread_pool_job *job;
	bool last;
	int rc; /* what came of it */
};

static void upload_free(struct upload *u)
{
	struct requestor *q = u->requestor;

	q->uploads--;
	u->ctx->uploads--;
	if (u->promised > 0)
		requestor_kept_one(q, u->promised, false);
	artifact_file_free(u->file);
	if (u->path != NULL)
		unlink(u->path);
	event_free(u->tell);
	tool_error_fini(&u->err);
	free(u->path);
	free(u->in.data);
	free(u->out.data);
	free(u->name);
	free(u->mime_type);
	free(u);
}

/* ---- what is wrong ---- */

/* U's error is set. It is told in a turn of its own. */
static void fail(struct upload *u)
{
	u->ended = true;
	if (u->job == NULL && !u->storing)
		event_active(u->tell, EV_TIMEOUT, 0);
}

static void on_tell(evutil_socket_t fd, short what, void *arg)
{
	struct upload *u = arg;
	struct tool_error err = u->err;
	const struct upload_ops *ops = u->ops;
	void *to = u->arg;

	(void)fd, (void)what;
	u->err = (struct tool_error){0};
	upload_free(u);
	ops->on_done(to, NULL, &err);
	tool_error_fini(&err);
}

static void unavailable(struct tool_error *err, const char *says)
{
	tool_error_set(err, "STORE_UNAVAILABLE", NULL,
		       "this server could not keep the artifact: %s", says);
}

static void not_written(struct upload *u, int rc)
{
	log_error("upload", "requestor=%s err=\"%s: %s; %s\"",
		  u->requestor->name, config_files_dir(u->ctx->config),
		  strerror(-rc), store_remedy(rc));
	unavailable(&u->err, store_says(rc));
	fail(u);
}

static bool disk_has_room(const struct context *ctx, int64_t size,
			  struct tool_error *err)
{
	const char *says = disk_space_message(disk_space(ctx->config, 0));

	if (says == NULL && disk_space(ctx->config, size) != DISK_SPACE_OK)
		says = "its disk has no room for a file of that size";
	if (says != NULL)
		unavailable(err, says);
	return says == NULL;
}

/* ---- on a thread ---- */

static void work(struct thread_pool_job *j, void *arg)
{
	struct job *job = arg;
	struct upload *u = job->upload;

	(void)j;
	job->rc = artifact_file_write(u->file, u->out.data, u->out.n);
	if ((u->written + u->out.n) / SYNC_BYTES > u->written / SYNC_BYTES)
		artifact_file_begin_sync(u->file);
	u->written += u->out.n;
	if (job->last)
		job->rc = artifact_file_sync(u->file);
}

/* ---- on the loop ---- */

static bool is_full(const struct upload *u)
{
	return BLOCK_BYTES - u->in.n < UPLOAD_ROOM_LEAST;
}

static void submit(struct upload *u);
static void keep(struct upload *u);

static void finish(struct upload *u)
{
	u->path = artifact_file_finish(u->file, u->sha256);
	u->file = NULL;
	if (u->path == NULL) {
		not_written(u, -errno);
	} else if (u->wanted[0] != '\0' &&
		   strcasecmp(u->wanted, u->sha256) != 0) {
		tool_error_set(&u->err, "INVALID_PARAMETER", NULL,
			       "the SHA-256 of the %lld bytes that came is %s, "
			       "and %s was announced; send the file again",
			       (long long)u->got, u->sha256, u->wanted);
		fail(u);
	} else {
		keep(u);
	}
}

static void on_worked(void *arg, const struct thread_pool_result *end)
{
	struct job *job = arg;
	struct upload *u = job->upload;
	bool room = u->full;

	(void)end;
	job->upload = NULL; /* drop() has nothing to free */
	u->job = NULL;
	u->out.n = 0;
	if (u->err.code != NULL) {
		fail(u);
	} else if (job->rc < 0) {
		not_written(u, job->rc);
	} else if (job->last) {
		finish(u);
	} else {
		u->full = false;
		if (u->ended || is_full(u))
			submit(u);
		if (room && !u->ended)
			u->ops->on_room(u->arg);
	}
}

/* One that was cancelled: nobody else has it any more. */
static void drop(void *arg)
{
	struct job *job = arg;

	if (job->upload != NULL)
		upload_free(job->upload);
	free(job);
}

static const struct thread_pool_kind kind = {.name = "upload",
					     .cpu_ms = CPU_MS,
					     .work = work,
					     .done = on_worked,
					     .drop = drop};

/* What has come goes to a thread; what comes next has the other block. */
static void submit(struct upload *u)
{
	struct block was = u->out;
	struct job *job;

	if (u->err.code == NULL && !disk_has_room(u->ctx, 0, &u->err)) {
		fail(u);
		return;
	}
	job = xcalloc(1, sizeof(*job));
	u->out = u->in;
	u->in = was;
	*job = (struct job){.upload = u, .last = u->ended};
	job->job =
	    thread_pool_submit(u->ctx->thread_pool, u->requestor, &kind, job);
	if (job->job != NULL) {
		u->job = job;
		return;
	}
	free(job);
	tool_error_set(&u->err, "QUOTA_EXCEEDED", NULL,
		       "%d jobs of yours wait for a thread already; send the "
		       "file again when some of them have ended",
		       THREAD_POOL_JOBS_MAX);
	fail(u);
}

bool upload_wants(struct upload *u)
{
	u->full = u->ended || is_full(u);
	return !u->full;
}

bool upload_failed(const struct upload *u)
{
	return u->err.code != NULL;
}

char *upload_room(struct upload *u, size_t *n)
{
	*n = u->ended ? 0 : BLOCK_BYTES - u->in.n;
	u->full = *n == 0;
	if (u->in.data == NULL)
		u->in.data = xcalloc(1, BLOCK_BYTES);
	return u->in.data + u->in.n;
}

/* Of one that did not say how large it is each part has to be allowed. */
static bool may_grow(struct upload *u, size_t n)
{
	if (u->size != UPLOAD_UNKNOWN)
		return true;
	if (requestor_no_room(u->requestor, (int64_t)n, &u->err))
		return false;
	requestor_keep(u->requestor, (int64_t)n);
	u->promised += (int64_t)n;
	return true;
}

void upload_wrote(struct upload *u, size_t n)
{
	u->in.n += n;
	u->got += (int64_t)n;
	if (!may_grow(u, n))
		fail(u);
	else if (is_full(u) && u->job == NULL)
		submit(u);
}

void upload_end(struct upload *u)
{
	if (u->ended)
		return; /* it has failed, and tells that */
	u->ended = true;
	if (u->size != UPLOAD_UNKNOWN && u->got != u->size) {
		tool_error_set(&u->err, "INVALID_PARAMETER", NULL,
			       "%lld bytes came, and %lld were announced",
			       (long long)u->got, (long long)u->size);
		fail(u);
	} else if (u->job == NULL) {
		submit(u);
	}
}

void upload_cancel(struct upload *u)
{
	if (u == NULL)
		return;
	u->canceled = true;
	if (u->job != NULL)
		thread_pool_cancel(u->job->job);
	else if (!u->storing)
		upload_free(u);
}

/* ---- into the store ---- */

struct json_object *upload_view(const struct store_artifact *a)
{
	char expires[CLOCK_ISO_SIZE];

	clock_iso(expires, a->expires_ms);
	return json_pack("artifactId:s name:s mimeType:s bytes:i sha256:s "
			 "expiresAt?s",
			 a->id, a->name, a->mime_type, a->size, a->sha256,
			 a->expires_ms > 0 ? expires : NULL);
}

static struct store_artifact row_of(const struct upload *u)
{
	struct store_artifact row = {.requestor = u->requestor->name,
				     .name = u->name,
				     .mime_type = u->mime_type,
				     .sha256 = u->sha256,
				     .size = u->got,
				     .created_ms = u->kept_ms,
				     .expires_ms = u->expires_ms};

	memcpy(row.id, u->id, sizeof(row.id));
	memcpy(row.run_id, u->id, sizeof(row.run_id)); /* no run's */
	return row;
}

static void on_put(void *arg, const struct store_result *res)
{
	struct upload *u = arg;
	const struct upload_ops *ops = u->ops;
	struct store_artifact row = row_of(u);
	struct json_object *view;
	void *to = u->arg;

	u->storing = false;
	requestor_kept_one(u->requestor, u->promised, res->rc == 0);
	u->promised = 0;
	if (res->rc != 0 && !u->canceled) {
		log_error("upload", "requestor=%s artifact=lost err=\"%s\"",
			  u->requestor->name, res->errmsg);
		unavailable(&u->err, store_says(res->rc));
		fail(u);
		return;
	}
	if (res->rc == 0)
		log_info("upload", "requestor=%s artifact=%s bytes=%lld",
			 u->requestor->name, u->id, (long long)u->got);
	if (u->canceled) {
		upload_free(u);
		return;
	}
	view = upload_view(&row);
	upload_free(u);
	ops->on_done(to, view, NULL);
	json_object_put(view);
}

static void put(struct upload *u)
{
	struct store_artifact row;

	u->kept_ms = clock_wall_ms();
	u->expires_ms = u->kept_ms + u->ctx->config->artifact_ttl_ms;
	row = row_of(u);
	u->storing = true;
	store_put_artifact(u->ctx->store, &row, u->path, STORE_SYNC, on_put, u);
	free(u->path); /* the file is the store's */
	u->path = NULL;
}

static void on_usage(void *arg, const struct store_result *res)
{
	struct upload *u = arg;
	struct requestor *q = u->requestor;

	u->storing = false;
	if (res->rc == 0)
		requestor_set_usage(q, res->artifact_bytes, res->row_bytes);
	if (u->canceled)
		upload_free(u);
	else if (requestor_no_room(q, 0, &u->err))
		fail(u);
	else
		put(u);
}

/* How much its requestor has is known, or asked for now. */
static void keep(struct upload *u)
{
	/* what it has elsewhere may have changed since */
	if (u->requestor->usage_known && !store_is_shared(u->ctx->store)) {
		put(u);
		return;
	}
	u->storing = true;
	requestor_asks_usage(u->requestor);
	store_usage(u->ctx->store, u->requestor->name, on_usage, u);
}

/* ---- one begins ---- */

static bool may_begin(struct context *ctx, struct requestor *q,
		      const struct upload_ask *ask, struct tool_error *err)
{
	int64_t size = ask->size > 0 ? ask->size : 0;
	int64_t others = (int64_t)(ctx->uploads - q->uploads);

	if (q->uploads >= UPLOADS_EACH ||
	    (int64_t)q->uploads >= fair_share(UPLOADS_MAX, others)) {
		tool_error_set(err, "QUOTA_EXCEEDED", NULL,
			       "%zu uploads of yours are under way, and this "
			       "server gives you no more now; await one, and "
			       "try again",
			       q->uploads);
		return false;
	}
	return !requestor_no_room(q, size, err) &&
	       disk_has_room(ctx, size, err);
}

/* A media type is written into heads of answers. */
static bool is_mime(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n <= MIME_MAX && utf8_printable(s, n);
}

struct upload *upload_begin(struct context *ctx, struct requestor *q,
			    const struct upload_ask *ask,
			    const struct upload_ops *ops, void *arg,
			    struct tool_error *err)
{
	struct artifact_file *file;
	struct upload *u;

	if (!q->usage_asked)
		artifact_save_count(ctx->store, q);
	if (!may_begin(ctx, q, ask, err))
		return NULL;
	store_begin(ctx->store);
	file = artifact_file_new(config_files_dir(ctx->config), ctx->instance);
	if (file == NULL) {
		unavailable(err, store_says(-errno));
		return NULL;
	}
	u = xcalloc(1, sizeof(*u));
	*u = (struct upload){.ctx = ctx,
			     .requestor = q,
			     .ops = ops,
			     .arg = arg,
			     .size = ask->size,
			     .file = file};
	id_new(u->id, "art");
	u->name = ask->name != NULL ? file_name_safe(ask->name) : NULL;
	if (u->name == NULL)
		u->name = xstrdup("upload");
	u->mime_type = xstrdup(ask->mime_type != NULL && is_mime(ask->mime_type)
				   ? ask->mime_type
				   : mime_of(u->name, strlen(u->name)));
	if (ask->sha256 != NULL)
		snprintf(u->wanted, sizeof(u->wanted), "%s", ask->sha256);
	if (ask->size > 0) {
		requestor_keep(q, ask->size);
		u->promised = ask->size;
	}
	u->tell = evtimer_new(ctx->base, on_tell, u);
	q->uploads++;
	ctx->uploads++;
	return u;
}
