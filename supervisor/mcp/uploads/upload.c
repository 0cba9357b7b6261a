/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload.c - files from clients, for upload_method.c (lines) and HTTP.
 * threads/file_sink.c writes them. A failure is reported once, by on_done(). If
 * a client goes, its file is removed, and counts until it is gone.
 */
#include "supervisor/mcp/uploads/upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/fair_share.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "base/text/mime.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/packages/inputs/file_name.h"
#include "supervisor/run/audit.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/store/store.h"
#include "supervisor/run/threads/file_sink.h"

#define MIME_MAX 255

struct upload {
	struct context *ctx;
	struct requestor *requestor;
	const struct upload_ops *ops;
	void *arg;
	char id[ID_SIZE];
	char *name, *mime_type;
	char wanted[65]; /* the digest announced by the client, or "" */
	int64_t size;	 /* UPLOAD_UNKNOWN: not announced */
	int64_t got, promised;
	struct file_sink *sink; /* until the file is whole */
	struct event *tell;	/* reports ERR, in a turn of its own */
	struct tool_error err;
	bool ended; /* the last byte came, or no more are taken */
	bool storing, canceled;
	char *path; /* a whole file which is not the store's yet */
	char sha256[65];
	int64_t kept_ms; /* when the file went to the store */
	int64_t expires_ms;
};

/* The file is gone from the disk, if it was there: end the count. */
static void on_gone(void *arg)
{
	struct upload *u = arg;
	struct requestor *q = u->requestor;

	q->uploads--;
	u->ctx->uploads--;
	if (u->promised > 0)
		requestor_kept_one(q, u->promised, false);
	free(u);
}

static void upload_free(struct upload *u)
{
	struct file_sink *sink = u->sink;
	char *path = u->path;

	event_free(u->tell);
	tool_error_fini(&u->err);
	free(u->name);
	free(u->mime_type);
	file_sink_free(sink, path == NULL ? on_gone : NULL, u);
	/* U lives until the file is removed: on_gone() frees U */
	if (path != NULL)
		file_sink_remove(u->ctx->thread_pool, u->requestor, path,
				 on_gone, u);
}

/* ---- failures ---- */

/* Have U's error reported in a turn of its own. */
static void fail_upload(struct upload *u)
{
	u->ended = true;
	if (!u->storing)
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

static void set_unavailable(struct tool_error *err, const char *says)
{
	tool_error_set(err, "STORE_UNAVAILABLE", NULL,
		       "this server could not keep the artifact: %s", says);
}

static void not_written(struct upload *u, int rc)
{
	log_error("upload", "requestor=%s err=\"%s: %s; %s\"",
		  u->requestor->name, config_files_dir(u->ctx->config),
		  strerror(-rc), store_remedy(rc));
	set_unavailable(&u->err, store_says(rc));
	fail_upload(u);
}

/* ---- the bytes of a file ---- */

static void charge_upload(struct upload *u);

static void on_room(void *arg)
{
	struct upload *u = arg;

	if (!u->ended)
		u->ops->on_room(u->arg);
}

static void written(struct upload *u)
{
	if (u->wanted[0] != '\0' && strcasecmp(u->wanted, u->sha256) != 0) {
		tool_error_set(&u->err, "INVALID_PARAMETER", NULL,
			       "the SHA-256 of the %lld bytes that came is %s, "
			       "and %s was announced; send the file again",
			       (long long)u->got, u->sha256, u->wanted);
		fail_upload(u);
	} else {
		charge_upload(u);
	}
}

static void on_written(void *arg, const struct file_sink_end *end)
{
	struct upload *u = arg;

	u->path = end->path;
	snprintf(u->sha256, sizeof(u->sha256), "%s", end->sha256);
	if (u->err.code != NULL)
		return; /* U has failed, and reports that */
	if (end->says != NULL) {
		set_unavailable(&u->err, end->says);
		fail_upload(u);
	} else if (end->rc != 0) {
		not_written(u, end->rc);
	} else {
		written(u);
	}
}

static const struct file_sink_ops sink_ops = {on_room, on_written};

/* Fail U if RC says that no thread takes the bytes. */
static void taken(struct upload *u, int rc)
{
	if (rc != 0 && u->err.code == NULL)
		not_written(u, rc);
}

bool upload_wants(struct upload *u)
{
	return !u->ended && file_sink_wants(u->sink);
}

bool upload_failed(const struct upload *u)
{
	return u->err.code != NULL;
}

char *upload_room(struct upload *u, size_t *n)
{
	char *to = file_sink_room(u->sink, n);

	if (u->ended)
		*n = 0;
	return to;
}

void upload_wrote(struct upload *u, size_t n)
{
	u->got += (int64_t)n;
	/* bytes of a size that was not announced count as they come, if allowed */
	if (u->size == UPLOAD_UNKNOWN) {
		if (requestor_no_room(u->requestor, (int64_t)n, &u->err)) {
			fail_upload(u);
			return;
		}
		requestor_keep(u->requestor, (int64_t)n);
		u->promised += (int64_t)n;
	}
	taken(u, file_sink_wrote(u->sink, n));
}

void upload_end(struct upload *u)
{
	if (u->ended)
		return; /* U has failed, and reports that */
	u->ended = true;
	if (u->size != UPLOAD_UNKNOWN && u->got != u->size) {
		tool_error_set(&u->err, "INVALID_PARAMETER", NULL,
			       "%lld bytes came, and %lld were announced",
			       (long long)u->got, (long long)u->size);
		fail_upload(u);
	} else {
		taken(u, file_sink_finish(u->sink));
	}
}

void upload_cancel(struct upload *u)
{
	if (u == NULL)
		return;
	u->canceled = true;
	if (!u->storing)
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
	memcpy(row.run_id, u->id, sizeof(row.run_id)); /* not of a run */
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
		set_unavailable(&u->err, store_says(res->rc));
		fail_upload(u);
		return;
	}
	if (res->rc == 0) {
		log_info("upload", "requestor=%s artifact=%s bytes=%lld",
			 u->requestor->name, u->id, (long long)u->got);
		audit_uploaded(u->requestor, u->id, u->got, u->sha256);
	}
	if (u->canceled) {
		upload_free(u);
		return;
	}
	view = upload_view(&row);
	upload_free(u);
	ops->on_done(to, view, NULL);
	json_object_put(view);
}

