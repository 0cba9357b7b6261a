/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_source.c - gives an artifact's bytes to stdio/ and streamable_http/:
 * a file's as they are read, rows' by asking the store for one part at a time.
 * Bytes that cannot be read are -errno at their place; the sender then cuts off
 * the answer.
 */
#include "supervisor/run/artifacts/artifact_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop_guard.h"
#include "base/fair_share.h"
#include "base/mem.h"
#include "base/os/sys.h"
#include "supervisor/config/config.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/store/state/state_file.h"
#include "supervisor/store/store.h"

#define FILE_BYTES ((size_t)64 << 10)
#define CLOSE_CPU_MS 60000
#define PART_BYTES ((size_t)1 << 20)
#define AHEAD_BYTES ((size_t)2 << 20)
#define WRITE_BYTES ((size_t)256 << 10) /* most bytes written in a turn */

struct artifact_source {
	int fd; /* the file; -1: the bytes are in the database */
	struct store *store;
	struct thread_pool *pool;
	char *requestor;
	char id[ID_SIZE];
	bool asking; /* the store has been asked */
	bool wanted; /* the sender waits for the answer */
	bool closed; /* the sender has closed the source */
	int rc;
	int64_t at, left; /* the rest of the artifact, behind the block */
	char *block;	  /* a buffer of FILE_BYTES, or PART_BYTES */
	size_t from, n;	  /* the part of block to be sent */
	void (*on_more)(void *arg);
	void *arg;
	size_t *counts[2]; /* counters of open sources; or NULL */
};

static int open_stored(const struct config *config,
		       const struct store_artifact *a)
{
	char *path =
	    state_file_artifact(config_files_dir(config), a->run_id, a->id);
	struct stat st;
	int fd, rc;

	loop_guard_allow("one name of ours, in its requestor's turn");
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	rc = fd < 0 ? -errno : fd;
	loop_guard_forbid();
	free(path);
	if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_size != a->size)) {
		close(fd);
		rc = -EIO;
	}
	return rc;
}

/*
 * Have the kernel read ahead, so that the next part's turn does not wait for
 * the disk.
 */
static void read_ahead(int fd, int64_t at)
{
	(void)posix_fadvise(fd, at, (off_t)AHEAD_BYTES, POSIX_FADV_WILLNEED);
}

struct artifact_source *artifact_source_open(struct store *store,
					     struct thread_pool *pool,
					     const struct config *config,
					     const struct store_artifact *a,
					     int64_t at, int64_t n, int *rc)
{
	int fd = config_has_rows(config) ? -1 : open_stored(config, a);
	struct artifact_source *src;

	*rc = fd < -1 ? fd : 0;
	if (*rc != 0)
		return NULL;
	if (fd >= 0)
		read_ahead(fd, at);
	src = xcalloc(1, sizeof(*src));
	*src = (struct artifact_source){.fd = fd,
					.store = store,
					.pool = pool,
					.requestor = xstrdup(a->requestor),
					.at = at,
					.left = n};
	memcpy(src->id, a->id, sizeof(src->id));
	return src;
}

/* ---- the end ---- */

struct closing {
	int fd;
};

static void close_on_thread(struct thread_pool_job *j, void *arg)
{
	struct closing *c = arg;

	(void)j;
	sys_drop(&c->fd);
}

static void on_closed(void *arg, const struct thread_pool_result *end)
{
	(void)arg, (void)end;
}

static void drop_closing(void *arg)
{
	struct closing *c = arg;

	loop_guard_allow("a job that no thread took");
	sys_close(c->fd);
	loop_guard_forbid();
	free(c);
}

static const struct thread_pool_kind closings = {.name = "close",
						 .cpu_ms = CLOSE_CPU_MS,
						 .owed = true,
						 .first = true,
						 .work = close_on_thread,
						 .done = on_closed,
						 .drop = drop_closing};

/*
 * Close FD: a thread, if the artifact was removed meanwhile, since the last close frees the
 * blocks of the file.
 */
