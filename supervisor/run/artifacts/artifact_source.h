/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_source.h - reads the bytes of an artifact, or a range, for sending:
 * from a file, or part by part from the database, so that little is in memory.
 */
#ifndef SUPERVISOR_ARTIFACTS_ARTIFACT_SOURCE_H
#define SUPERVISOR_ARTIFACTS_ARTIFACT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct artifact_source;
struct config;
struct store;
struct store_artifact;
struct thread_pool;

/*
 * Open N bytes of A, whose row was found just now, from AT on. A and CONFIG are
 * lent for the call; STORE and POOL as long as the source is open. NULL and *RC: -errno;
 * -ENOENT: read the row again, for the artifact is being deleted, or its file
 * was lost.
 */
struct artifact_source *artifact_source_open(struct store *store,
					     struct thread_pool *pool,
					     const struct config *config,
					     const struct store_artifact *a,
					     int64_t at, int64_t n, int *rc);
void artifact_source_close(struct artifact_source *src); /* NULL is fine */

/* An open source may have a descriptor, or a part of the artifact in memory. */
/* most sources open at once, of all requestors */
#define ARTIFACT_SOURCES_MAX 64
/* most sources open at once, of one requestor */
#define ARTIFACT_SOURCES_EACH 16
/* May a requestor with OWN of the ALL open sources open one more? */
bool artifact_source_allows(size_t own, size_t all);
/* Count SRC as open in OWN and ALL (lent) until SRC is closed. */
void artifact_source_count(struct artifact_source *src, size_t *own,
			   size_t *all);

/*
 * Set ON_MORE, called after a peek without bytes: there are bytes now, or none
 * will come.
 */
void artifact_source_watch(struct artifact_source *src,
			   void (*on_more)(void *arg), void *arg);

int64_t artifact_source_left(const struct artifact_source *src);
/*
 * Return how many bytes come next, with *P (lent until the next call). 0: more
 * come later; or -errno.
 */
ssize_t artifact_source_peek(struct artifact_source *src, const char **p);
/* the first N bytes were sent */
void artifact_source_drop(struct artifact_source *src, size_t n);
/*
 * Write the next bytes to OUT, by sendfile(2) where possible. Returns how many;
 * -ENODATA: more come later; or -errno.
 */
ssize_t artifact_source_write(struct artifact_source *src, int out);

#endif
