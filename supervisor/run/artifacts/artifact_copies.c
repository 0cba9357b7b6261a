/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_copies.c - fetches artifacts out of the database into files, a part
 * at a time, for exec/runs_queue.c. An artifact that has expired, belongs to
 * another requestor, has the wrong digest, or finds no room on the disk is
 * -errno for each run that asks for the copy.
 */
#include "supervisor/run/artifacts/artifact_copies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/id.h"
#include "base/mem.h"
#include "supervisor/config/config.h"
#include "supervisor/context.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/store/store.h"
#include "supervisor/run/threads/file_sink.h"

#define PART_BYTES ((int64_t)1 << 20)

struct copy {
	TAILQ_ENTRY(copy) link; /* entry in artifact_copies.copies */
	struct artifact_copies *all;
	char id[ID_SIZE];
	char *requestor;
	size_t users;		/* number of runs that hold the copy */
	struct file_sink *sink; /* the file being written, or NULL */
	bool asking;		/* the store has yet to answer */
	int64_t at, size;
	char sha256[65]; /* the digest in the artifact's row */
	int rc;		 /* why the copy failed, or 0 */
	char *path;	 /* the complete file, or NULL */
};

/* The copies that a run holds. */
struct hold {
	TAILQ_ENTRY(hold) link; /* entry in artifact_copies.holds */
	char run_id[ID_SIZE];
	struct copy **copies;
	size_t n;
	bool told;
};

struct artifact_copies {
	struct context *ctx;
	void (*on_here)(void *arg, const char *run_id);
	void *arg;
	TAILQ_HEAD(, copy) copies;
	TAILQ_HEAD(, hold) holds;
};

struct artifact_copies *
artifact_copies_new(struct context *ctx,
		    void (*on_here)(void *arg, const char *run_id), void *arg)
{
	struct artifact_copies *all = xcalloc(1, sizeof(*all));

	*all = (struct artifact_copies){
	    .ctx = ctx, .on_here = on_here, .arg = arg};
	TAILQ_INIT(&all->copies);
	TAILQ_INIT(&all->holds);
	return all;
}

/* Free C, with its file, when no run holds C and the store has answered. */
static void put_away(struct copy *c)
{
	if (c->users > 0 || c->asking)
		return;
	TAILQ_REMOVE(&c->all->copies, c, link);
	file_sink_free(c->sink, NULL, NULL);
	if (c->path != NULL)
		file_sink_remove(c->all->ctx->thread_pool, NULL, c->path, NULL,
				 NULL);
	free(c->requestor);
	free(c);
}

static void hold_free(struct artifact_copies *all, struct hold *h)
{
	TAILQ_REMOVE(&all->holds, h, link);
	for (size_t i = 0; i < h->n; i++) {
		h->copies[i]->users--;
		put_away(h->copies[i]);
	}
	free(h->copies);
	free(h);
}

void artifact_copies_free(struct artifact_copies *all)
{
	struct hold *h;

	if (all == NULL)
		return;
	while ((h = TAILQ_FIRST(&all->holds)) != NULL)
		hold_free(all, h);
	free(all);
}

/* ---- fetching ---- */

static bool is_here(const struct hold *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->copies[i]->path == NULL && h->copies[i]->rc == 0)
			return false;
	return true;
}

static bool holds_copy(const struct hold *h, const struct copy *c)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->copies[i] == c)
			return true;
	return false;
}

/*
 * Find the next run to tell that its copies are settled. Search anew each time:
 * a run that was told may release its copies, or another run's.
 */
static struct hold *next_to_tell(struct artifact_copies *all,
				 const struct copy *c)
{
	struct hold *h;

	TAILQ_FOREACH(h, &all->holds, link)
		if (!h->told && holds_copy(h, c) && is_here(h))
			return h;
	return NULL;
}

static void settle_copy(struct copy *c, int rc)
{
	struct artifact_copies *all = c->all;
	struct hold *h;

	c->rc = rc;
	file_sink_free(c->sink, NULL, NULL);
	c->sink = NULL;
	c->users++; /* keep C while runs are told */
	while ((h = next_to_tell(all, c)) != NULL) {
		h->told = true;
		all->on_here(all->arg, h->run_id);
	}
	c->users--;
	put_away(c);
}

static void ask_part(struct copy *c);

/* The file is written. The digest must equal the digest of the row. */
static void on_written(void *arg, const struct file_sink_end *end)
{
	struct copy *c = arg;

	c->path = end->path;
	if (end->rc == 0 && strcmp(end->sha256, c->sha256) != 0) {
		file_sink_remove(c->all->ctx->thread_pool, NULL, c->path, NULL,
				 NULL);
		c->path = NULL;
		settle_copy(c, -EUCLEAN);
	} else {
		settle_copy(c, end->rc);
	}
}

