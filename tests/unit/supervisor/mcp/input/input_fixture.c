/* SPDX-License-Identifier: Apache-2.0 */
/* input_fixture.c - see input_fixture.h. */
#include "tests/unit/supervisor/mcp/input/input_fixture.h"

#include "supervisor/cluster/cluster_table.h"

static struct sessions sessions;
struct context ctx;
static struct config config = {.state_dir = (char *)(uintptr_t) ""};

const char *where(const void *stream)
{
	return stream != NULL ? stream : "-";
}

/* Noted as NAME.ROUTE:METHOD, or NAME.ROUTE:cancelled(REASON). */
static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	struct client *c = arg;
	struct json_object *m = NULL, *params, *id;
	const char *method;

	if (json_parse(&m, text, len, NULL) < 0)
		abort();
	method = json_member_str(m, "method");
	params = json_member(m, "params");
	id = json_member(m, "id");
	if (strcmp(method, "notifications/cancelled") == 0)
		note("{%s.%s: forget: %s}", c->name, where(stream),
		     json_member_str(params, "reason"));
	else if (id != NULL)
		note("{%s.%s: %s}", c->name, where(stream), method);
	if (id != NULL) {
		json_object_put(c->asked);
		c->asked = json_object_get(id);
	}
	json_object_put(m);
}

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	struct client *c = arg;

	(void)text, (void)len, (void)hint;
	note("{%s.%s: answered}", c->name, where(stream));
}

bool has_push_stream(void *arg)
{
	return ((struct client *)arg)->has_push_stream;
}

static bool has_reader(void *arg, void *stream)
{
	(void)stream;
	return !((struct client *)arg)->deaf;
}

static bool is_backlogged(void *arg)
{
	return ((struct client *)arg)->backlogged;
}

static const struct session_ops ops = {.send = on_send,
				       .answer = on_answer,
				       .has_push_stream = has_push_stream,
				       .has_reader = has_reader,
				       .backlogged = is_backlogged};

void client_begin(struct client *c, const char *name)
{
	*c = (struct client){.name = name};
	session_init(&c->session, &ctx, requestors_of_uid(&it.all, 7), &ops, c);
	c->session.greeted = c->session.initialized = true;
	if (json_parse(&c->session.terms.capabilities, "{\"elicitation\":{}}",
		       18, NULL) < 0)
		abort();
}

void client_end(struct client *c)
{
	session_fini(&c->session);
	json_object_put(c->asked);
}

void says(struct client *c, const char *result)
{
	struct rpc_msg m;
	char text[512];

	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}",
		 json_text(c->asked, NULL), result);
	rpc_parse(&m, text, strlen(text));
	session_take(&c->session, NULL, &m);
}

void accepts(struct client *c)
{
	says(c, "\"result\":" ACCEPT);
}

/* ---- waiting requests ---- */

static void present(struct request *req, struct run *r)
{
	(void)r;
	request_result(req, json_object_new_object());
}

struct request *call_of(struct client *c, const char *stream,
			const char *params)
{
	struct rpc_msg m;
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":"
		 "\"tasks/result\",\"params\":%s}",
		 stream, params);
	rpc_parse(&m, text, strlen(text));
	return request_new(&c->session, (void *)(uintptr_t)stream, &m, NULL);
}

/* Let REQ wait for the run by a plain call with the route ROUTE. */
static const struct request_ops ops_of_run = {.run_ended = present};

struct request *waits(struct client *c, const char *stream)
{
	struct request *request = call_of(c, stream, "{}");

	request_set_state(request, &ops_of_run, NULL);
	request_watch(request, it.r);
	run_waiter_add(it.r, &request->waiter);
	return request;
}

/* ---- the run ---- */

void start(bool task)
{
	begin();
	it.env.ctx = &ctx;
	it.env.on_ask = input_ask;
	it.env.on_drop = input_cancel;
	it.r->limits.timeout_ms = 600000;
	run_record_row(it.r, ROW_COMMITTED);
	it.r->requestor = requestors_of_uid(&it.all, 7);
	if (task) {
		it.r->task.form = STORE_TASK_OUTPUT;
		it.r->task.expires_ms = clock_wall_ms() + 600000;
	}
	HASH_ADD_STR(ctx.runs->by_id, id, it.r);
	/* other tests check the notices of states */
	run_watch_del(&it.watch);
	it.watch.on_notice = NULL;
}

static void no_notice(struct run_watch *w, struct run *r,
		      const struct run_notice *n)
{
	(void)w, (void)r, (void)n;
}

void stop(void)
{
	HASH_DEL(ctx.runs->by_id, it.r);
	run_tell(it.r, &(struct run_notice){.kind = NOTICE_RELEASED});
	it.watch.on_notice = no_notice; /* for end(), which removes the watch */
	run_watch_add(it.r, &it.watch);
	end();
}

const char *heard(void)
{
	noted();
	read_one();
	return noted();
}

void set_up_server(void)
{
	static const struct runs_ops served = {.on_ask = input_ask};

	set_up();
	ctx = (struct context){.base = it.base,
			       .config = &config,
			       .instance = "",
			       .sessions = &sessions,
			       .methods = &methods};
	ctx.cluster = &cluster_table;
	sessions_init(&sessions);
	ctx.runs = runs_new(&ctx, &served);
}
