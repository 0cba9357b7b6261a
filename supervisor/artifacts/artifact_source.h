/* SPDX-License-Identifier: Apache-2.0 */
/*
 * artifact_source.h - the bytes of an artifact, or some of them, for who
 * sends them: from its file, or part by part from the database, so that little of
 * it is in memory.
 */
#ifndef SUPERVISOR_ARTIFACTS_ARTIFACT_SOURCE_H
#define SUPERVISOR_ARTIFACTS_ARTIFACT_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct artifact_source;
struct config;
struct store;
struct store_artifact;

/*
 * N bytes of A, whose row was found just now, from AT on. A and CONFIG are lent for the
 * call; STORE is, for as long as it is open. NULL and *RC: -errno.
 */
struct artifact_source *artifact_source_open(struct store *store,
					     const struct config *config,
					     const struct store_artifact *a,
					     int64_t at, int64_t n, int *rc);
void artifact_source_close(struct artifact_source *src); /* NULL is fine */

/* ON_MORE is told when there are bytes, or none will come, after there were none. */
void artifact_source_watch(struct artifact_source *src,
			   void (*on_more)(void *arg), void *arg);

int64_t artifact_source_left(const struct artifact_source *src);
/* The next *N bytes, lent until SRC is asked again. 0: more come; or -errno. */
ssize_t artifact_source_peek(struct artifact_source *src, const char **p);
void artifact_source_drop(struct artifact_source *src, size_t n); /* sent */
/*
 * The same, by sendfile(2) where that can be: how many were written to OUT; -ENODATA: more
 * come; or -errno.
 */
ssize_t artifact_source_write(struct artifact_source *src, int out);

#endif