static void close_file(struct thread_pool *pool, int fd)
{
	struct closing *c;
	struct stat st;

	if (fd < 0 || pool == NULL || fstat(fd, &st) != 0 || st.st_nlink > 0) {
		sys_close(fd);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->fd = fd;
	if (thread_pool_submit(pool, NULL, &closings, c) == NULL)
		drop_closing(c);
}

static void source_free(struct artifact_source *src)
{
	close_file(src->pool, src->fd);
	free(src->requestor);
	free(src->block);
	free(src);
}

void artifact_source_close(struct artifact_source *src)
{
	if (src == NULL)
		return;
	src->closed = true;
	for (size_t i = 0; i < ARRAY_LEN(src->counts); i++)
		if (src->counts[i] != NULL)
			--*src->counts[i];
	if (!src->asking)
		source_free(src);
}

bool artifact_source_allows(size_t own, size_t all)
{
	int64_t share = fair_share(ARTIFACT_SOURCES_MAX, (int64_t)(all - own));

	return own < ARTIFACT_SOURCES_EACH && (int64_t)own < share;
}

void artifact_source_count(struct artifact_source *src, size_t *own,
			   size_t *all)
{
	src->counts[0] = own;
	src->counts[1] = all;
	++*own;
	++*all;
}

void artifact_source_watch(struct artifact_source *src,
			   void (*on_more)(void *arg), void *arg)
{
	src->on_more = on_more;
	src->arg = arg;
}

int64_t artifact_source_left(const struct artifact_source *src)
{
	return src->left + (int64_t)src->n;
}

/* ---- from the database ---- */

static void on_part(void *arg, const struct store_result *res)
{
	struct artifact_source *src = arg;

	src->asking = false;
	if (src->closed) {
		source_free(src);
		return;
	}
	src->rc = res->rc;
	if (res->rc == 0 && (res->len == 0 || res->len > PART_BYTES))
		src->rc = -EIO;
	if (src->rc == 0) {
		memcpy(src->block, res->data, res->len);
		src->from = 0;
		src->n = res->len;
		src->at += (int64_t)res->len;
		src->left -= (int64_t)res->len;
	}
	if (src->wanted && src->on_more != NULL) {
		src->wanted = false;
		src->on_more(src->arg);
	}
}

static void ask_source_part(struct artifact_source *src)
{
	/* to the end of a part, so that each part is read once */
	size_t most = PART_BYTES - (size_t)(src->at % (int64_t)PART_BYTES);

	if (src->asking)
		return;
	if (src->left < (int64_t)most)
		most = (size_t)src->left;
	src->asking = true;
	store_read_artifact(src->store, src->requestor, src->id, src->at,
			    (int64_t)most, on_part, src);
}

/* ---- from a file ---- */

static void read_block(struct artifact_source *src)
{
	size_t most =
	    src->left < (int64_t)FILE_BYTES ? (size_t)src->left : FILE_BYTES;
	ssize_t n;

	loop_guard_allow("64 KiB that were read ahead, in a turn");
	n = pread(src->fd, src->block, most, src->at);
	loop_guard_forbid();
	read_ahead(src->fd, src->at + (int64_t)most);
	if (n <= 0) {
		src->rc = n < 0 ? -errno : -EIO; /* the file got shorter */
		return;
	}
	src->from = 0;
	src->n = (size_t)n;
	src->at += n;
	src->left -= n;
}

ssize_t artifact_source_peek(struct artifact_source *src, const char **p)
{
	if (src->block == NULL)
		src->block =
		    xrealloc(NULL, src->fd >= 0 ? FILE_BYTES : PART_BYTES);
	if (src->rc == 0 && src->n == 0 && src->left > 0) {
		if (src->fd >= 0)
			read_block(src);
		else
			ask_source_part(src);
	}
	src->wanted = src->n == 0 && src->rc == 0;
	*p = src->block + src->from;
	return src->n == 0 && src->rc != 0 ? src->rc : (ssize_t)src->n;
}

void artifact_source_drop(struct artifact_source *src, size_t n)
{
	src->from += n;
	src->n -= n;
	if (src->n == 0 && src->fd < 0 && src->left > 0 && src->rc == 0)
		ask_source_part(src); /* while the last part is being sent */
}

/*
 * Send by sendfile(2). -EINVAL: OUT is a terminal, or a file opened for
 * appending, without sendfile(2).
 */
static ssize_t send_file(struct artifact_source *src, int out)
{
	size_t n =
	    src->left < (int64_t)WRITE_BYTES ? (size_t)src->left : WRITE_BYTES;
	off_t at = src->at;
	ssize_t got;

	loop_guard_allow("256 KiB that were read ahead, in a turn");
	got = sendfile(out, src->fd, &at, n);
	loop_guard_forbid();
	read_ahead(src->fd, at);

	if (got < 0)
		return sys_send_error();
	src->at = at;
	src->left -= got;
	return got == 0 ? -EIO : got;
}

ssize_t artifact_source_write(struct artifact_source *src, int out)
{
	ssize_t n = -EINVAL;
	const char *p;

	if (src->fd >= 0 && src->n == 0)
		n = send_file(src, out);
	if (n != -EINVAL)
		return n;
	n = artifact_source_peek(src, &p);
	if (n <= 0)
		return n < 0 ? n : -ENODATA;
	n = write(out, p, (size_t)n < WRITE_BYTES ? (size_t)n : WRITE_BYTES);
	if (n < 0)
		return sys_send_error();
	artifact_source_drop(src, (size_t)n);
	return n;
}
