/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_sink.c - writes bytes from clients and workers into STATE/artifacts/tmp,
 * for uploads/, worker/ and artifacts/. A job on a thread has the file and one
 * block; the loop has the other block. A failure ends the sink, and on_done()
 * tells the failure; at the end of the server open files are removed at once.
 */
#include "supervisor/run/threads/file_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/config/config.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/store/state/artifact_file.h"
#include "supervisor/store/state/disk_space.h"
#include "supervisor/run/threads/thread_pool.h"

#define BLOCK_BYTES ((int64_t)1 << 20)
/* start writing to the disk after so many bytes */
#define BEGIN_SYNC_BYTES (8u << 20)
#define SYNC_BYTES (1u << 20) /* the store syncs files up to this size */
#define CPU_MS 5000 /* deadline of one block, far above the usual time */

struct block {
	char *data;
	size_t n;
};

struct job; /* a thread's job, with the parts of the sink used meanwhile */

struct file_sink {
	struct thread_pool *pool;
	struct requestor *requestor;
	const struct file_sink_ops *ops;
	void *arg;
	char *dir, *instance;
	struct disk_space_of disk;
	int64_t left; /* bytes still to come; INT64_MAX: unknown */
	size_t block_bytes;
	struct artifact_file *file;
	struct block in, out; /* IN is the loop's, OUT the job's */
	uint64_t written;     /* bytes that jobs have written */
	struct job *job;
	bool ended; /* the last byte has come */
	bool full;  /* room was asked for, and there was none */
	char *path; /* the finished file, until on_done() hands the path over */
	char sha256[65];
	bool gone; /* the owner has freed the sink */
	void (*on_gone)(void *arg);
	void *gone_arg;
};

struct job {
	struct file_sink *sink;
	bool last;
	int rc; /* result of the job: 0 or -errno */
	const char *says;
};

/* ---- on a thread ---- */

static int open_sink_file(struct file_sink *s)
{
	if (s->file == NULL)
		s->file = artifact_file_new(s->dir, s->instance);
	return s->file == NULL ? -errno : 0;
}

static int write_block(struct file_sink *s)
{
	uint64_t was = s->written;
	int rc = artifact_file_write(s->file, s->out.data, s->out.n);

	s->written += s->out.n;
	if (s->written / BEGIN_SYNC_BYTES > was / BEGIN_SYNC_BYTES)
		artifact_file_begin_sync(s->file);
	return rc;
}

static int close_file(struct file_sink *s)
{
	int rc = s->written > SYNC_BYTES ? artifact_file_sync(s->file) : 0;

	if (rc != 0)
		return rc; /* the file is removed with the sink */
	s->path = artifact_file_finish(s->file, s->sha256);
	rc = s->path == NULL ? -errno : 0;
	s->file = NULL;
	return rc;
}

static void remove_file(struct file_sink *s)
{
	artifact_file_free(s->file);
	s->file = NULL;
	if (s->path != NULL)
		unlink(s->path);
	free(s->path);
	s->path = NULL;
}

static void write_blocks(struct thread_pool_job *j, void *arg)
{
	struct job *job = arg;

	(void)j;
	/* other writers take room while these bytes are under way */
	job->says = disk_space_message(disk_space_at(&job->sink->disk, 0));
	job->rc = job->says == NULL ? 0 : -ENOSPC;
	if (job->rc == 0)
		job->rc = open_sink_file(job->sink);
	if (job->rc == 0)
		job->rc = write_block(job->sink);
	if (job->rc == 0 && job->last)
		job->rc = close_file(job->sink);
	if (job->rc != 0)
		remove_file(job->sink); /* before on_done() frees its room */
}

static void work_remove(struct thread_pool_job *j, void *arg)
{
	(void)j;
	remove_file(((struct job *)arg)->sink);
}

/* ---- on the loop ---- */

static void free_block(struct file_sink *s, struct block *b)
{
	if (b->data != NULL && s->requestor != NULL)
		memory_give(&s->requestor->memory, s->block_bytes);
	free(b->data);
}

static void sink_free(struct file_sink *s)
{
	void (*on_gone)(void *) = s->on_gone;
	void *arg = s->gone_arg;

	/* only at the end of the server is there still a file */
	remove_file(s);
	free_block(s, &s->in);
	free_block(s, &s->out);
	free(s->dir);
	free(s->instance);
	disk_space_of_fini(&s->disk);
	free(s);
	if (on_gone != NULL)
		on_gone(arg);
}

static void on_removed(void *arg, const struct thread_pool_result *end)
{
	(void)arg, (void)end; /* drop_sink_job() does the rest */
}

/*
 * Free JOB. Free the sink, too, when the owner has let go: its file was
 * removed, or the server's end cancelled the job.
 */
static void drop_sink_job(void *arg)
{
	struct job *job = arg;
	struct file_sink *s = job->sink;

	free(job);
	if (s == NULL)
		return;
	s->job = NULL;
	if (s->gone)
		sink_free(s);
}

static void on_worked(void *arg, const struct thread_pool_result *result);

