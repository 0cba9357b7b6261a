/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_listing.c - lists of templates, for tool_templates.c and tool_search.c.
 * Thousands of templates may have long schemas, so a list is printed piece by
 * piece in turns, and a thread makes the answer. If the call is dropped
 * meanwhile, the pieces are freed.
 */
#include "supervisor/mcp/tools/tool_listing.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/session/response.h"

#define PIECE_BYTES 131072 /* bytes of text, which take 1 ms */
#define PIECE_TEMPLATES 64 /* templates, which may all be left out */

/* A list being made; request.state. */
struct listing {
	struct request *request;
	struct tool_listing list; /* a reload may come between */
	size_t next, entries;
	struct buf text;
	struct fair_queue_turn turn;
};

static void listing_free(void *arg)
{
	struct listing *l = arg;

	fair_queue_cancel(&l->turn);
	for (size_t i = 0; i < l->list.n; i++)
		template_unref(l->list.all[i]);
	free(l->list.all);
	buf_fini(&l->text);
	free(l);
}

static const struct request_ops listing_ops = {.free = listing_free};

/* Has the answer no more room? A longer answer would be cut short. */
static bool listing_is_full(const struct listing *l)
{
	return l->entries > 0 &&
	       buf_len(&l->text) > request_max_bytes(l->request) / 4;
}

static bool listing_has_ended(const struct listing *l)
{
	return l->next == l->list.n || l->entries == l->list.most ||
	       listing_is_full(l);
}

static void add_entry(struct listing *l, const struct template *t)
{
	struct json_object *v = l->list.view(l->request, t, l->list.whole);
	const char *text;
	size_t len;

	if (v == NULL)
		return;
	text = json_text(v, &len);
	buf_add(&l->text, ",", l->entries > 0);
	buf_add(&l->text, text, len);
	l->entries++;
	json_object_put(v);
}

/* Add a piece of the list. */
static void continue_listing(struct listing *l)
{
	size_t until = buf_len(&l->text) + PIECE_BYTES;

	for (int i = 0; i < PIECE_TEMPLATES && !listing_has_ended(l) &&
			buf_len(&l->text) < until;
	     i++)
		add_entry(l, l->list.all[l->next++]);
}

static void answer_listing(struct listing *l)
{
	bool rest = l->next < l->list.n && l->entries < l->list.most;
	size_t len;
	char *text;

	buf_add_str(&l->text, "]");
	if (rest && l->list.pages)
		buf_printf(&l->text, ",\"nextOffset\":%zu",
			   l->list.first + l->next);
	else if (rest)
		buf_add_str(&l->text, ",\"truncated\":true");
	buf_add_str(&l->text, "}");
	text = buf_take(&l->text, &len);
	response_tool_text(l->request, text, len);
}

/* Add a piece; answer, or ask for a further turn. */
static void take_turn(void *arg)
{
	struct listing *l = arg;
	struct request *req = l->request;

	continue_listing(l);
	if (listing_has_ended(l)) {
		answer_listing(l);
		return;
	}
	request_mark_large(req);
	fair_queue_requeue(req->ctx->turns, &req->requestor->turns, &l->turn);
}

void tool_listing_add(struct tool_listing *l, struct template *t)
{
	l->all[l->n++] = template_ref(t);
}

void tool_listing_answer(struct request *req, const struct tool_listing *list)
{
	struct listing *l = xcalloc(1, sizeof(*l));

	*l = (struct listing){.request = req,
			      .list = *list,
			      .turn = {.take = take_turn, .arg = l}};
	request_set_state(req, &listing_ops, l);
	buf_add_str(&l->text, "{\"templates\":[");
	if (list->in_turn)
		take_turn(l);
	else
		fair_queue_submit(req->ctx->turns, &req->requestor->turns,
				  &l->turn);
}
