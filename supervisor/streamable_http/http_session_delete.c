/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_session_delete.c - a table of the rows that the store was asked to drop,
 * for http_session_store.c and http_store_wait.c. The store keeps such a request
 * for as long as it cannot be done, so how many there are is bounded here.
 */
#include "supervisor/streamable_http/http_session_delete.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/requestor/admission.h"

struct http_session_delete {
	struct http_sessions *all; /* NULL: they are gone */
	struct requestor *requestor;
	char key[HTTP_SESSION_KEY_SIZE];
	store_done done;
	void *arg;
	UT_hash_handle hh; /* in all.drops */
};

static void on_dropped(void *arg, const struct store_result *res)
{
	struct http_session_delete *d = arg;

	if (d->all != NULL)
		HASH_DEL(d->all->drops, d);
	d->requestor->http_session_deletes--;
	if (d->done != NULL)
		d->done(d->arg, res);
	free(d);
}

static bool has_room(const struct http_sessions *all, const struct requestor *q)
{
	size_t own = q->http_session_deletes;

	return (int64_t)own <
	       admission_share(HTTP_SESSION_DELETES_MAX,
			       (int64_t)(HASH_COUNT(all->drops) - own));
}

bool http_session_delete(struct http_sessions *all, struct requestor *q,
			 const char *key, store_done done, void *arg)
{
	struct http_session_delete *d;

	if (http_session_delete_pending(all, key) || !has_room(all, q)) {
		log_rarely("http", "requestor=%s dropped=no drops=%zu", q->name,
			   q->http_session_deletes);
		return false;
	}
	d = xcalloc(1, sizeof(*d));
	d->all = all;
	d->requestor = q;
	memcpy(d->key, key, sizeof(d->key));
	d->done = done;
	d->arg = arg;
	HASH_ADD_STR(all->drops, key, d);
	q->http_session_deletes++;
	store_drop_session(all->ctx->store, key,
			   done != NULL ? STORE_SYNC : STORE_DEFERRED,
			   on_dropped, d);
	return true;
}

bool http_session_delete_pending(const struct http_sessions *all,
				 const char *key)
{
	struct http_session_delete *d;

	HASH_FIND_STR(all->drops, key, d);
	return d != NULL;
}

void http_session_deletes_fini(struct http_sessions *all)
{
	struct http_session_delete *d, *next;

	HASH_ITER(hh, all->drops, d, next) {
		HASH_DEL(all->drops, d);
		d->all = NULL;
	}
}
