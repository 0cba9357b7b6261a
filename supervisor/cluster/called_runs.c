/* SPDX-License-Identifier: Apache-2.0 */
/*
 * called_runs.c - called runs here with callers at other servers: asks the store now and
 * then whether the callers still run at their servers, and cancels runs of lost callers.
 * The server of a caller cancels its calls by mail; the look is for dead servers
 * and for lost mail. A failed look is repeated.
 */
#include "supervisor/cluster/cluster_private.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"

#define LOOK_MS 1000
#define ASK_BYTES 65536 /* of lines, in one question */

void called_runs_come(struct runs *s, const struct run *r)
{
	s->cluster->called.some |=
	    r->family.parent == NULL && r->family.caller_at[0] != '\0';
}

static void on_orphans(void *arg, const struct store_result *res)
{
	struct runs *s = arg;

	for (size_t i = 0; res->rc == 0 && i < res->n_runs; i++) {
		struct run *r = runs_by_id(s, res->runs[i].id);

		if (r != NULL && run_is_here(r))
			runs_cancel(s, r);
	}
}

static void ask(struct runs *s, struct buf *lines)
{
	char *text;

	if (buf_len(lines) == 0)
		return;
	buf_add(lines, "", 1);
	text = buf_take(lines, NULL);
	store_find_orphans(s->ctx->store, text, on_orphans, s);
	free(text);
}

void called_runs_look(struct runs *s, bool now)
{
	struct buf lines = {0};
	struct run *r, *after;
	bool some = false;

	if (!s->cluster->called.some ||
	    (!now && clock_mono_ms() < s->cluster->called.look_ms + LOOK_MS))
		return;
	s->cluster->called.look_ms = clock_mono_ms();
	HASH_ITER(hh, s->by_id, r, after) {
		if (!run_is_here(r) || run_terminal(r) ||
		    r->family.parent != NULL || r->family.caller_at[0] == '\0')
			continue;
		some = true;
		buf_printf(&lines, "%s%s\t%s\t%s\t%s",
			   buf_len(&lines) > 0 ? "\n" : "", r->id,
			   r->family.parent_id, r->family.caller_at,
			   r->requestor->name);
		if (buf_len(&lines) > ASK_BYTES)
			ask(s, &lines);
	}
	ask(s, &lines);
	s->cluster->called.some = some;
}
