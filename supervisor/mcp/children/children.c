/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children.c - the open calls of templates by a run. Each call is a request of
 * run_task_template in a session of the run's own, so that all checks of clients'
 * calls are made. server.c passes the questions of workers here. Calls of templates beyond
 * the run's bound wait for their turn, the oldest first. When the run ends, or is to end,
 * its calls are dropped, and the children of the calls are cancelled.
 */
#include "supervisor/mcp/children/children.h"
#include "supervisor/mcp/children/children_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/audit.h"
#include "supervisor/requestor/fair_queue.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/dispatch.h"
#include "supervisor/session/request.h"

struct child_call;
struct children;

/* A tool of the contract that runs may call. */
struct child_tool {
	const char *name;
	/* Make ARGS those of a client's call. False: the call is refused, as E says. */
	bool (*prepare)(const struct child_call *c, struct json_object *args,
			struct tool_error *e);
	const char *what; /* of a tool for reading: "T may not WHAT" */
	bool makes_child; /* a place among the run's children is needed */
};

/* A call without an answer yet; the stream of its request. */
struct child_call {
	struct children *of;
	const struct child_tool *tool;
	uint32_t seq;
	struct rpc_msg msg; /* owned, until the call has had its turn */
	struct fair_queue_turn turn;
	bool has_place, waits;		  /* a waiting call has no turn */
	LIST_ENTRY(child_call) link;	  /* in calls */
	TAILQ_ENTRY(child_call) waitlink; /* in waiting */
};

/* A run with calls; job.children. */
struct children {
	struct context *ctx;
	struct run *run; /* borrowed */
	struct run_watch watch;
	struct session session;
	LIST_HEAD(, child_call) calls;
	TAILQ_HEAD(, child_call) waiting; /* for places, the oldest first */
	size_t n_placed;		  /* calls that have places */
};

/* ---- places ---- */

/* Is there a place for a further child? Children of dropped calls have theirs to the end. */
static bool has_place(const struct children *k)
{
	return k->n_placed + k->run->family.n_dropped <
	       (size_t)k->run->limits.children;
}

static void give_place(struct child_call *c)
{
	c->has_place = true;
	c->of->n_placed++;
}

static void stop_waiting(struct child_call *c)
{
	if (c->waits)
		TAILQ_REMOVE(&c->of->waiting, c, waitlink);
	c->waits = false;
}

/* Give free places to calls that wait. */
static void fill_places(struct children *k)
{
	struct child_call *c;

	while (has_place(k) && (c = TAILQ_FIRST(&k->waiting)) != NULL) {
		stop_waiting(c);
		give_place(c);
		fair_queue_submit(k->ctx->turns, &k->run->requestor->turns,
				  &c->turn);
	}
}

/* True: C may begin; else C waits for a place. */
static bool take_place(struct child_call *c)
{
	struct children *k = c->of;

	if (!c->tool->makes_child || c->has_place)
		return true;
	if (TAILQ_EMPTY(&k->waiting) && has_place(k)) {
		give_place(c);
		return true;
	}
	c->waits = true;
	TAILQ_INSERT_TAIL(&k->waiting, c, waitlink);
	return false;
}

/* ---- answers ---- */

static void call_free(struct child_call *c)
{
	struct children *k = c->of;

	fair_queue_cancel(&c->turn);
	stop_waiting(c);
	LIST_REMOVE(c, link);
	k->n_placed -= c->has_place;
	rpc_async_free(k->ctx->thread_pool, k->session.requestor, &c->msg);
	free(c);
	fill_places(k);
}

/* End C with ANSWER, which is emptied. */
static void answer_call(struct child_call *c, struct child_answer *answer)
{
	struct run *r = c->of->run;
	uint32_t seq = c->seq;

	call_free(c);
	worker_answer_question(r, seq, answer->ok, buf_data(&answer->text),
			       buf_len(&answer->text));
	buf_fini(&answer->text);
}

static void on_run(void *arg, void *stream, const struct run_result_source *a)
{
	struct child_answer answer = {0};

	(void)arg;
	child_answer_run(&answer, a);
	answer_call(stream, &answer);
}

static void on_response(void *arg, void *stream, const char *text, size_t len,
			struct reply_hint hint)
{
	struct child_answer answer = {0};

	(void)arg, (void)hint;
	if (text == NULL) { /* the call was dropped */
		call_free(stream);
		return;
	}
	child_answer_response(&answer, text, len);
	answer_call(stream, &answer);
}

/* Progress and log lines of a child are for who asks for the child's run. */
static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	(void)arg, (void)stream, (void)text, (void)len;
}

static bool has_push_stream(void *arg)
{
	(void)arg;
	return false;
}

static const struct session_ops session_ops = {.send = on_send,
					       .answer = on_response,
					       .take_run = on_run,
					       .has_push_stream =
						   has_push_stream};

/* ---- the end of calls ---- */

static void drop_call(struct child_call *c)
{
	struct request *req = NULL;
	char key[RPC_ID_MAX + 1];
	struct json_object *id;

	if (c->msg.root == NULL) {
		id = json_object_new_int64(c->seq);
		req = request_find(&c->of->session, key, rpc_id_key(key, id));
		json_object_put(id);
	}
	if (req == NULL) {
		call_free(c);
		return;
	}
	if (req->run != NULL)
		run_family_drop(req->run);
	request_drop(req, true); /* on_response() frees C */
}

static void drop_all(struct children *k)
{
	struct child_call *c;

	TAILQ_FOREACH(c, &k->waiting, waitlink) /* no call takes a free place */
		c->waits = false;
	TAILQ_INIT(&k->waiting);
	while (!LIST_EMPTY(&k->calls))
		drop_call(LIST_FIRST(&k->calls));
}