static void store_upload(struct upload *u)
{
	struct store_artifact row;

	u->kept_ms = clock_wall_ms();
	u->expires_ms = u->kept_ms + u->ctx->config->artifact_ttl_ms;
	row = row_of(u);
	u->storing = true;
	store_put_artifact(u->ctx->store, &row, u->path, STORE_SYNC, on_put, u);
	free(u->path); /* the store owns the file */
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
		fail_upload(u);
	else
		store_upload(u);
}

/* Store U: when the requestor's usage is known, else after asking for it. */
static void charge_upload(struct upload *u)
{
	/* usage on other servers may have changed */
	if (u->requestor->usage_known && u->ctx->cluster == NULL) {
		store_upload(u);
		return;
	}
	u->storing = true;
	requestor_asks_usage(u->requestor);
	store_usage(u->ctx->store, u->requestor->name, on_usage, u);
}

/* ---- the beginning ---- */

static bool may_begin(struct context *ctx, struct requestor *q,
		      const struct upload_ask *ask, struct tool_error *err)
{
	int64_t size = ask->size > 0 ? ask->size : 0;
	int64_t others = (int64_t)(ctx->uploads - q->uploads);
	const char *says;

	if (q->uploads >= UPLOADS_EACH ||
	    (int64_t)q->uploads >= fair_share(UPLOADS_MAX, others)) {
		tool_error_set(err, "QUOTA_EXCEEDED", NULL,
			       "%zu uploads of yours are under way, and this "
			       "server gives you no more now; await one, and "
			       "try again",
			       q->uploads);
		return false;
	}
	if (requestor_no_room(q, size, err))
		return false;
	says = disk_space_message(disk_space(ctx->config, 0));
	if (says == NULL && disk_space(ctx->config, size) != DISK_SPACE_OK)
		says = "its disk has no room for a file of that size";
	if (says != NULL)
		set_unavailable(err, says);
	return says == NULL;
}

/* Is S a media type? It is written into heads of answers. */
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
	const struct file_sink_ask sink = {.pool = ctx->thread_pool,
					   .requestor = q,
					   .config = ctx->config,
					   .instance = ctx->instance,
					   .size = ask->size};
	struct upload *u;

	if (!q->usage_asked)
		artifact_save_count(ctx->store, q);
	if (!may_begin(ctx, q, ask, err))
		return NULL;
	store_begin(ctx->store);
	u = xcalloc(1, sizeof(*u));
	*u = (struct upload){.ctx = ctx,
			     .requestor = q,
			     .ops = ops,
			     .arg = arg,
			     .size = ask->size};
	u->sink = file_sink_new(&sink, &sink_ops, u);
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
	taken(u, file_sink_begin(u->sink));
	q->uploads++;
	ctx->uploads++;
	return u;
}

/* ---- deletion, which is audited, and the usage counted again ---- */

struct going {
	struct context *ctx;
	struct requestor *requestor;
	char id[ID_SIZE];
	store_done done;
	void *arg;
};

static void on_deleted(void *arg, const struct store_result *res)
{
	struct going *g = arg;

	if (res->rc == 0) {
		audit_uploads_deleted(g->requestor, g->id, 0, 1);
		artifact_save_count(g->ctx->store, g->requestor);
	}
	g->done(g->arg, res);
	free(g);
}

void upload_delete(struct context *ctx, struct requestor *q, const char *id,
		   store_done done, void *arg)
{
	struct going *g = xcalloc(1, sizeof(*g));

	*g = (struct going){
	    .ctx = ctx, .requestor = q, .done = done, .arg = arg};
	snprintf(g->id, sizeof(g->id), "%s", id);
	store_delete_upload(ctx->store, q->name, id, on_deleted, g);
}
