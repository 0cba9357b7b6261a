/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_readq.c - lets each requestor have only a few large reads in the
 * store's queue; store.c calls it for each new and each answered read. Further
 * reads wait; no read fails here.
 */
#include "supervisor/store/store_readq.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables in readq_of() */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static struct store_lane *readq_of(struct store_lane **readqs, const char *name)
{
	struct store_lane *l;

	HASH_FIND_STR(*readqs, name, l);
	if (l != NULL)
		return l;
	l = xcalloc(1, sizeof(*l) + strlen(name) + 1);
	memcpy(l->name, name, strlen(name) + 1);
	STAILQ_INIT(&l->waiting);
	HASH_ADD_STR(*readqs, name, l);
	return l;
}

bool store_readq_enter(struct store_lane **readqs, struct store_req *r)
{
	if (!r->op->large)
		return true;
	r->readq = readq_of(readqs, r->requestor);
	if (r->readq->n < STORE_READS_EACH) {
		r->readq->n++;
		return true;
	}
	STAILQ_INSERT_TAIL(&r->readq->waiting, r, link);
	return false;
}

struct store_req *store_readq_leave(struct store_lane **readqs,
				    struct store_req *r)
{
	struct store_lane *l = r->readq;
	struct store_req *next;

	if (l == NULL)
		return NULL;
	next = STAILQ_FIRST(&l->waiting);
	if (next != NULL) { /* in R's place */
		STAILQ_REMOVE_HEAD(&l->waiting, link);
		return next;
	}
	if (--l->n == 0) {
		HASH_DEL(*readqs, l);
		free(l);
	}
	return NULL;
}