static void on_room(void *arg)
{
	ask_part(arg);
}

static const struct file_sink_ops sink_ops = {on_room, on_written};

static void on_part(void *arg, const struct store_result *res)
{
	struct copy *c = arg;
	int rc = res->rc;
	size_t room;
	char *to;

	c->asking = false;
	if (c->users == 0) {
		put_away(c);
		return;
	}
	if (rc == 0 && res->len == 0 && c->at < c->size)
		rc = -EIO;
	if (rc == 0) {
		/* the part is a block of the sink's */
		to = file_sink_room(c->sink, &room);
		if (res->len > room)
			rc = -EIO; /* more than the row says */
		else
			memcpy(to, res->data, res->len);
	}
	if (rc == 0)
		rc = file_sink_wrote(c->sink, res->len);
	if (rc == 0) {
		c->at += (int64_t)res->len;
		snprintf(c->sha256, sizeof(c->sha256), "%s",
			 res->artifact->sha256);
	}
	if (rc == 0 && c->at >= c->size)
		rc = file_sink_finish(c->sink);
	else if (rc == 0 && file_sink_wants(c->sink))
		ask_part(c);
	if (rc != 0)
		settle_copy(c, rc);
}

static void ask_part(struct copy *c)
{
	c->asking = true;
	store_read_artifact(c->all->ctx->store, c->requestor, c->id, c->at,
			    PART_BYTES, on_part, c);
}

/*
 * Return how many bytes of copies under way are still to be written: room that no
 * other writer may take.
 */
static int64_t to_come(const struct artifact_copies *all)
{
	const struct copy *c;
	int64_t bytes = 0;

	TAILQ_FOREACH(c, &all->copies, link)
		if (c->sink != NULL)
			bytes += c->size - c->at;
	return bytes;
}

/* ---- for runs ---- */

/*
 * Find or begin the copy of F for REQUESTOR: no other requestor may read the artifact.
 */
static struct copy *find_copy(struct artifact_copies *all,
			      const char *requestor, const struct run_file *f)
{
	const struct context *ctx = all->ctx;
	const struct file_sink_ask ask_for = {.pool = ctx->thread_pool,
					      .config = ctx->config,
					      .instance = ctx->instance,
					      .size = f->size};
	struct copy *c;

	TAILQ_FOREACH(c, &all->copies, link)
		if (c->rc == 0 && strcmp(c->id, f->artifact) == 0 &&
		    strcmp(c->requestor, requestor) == 0)
			return c;
	c = xcalloc(1, sizeof(*c));
	*c = (struct copy){
	    .all = all, .requestor = xstrdup(requestor), .size = f->size};
	memcpy(c->id, f->artifact, sizeof(c->id));
	TAILQ_INSERT_TAIL(&all->copies, c, link);
	if (disk_space(ctx->config, to_come(all) + c->size) != DISK_SPACE_OK) {
		c->rc = -ENOSPC;
		return c;
	}
	c->sink = file_sink_new(&ask_for, &sink_ops, c);
	ask_part(c);
	return c;
}

static struct hold *hold_of(struct artifact_copies *all, const char *run_id)
{
	struct hold *h;

	TAILQ_FOREACH(h, &all->holds, link)
		if (strcmp(h->run_id, run_id) == 0)
			return h;
	return NULL;
}

bool artifact_copies_take(struct artifact_copies *all, const char *run_id,
			  const char *requestor, const struct run_files *files)
{
	struct hold *h = hold_of(all, run_id);

	if (h != NULL)
		return h->told;
	h = xcalloc(1, sizeof(*h));
	snprintf(h->run_id, sizeof(h->run_id), "%s", run_id);
	h->copies = xcalloc(files->n, sizeof(struct copy *));
	TAILQ_INSERT_TAIL(&all->holds, h, link);
	for (size_t i = 0; i < files->n; i++) {
		if (files->v[i].bytes != NULL)
			continue;
		h->copies[h->n] = find_copy(all, requestor, &files->v[i]);
		h->copies[h->n++]->users++;
	}
	h->told = is_here(h);
	return h->told;
}

void artifact_copies_name(struct artifact_copies *all, const char *run_id,
			  struct run_files *files)
{
	const struct hold *h = hold_of(all, run_id);
	size_t n = 0;

	for (size_t i = 0; h != NULL && i < files->n; i++) {
		struct run_file *f = &files->v[i];
		const struct copy *c;

		if (f->bytes != NULL)
			continue;
		c = h->copies[n++];
		f->copy_rc = c->rc;
		snprintf(f->copy, sizeof(f->copy), "%s",
			 c->path != NULL ? strrchr(c->path, '/') + 1 : "");
	}
}

void artifact_copies_release(struct artifact_copies *all, const char *run_id)
{
	struct hold *h = hold_of(all, run_id);

	if (h != NULL)
		hold_free(all, h);
}
