/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remote_residents.c - lists residents at other servers, by the rows of those servers, and
 * asks another server for the end of a resident: the row has the decision of the other
 * server. resident_methods.c calls by the table. The client is told when the other server
 * does not answer in time.
 */
#include "supervisor/cluster/remote_residents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/cluster/cluster_private.h"
#include "supervisor/session/request.h"

#define LOOK_MS 50    /* between two looks at the row of a resident that ends */
#define WAIT_MS 20000 /* for the other server: more than its lease */

/* ---- the list ---- */

struct listing {
	struct request *req;
	struct json_object *list;
	bool nodes;
};

static void on_listed(void *arg, const struct store_result *res)
{
	struct listing l = *(struct listing *)arg;
	struct json_object *view;
	bool is_wanted;

	free(arg);
	for (size_t i = 0; res->rc == 0 && i < res->n_residents; i++) {
		const struct store_resident *x = &res->residents[i];

		if (json_parse(&view, x->view, strlen(x->view), NULL) < 0)
			continue;
		if (l.nodes)
			json_add(view, "node:s", x->node);
		json_object_array_add(l.list, view);
	}
	is_wanted = request_unref(l.req);
	if (is_wanted && res->rc != 0)
		request_unreadable(l.req, res->rc);
	else if (is_wanted)
		request_result(l.req, json_pack("residents:O", l.list));
	json_object_put(l.list);
}

void remote_residents_list(struct request *req, const struct requestor *q,
			   bool nodes, struct json_object *list)
{
	struct listing *l = xcalloc(1, sizeof(*l));

	*l = (struct listing){.req = req, .list = list, .nodes = nodes};
	if (nodes)
		json_each(one, list)
			json_add(one, "node:s",
				 store_node_name(req->ctx->store));
	request_ref(req);
	store_list_residents(req->ctx->store, q != NULL ? q->name : NULL,
			     on_listed, l);
}

/* ---- an end ---- */

struct ending {
	struct context *ctx;
	struct request *req;
	char *id, *name, *owner, *text;
	void (*then)(struct request *req, int rc, const char *id,
		     const char *name);
	struct event *look;
	int64_t until_ms;
	TAILQ_ENTRY(ending) link;
};

static void ending_free(struct ending *e)
{
	TAILQ_REMOVE(&e->ctx->runs->cluster->endings, e, link);
	event_free(e->look);
	free(e->id);
	free(e->name);
	free(e->owner);
	free(e->text);
	free(e);
}

static void end_over(struct ending *e, int rc)
{
	if (request_unref(e->req)) {
		if (rc == 0 || rc == -ENOENT || rc == -EBUSY ||
		    rc == -ETIMEDOUT)
			e->then(e->req, rc, e->id, e->name);
		else
			request_unreadable(e->req, rc);
	}
	ending_free(e);
}

static void on_state(void *arg, const struct store_result *res)
{
	struct ending *e = arg;

	if (res->rc != -EINPROGRESS)
		end_over(e, res->rc);
	else if (clock_mono_ms() >= e->until_ms)
		end_over(e, -ETIMEDOUT);
	else
		evtimer_add(e->look, CLOCK_TIMEVAL(LOOK_MS));
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	struct ending *e = arg;

	(void)fd, (void)what;
	store_resident_ends(e->ctx->store, e->owner, e->text, on_state, e);
}

static void on_asked(void *arg, const struct store_result *res)
{
	struct ending *e = arg;

	if (res->rc != 0)
		end_over(e, res->rc);
	else
		evtimer_add(e->look, CLOCK_TIMEVAL(LOOK_MS));
}

void remote_residents_end(struct request *req, const struct requestor *q,
			  const char *id, const char *name,
			  void (*then)(struct request *req, int rc,
				       const char *id, const char *name))
{
	struct ending *e = xcalloc(1, sizeof(*e));

	*e = (struct ending){.ctx = req->ctx,
			     .req = req,
			     .id = xstrdup(id),
			     .name = xstrdup(name),
			     .owner = xstrdup(q->name),
			     .text = xasprintf("%s/%s", id, name),
			     .then = then,
			     .until_ms = clock_mono_ms() + WAIT_MS};
	e->look = evtimer_new(req->ctx->base, on_look, e);
	TAILQ_INSERT_TAIL(&req->ctx->runs->cluster->endings, e, link);
	request_ref(req);
	store_end_resident(req->ctx->store, e->owner, e->text, on_asked, e);
}

void remote_residents_init(struct runs *s)
{
	TAILQ_INIT(&s->cluster->endings);
}

void remote_residents_fini(struct runs *s)
{
	struct ending *e;

	while ((e = TAILQ_FIRST(&s->cluster->endings)) != NULL) {
		(void)request_unref(e->req);
		ending_free(e);
	}
}
