/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tab_request.c - pending requests of a tab's page, for tab_event.c and
 * wait_for_stable. Beyond TAB_REQUESTS_MAX no more are tracked.
 */
#include "browser/browser.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/mem.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses the elements of uthash's tables */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

struct request {
	char *id;
	char *loader;
	int64_t since;
	UT_hash_handle hh;
};

static void end_request(struct tab *t, struct request *r)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): HASH_DEL() unlinks */
	HASH_DEL(t->requests, r);
	free(r->id);
	free(r->loader);
	free(r);
}

void tab_request_begin(struct tab *t, const char *id, const char *loader)
{
	struct request *r;

	HASH_FIND_STR(t->requests, id, r);
	if (r != NULL || HASH_COUNT(t->requests) >= TAB_REQUESTS_MAX)
		return; /* a redirect; or too many */
	r = xcalloc(1, sizeof(*r));
	r->id = xstrdup(id);
	r->loader = xstrdup_opt(loader);
	r->since = clock_mono_ms();
	HASH_ADD_KEYPTR(hh, t->requests, r->id, strlen(r->id), r);
}

unsigned tab_requests(struct tab *t)
{
	int64_t old = clock_mono_ms() - TAB_REQUEST_OLD_MS;
	struct request *r, *next;
	unsigned n = 0;

	HASH_ITER(hh, t->requests, r, next)
		n += r->since > old;
	return n;
}

void tab_request_end(struct tab *t, const char *id)
{
	struct request *r;

	HASH_FIND_STR(t->requests, id, r);
	if (r != NULL)
		end_request(t, r);
}

void tab_requests_keep(struct tab *t, const char *loader)
{
	struct request *r, *next;

	HASH_ITER(hh, t->requests, r, next)
		if (loader == NULL || r->loader == NULL ||
		    strcmp(r->loader, loader) != 0)
			end_request(t, r);
}
