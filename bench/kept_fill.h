/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_fill.h - runs that have ended, in the record of a server that is then asked for
 * them. What fails ends the program.
 */
#ifndef BENCH_KEPT_FILL_H
#define BENCH_KEPT_FILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "supervisor/store/store.h"

#define KEPT_LOOKED_AT 400		      /* of a thousand runs or more */
#define KEPT_SPAN_MS (30 * INT64_C(86400000)) /* in which they were created */

struct kept {
	size_t rows;
	const char *state; /* the folder of a server that has been there */
	const char *url;   /* of its database; NULL: SQLite's, in the folder */
	char (*ids)[ID_SIZE]; /* KEPT_LOOKED_AT, of all times: the caller's */
};

/* ROWS of the user that we are: four templates', a few failed, a quarter are tasks. */
void kept_fill(struct kept *k);

/* The same, as its requestor is called. */
void kept_requestor(char *name, size_t size);

/* What a store was asked is done, with so many runs as its answer, to ARG unless NULL. */
void kept_done(void *arg, const struct store_result *res);
/* WANT of these are, beside those that were waited for before. */
void kept_wait(struct store *s, size_t want);

#endif