static void on_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	struct children *k = CONTAINER(w, struct children, watch);
	bool over = n->kind == NOTICE_ENDED || n->kind == NOTICE_RELEASED ||
		    r->state == RUN_QUEUED; /* before the next attempt */

	if (n->kind == NOTICE_CHILD)
		fill_places(k);
	if (!over && r->state != RUN_CANCELLING)
		return;
	drop_all(k);
	if (!over)
		return;
	session_fini(&k->session);
	run_watch_del(&k->watch);
	r->job.children = NULL;
	free(k);
}

void children_drop(struct run *r, uint32_t seq)
{
	struct child_call *c;

	if (r->job.children == NULL)
		return;
	LIST_FOREACH(c, &r->job.children->calls, link)
		if (c->seq == seq)
			break;
	if (c != NULL)
		drop_call(c);
}

/* ---- a call ---- */

static struct children *children_of(struct context *ctx, struct run *r)
{
	struct children *k = r->job.children;

	if (k != NULL)
		return k;
	k = r->job.children = xcalloc(1, sizeof(*k));
	k->ctx = ctx;
	k->run = r;
	k->watch.on_notice = on_notice;
	LIST_INIT(&k->calls);
	TAILQ_INIT(&k->waiting);
	session_init(&k->session, ctx, r->requestor, &session_ops, k);
	k->session.caller = r;
	k->session.via = TRUST_REMOTE; /* no operator's */
	k->session.greeted = true;
	run_watch_add(r, &k->watch);
	return k;
}

/* Give ARGS an object of options, and move the version from there to where it belongs. */
static void settle_options(struct json_object *args)
{
	struct json_object *options = json_member(args, "options");
	struct json_object *version = json_member(options, "version");

	if (!json_object_is_type(options, json_type_object))
		json_add(args, "options:o", json_object_new_object());
	if (version == NULL)
		return;
	json_add(args, "templateVersion:O", version);
	json_object_object_del(options, "version");
}

static bool prepare_run(const struct child_call *c, struct json_object *args,
			struct tool_error *e)
{
	settle_options(args);
	if (!children_may(c->of->ctx, c->of->run, args, e))
		return false;
	/* the answer is the end of the child, however long that takes */
	json_add(json_member(args, "options"), "mode:s", "sync");
	return true;
}

static bool prepare_reading(const struct child_call *c,
			    struct json_object *args, struct tool_error *e)
{
	(void)args;
	return children_may_read(c->of->ctx, c->of->run, c->tool->what, e);
}

static const struct child_tool tools[] = {
    {"run_task_template", prepare_run, NULL, true},
    {"search_task_templates", prepare_reading, "search all templates (*)",
     false},
    {"list_task_templates", prepare_reading, "list all templates (*)", false},
    {"get_artifact", prepare_reading,
     "read artifacts, without a grant of all templates (*)", false},
};

static const struct child_tool *tool_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

bool children_serve(const char *tool)
{
	return tool_named(tool) != NULL;
}

static void take_call(void *arg)
{
	struct child_call *c = arg;
	struct children *k = c->of;
	struct json_object *args = json_member(c->msg.params, "arguments");
	struct child_answer answer = {0};
	struct tool_error e = {0};
	struct rpc_msg m;

	if (!take_place(c))
		return;
	if (!c->tool->prepare(c, args, &e)) {
		audit_refused(k->run->requestor, c->tool->name,
			      json_member_str(args, "templateId"), e.code);
		child_answer_refusal(&answer, &e);
		answer_call(c, &answer);
		return;
	}
	m = c->msg;
	c->msg = (struct rpc_msg){0};
	session_take(&k->session, c, &m);
}

/* Keep the text of a run's inputs, so that the text need not be made of the tree again. */
static void keep_inputs(struct rpc_msg *m, struct str args)
{
	struct json_span at;

	if (json_find(&at, args.p, args.n, "inputs") < 0)
		return;
	m->inputs = xstrndup(args.p + at.off, at.len);
	m->inputs_len = at.len;
}

/* Make M the request SEQ of TOOL with the arguments ARGS (taken). */
static void make_message(struct rpc_msg *m, uint32_t seq, const char *tool,
			 struct json_object *args)
{
	char key[RPC_ID_MAX + 1];
	struct json_object *id = json_object_new_int64(seq);

	m->kind = RPC_REQUEST;
	m->root = json_pack("method:s params:o", "tools/call",
			    json_pack("name:s arguments:o", tool, args));
	m->method = json_member_str(m->root, "method");
	m->params = json_member(m->root, "params");
	m->id = xasprintf("%" PRIu32, seq);
	m->id_key_len = rpc_id_key(key, id);
	m->id_key = xstrndup(key, m->id_key_len);
	json_object_put(id);
}

void children_ask(struct context *ctx, struct run *r,
		  const struct worker_question *ask)
{
	struct children *k = children_of(ctx, r);
	struct child_call *c = xcalloc(1, sizeof(*c));

	c->of = k;
	c->seq = ask->seq;
	c->tool = tool_named(ask->tool);
	c->turn.take = take_call;
	c->turn.arg = c;
	make_message(&c->msg, ask->seq, c->tool->name,
		     json_object_get(ask->params));
	c->msg.bytes = ask->text.n;
	if (c->tool->prepare == prepare_run)
		keep_inputs(&c->msg, ask->text);
	c->msg.cost = ask->cost;
	c->msg.held = ask->cost + c->msg.inputs_len;
	memory_add(&r->requestor->memory, c->msg.held);
	LIST_INSERT_HEAD(&k->calls, c, link);
	fair_queue_submit(ctx->turns, &r->requestor->turns, &c->turn);
}