/* Each sink has one job at a time: the bounds on sinks bound the jobs. */
static const struct thread_pool_kind writing = {.name = "write",
						.cpu_ms = CPU_MS,
						.owed = true,
						.work = write_blocks,
						.done = on_worked,
						.drop = drop_sink_job};
static const struct thread_pool_kind removing = {.name = "remove",
						 .cpu_ms = CPU_MS,
						 .owed = true,
						 .work = work_remove,
						 .done = on_removed,
						 .drop = drop_sink_job};

static bool submit_as(struct file_sink *s, const struct thread_pool_kind *kind,
		      bool last)
{
	struct job *job = xcalloc(1, sizeof(*job));

	*job = (struct job){.sink = s, .last = last};
	s->job = job;
	if (thread_pool_submit(s->pool, s->requestor, kind, job) != NULL)
		return true;
	s->job = NULL;
	free(job);
	return false;
}

/*
 * Hand the filled block to a thread, and take the other block for the next
 * bytes.
 */
static int submit(struct file_sink *s)
{
	struct block was = s->out;

	s->out = s->in;
	s->in = was;
	return submit_as(s, &writing, s->ended) ? 0 : -EAGAIN;
}

static void free_sink(struct file_sink *s)
{
	if ((s->file == NULL && s->path == NULL) ||
	    !submit_as(s, &removing, false))
		sink_free(s);
}

static bool block_is_full(const struct file_sink *s)
{
	size_t room = s->block_bytes - s->in.n;

	return room < FILE_SINK_LEAST && (int64_t)room < s->left;
}

static void on_worked(void *arg, const struct thread_pool_result *result)
{
	struct job *job = arg;
	struct file_sink *s = job->sink;
	struct file_sink_end end = {.says = job->says, .sha256 = s->sha256};
	bool room = s->full;

	(void)result;
	job->sink = NULL; /* so that drop_sink_job() leaves the sink alone */
	s->job = NULL;
	s->out.n = 0;
	if (s->gone) {
		free_sink(s);
		return;
	}
	end.rc = job->rc;
	if (end.rc == 0 && !job->last && (s->ended || block_is_full(s)))
		end.rc = submit(s);
	if (end.rc == 0 && job->last) {
		end.path = s->path;
		s->path = NULL;
	}
	if (end.rc != 0 || job->last) {
		s->ops->on_done(s->arg, &end);
		return;
	}
	s->full = false;
	if (room && !s->ended)
		s->ops->on_room(s->arg);
}

struct file_sink *file_sink_new(const struct file_sink_ask *ask,
				const struct file_sink_ops *ops, void *arg)
{
	struct file_sink *s = xcalloc(1, sizeof(*s));

	*s = (struct file_sink){.pool = ask->pool,
				.requestor = ask->requestor,
				.ops = ops,
				.arg = arg,
				.dir = xstrdup(config_files_dir(ask->config)),
				.instance = xstrdup(ask->instance),
				.left = ask->size < 0 ? INT64_MAX : ask->size};
	s->block_bytes =
	    (size_t)(s->left < BLOCK_BYTES ? s->left : BLOCK_BYTES);
	disk_space_of_init(&s->disk, ask->config);
	return s;
}

int file_sink_begin(struct file_sink *s)
{
	return s->job == NULL ? submit(s) : 0;
}

bool file_sink_wants(struct file_sink *s)
{
	s->full = s->ended || block_is_full(s);
	return !s->full;
}

char *file_sink_room(struct file_sink *s, size_t *n)
{
	*n = s->ended ? 0 : s->block_bytes - s->in.n;
	s->full = *n == 0;
	if (s->in.data == NULL) {
		s->in.data =
		    xcalloc(1, s->block_bytes > 0 ? s->block_bytes : 1);
		if (s->requestor != NULL)
			memory_add(&s->requestor->memory, s->block_bytes);
	}
	return s->in.data + s->in.n;
}

int file_sink_wrote(struct file_sink *s, size_t n)
{
	s->in.n += n;
	if (s->left != INT64_MAX)
		s->left -= (int64_t)n;
	return block_is_full(s) && s->job == NULL ? submit(s) : 0;
}

int file_sink_finish(struct file_sink *s)
{
	s->ended = true;
	return s->job == NULL ? submit(s) : 0;
}

void file_sink_free(struct file_sink *s, void (*on_gone)(void *arg), void *arg)
{
	if (s == NULL) {
		if (on_gone != NULL)
			on_gone(arg);
		return;
	}
	s->gone = true;
	s->on_gone = on_gone;
	s->gone_arg = arg;
	if (s->job == NULL)
		free_sink(s);
}

void file_sink_remove(struct thread_pool *pool, struct requestor *q, char *path,
		      void (*on_gone)(void *arg), void *arg)
{
	struct file_sink *s = xcalloc(1, sizeof(*s));

	*s = (struct file_sink){.pool = pool,
				.requestor = q,
				.gone = true,
				.on_gone = on_gone,
				.gone_arg = arg,
				.path = path};
	free_sink(s);
}
