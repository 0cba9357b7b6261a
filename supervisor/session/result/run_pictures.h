/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_pictures.h - the pictures among the artifacts of an ended run, as an answer
 * about the run shows them.
 */
#ifndef SUPERVISOR_RESULT_RUN_PICTURES_H
#define SUPERVISOR_RESULT_RUN_PICTURES_H

#include <stdbool.h>

#include "supervisor/run/run.h"

#define RUN_PICTURES_MAX 4
#define RUN_PICTURES_BYTES ((int64_t)4 << 20)

struct run_picture {
	char artifact_id[ID_SIZE];
	int64_t size;
	const char *mime_type; /* by the bytes; NULL: unread, or no picture */
	char *data;	       /* owned */
	size_t len;
};

/* Empty when zero. */
struct run_pictures {
	struct run_picture all[RUN_PICTURES_MAX];
	size_t n, read;
	struct requestor *who; /* borrowed; HELD bytes count as memory */
	size_t held;
	struct store *store;
	void (*done)(void *arg);
	void *arg;
};

/*
 * Choose the first pictures of the run with VIEW, LEN bytes: each of at most EACH
 * bytes, and ALL bytes together; without room in the memory of WHO no picture. Returns
 * the bytes of the pictures.
 */
int64_t run_pictures_choose(struct run_pictures *p, struct requestor *who,
			    const char *view, size_t len, int64_t each,
			    int64_t all);
/*
 * Read P from STORE; then DONE is called with ARG, after the return of this function. A
 * picture that has vanished, or has bytes of another kind, is left out.
 */
void run_pictures_read(struct run_pictures *p, struct store *store,
		       void (*done)(void *arg), void *arg);
/* Return the picture ARTIFACT_ID; NULL: unread, or no picture. */
const struct run_picture *run_pictures_find(const struct run_pictures *p,
					    const char *artifact_id);
void run_pictures_fini(struct run_pictures *p);

#endif
