/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_fill.h - ended runs in the record of a server, for later questions. A failure
 * ends the program.
 */
#ifndef BENCH_KEPT_FILL_H
#define BENCH_KEPT_FILL_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "supervisor/store/store.h"

#define KEPT_LOOKED_AT 400		      /* of a thousand runs or more */
#define KEPT_SPAN_MS (30 * INT64_C(86400000)) /* of creation */

struct kept {
	size_t rows;
	const char *state;    /* the state folder of a server that has run */
	const char *url;      /* of the database; NULL: SQLite in the folder */
	char (*ids)[ID_SIZE]; /* KEPT_LOOKED_AT, of all times: the caller's */
};

/* Add ROWS of the current user: four templates, a few failed, a quarter are tasks. */
void kept_fill(struct kept *k);

/* Write the current user's name as a requestor to NAME. */
void kept_requestor(char *name, size_t size);

/* Callback of the store: the request is done, with the number of runs for ARG, or NULL. */
void kept_done(void *arg, const struct store_result *res);
/* Wait for WANT more callbacks. */
void kept_wait(struct store *s, size_t want);

#endif
