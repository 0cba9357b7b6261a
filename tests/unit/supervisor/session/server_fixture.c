/* SPDX-License-Identifier: Apache-2.0 */
/* server_fixture.c - see server_fixture.h. */
#include "tests/unit/supervisor/session/server_fixture.h"

#include <json-c/json_pointer.h>
#include <stdarg.h>

#include "base/os/log.h"
#include "supervisor/browser/browser.h"
#include "supervisor/cluster/cluster_table.h"
#include "supervisor/mcp/input/input.h"
#include "supervisor/mcp/tools/contract_tools.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/outcome.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/run/health/interpreters.h"

struct server server;

/* ---- the server ---- */

static void on_store(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	store_dispatch(server.context.store);
}

static void read_config(const char *text)
{
	char errmsg[512];

	server.config = config_new(0);
	if (text != NULL &&
	    config_read_text(server.config, "test", text, strlen(text), errmsg,
			     sizeof(errmsg)) < 0) {
		printf("Bail out! %s\n", errmsg);
		exit(1);
	}
	free(server.config->state_dir);
	server.config->state_dir = xstrdup(server.dir);
}

static void open_store(struct context *ctx)
{
	ctx->store = help_start(server.dir, ctx->instance);
	if (store_is_shared(ctx->store))
		ctx->cluster = &cluster_table;
	server.on_store = event_new(ctx->base, store_fd(ctx->store),
				    EV_READ | EV_PERSIST, on_store, NULL);
	event_add(server.on_store, NULL);
}

void server_begin(const char *config)
{
	static const struct runs_ops ops = {.may_run = browser_allow,
					    .on_ask = input_ask,
					    .on_drop = input_cancel};
	struct context *ctx = &server.context;
	char *templates;

	log_set_level(LOG_LEVEL_ERROR);
	server = (struct server){.dir = help_dir()};
	templates = xasprintf("%s/templates", server.dir);
	if (mkdir(templates, 0700) < 0)
		abort();
	free(templates);
	read_config(config);
	server.isolation.view = json_pack("level:s", "test");
	*ctx = (struct context){.base = event_base_new(),
				.config = server.config,
				.requestors = &server.requestors,
				.isolation = &server.isolation,
				.sessions = &server.sessions,
				.methods = &methods,
				.turns = &server.turns,
				.chores = &server.chores,
				.instance = "inst_one",
				.quiet = true};
	ctx->thread_pool = thread_pool_new(ctx->base, 1);
	fair_queue_init(ctx->turns, ctx->base);
	fair_queue_flow_init(ctx->chores);
	sessions_init(ctx->sessions);
	requestors_apply(ctx->requestors, ctx->config);
	ctx->local = requestors_of_uid(ctx->requestors, getuid());
	open_store(ctx);
	ctx->runs = runs_new(ctx, &ops);
	ctx->browser = browser_new(ctx, "/nowhere/paddock-browser");
	ctx->browser_trouble = browser_trouble;
	ctx->interpreters = interpreters_new(ctx);
	server_load();
}

void server_end(void)
{
	struct context *ctx = &server.context;

	runs_interrupt(ctx->runs, true);
	event_free(server.on_store);
	store_stop(ctx->store, HELP_WAIT_MS);
	runs_free(ctx->runs);
	interpreters_free(ctx->interpreters);
	browser_free(ctx->browser);
	thread_pool_free(ctx->thread_pool);
	catalogue_free(ctx->catalogue);
	is_int((int64_t)requestors_left(ctx->requestors), 0,
	       "after the end of the server no counter of a requestor is left");
	requestors_fini(ctx->requestors);
	config_free(server.config);
	contract_tools_fini();
	sessions_fini(ctx->sessions);
	fair_queue_fini(ctx->turns);
	event_base_free(ctx->base);
	json_object_put(server.isolation.view);
	help_remove(server.dir);
}

void server_file(const char *id, const char *version, const char *name,
		 const char *text)
{
	char *folder = xasprintf("%s/templates/%s-%s", server.dir, id, version);

	mkdir(folder, 0700);
	free(help_file(folder, name, text));
	free(folder);
}

void server_package(const char *id, const char *version, const char *members)
{
	struct json_object *m = json_pack(
	    "templateId:s version:s name:s description:s runtime:o "
	    "inputsSchema:o",
	    id, version, "A name", "A description", json_pack("type:s", "lua"),
	    json_pack("type:s", "object"));
	char *text = xasprintf("{%s}", members != NULL ? members : "");
	struct json_object *more = json_tokener_parse(text);

	if (more == NULL) {
		printf("Bail out! members are no JSON: %s\n", text);
		exit(1);
	}
	json_object_object_foreach(more, key, value)
		json_object_object_add(m, key, json_object_get(value));
	server_file(id, version, "template.json", json_text(m, NULL));
	server_file(id, version, "main.lua", "return function() end\n");
	json_object_put(more);
	json_object_put(m);
	free(text);
}

void server_load(void)
{
	struct context *ctx = &server.context;
	char *dir = xasprintf("%s/templates", server.dir);
	const char *dirs[] = {dir};

	catalogue_free(ctx->catalogue);
	ctx->catalogue = catalogue_load(dirs, 1, false, NULL, NULL);
	for (size_t i = 0; i < ctx->catalogue->n_problems; i++)
		printf("# %s: %s\n", ctx->catalogue->problems[i].path,
		       ctx->catalogue->problems[i].errmsg);
	free(dir);
}

void server_settle(void)
{
	struct answer a = {0};

	store_get_run(server.context.store, "nobody", "run_none", help_done,
		      &a);
	server_until(a.calls > 0);
	help_clear(&a);
}

void server_turn(void)
{
	for (int i = 0; i < 4; i++)
		event_base_loop(server.context.base, EVLOOP_NONBLOCK);
}

/* ---- runs ---- */

struct run *server_run(void)
{
	struct run *r, *next, *newest = NULL;

	HASH_ITER(hh, server.context.runs->by_id, r, next)
		newest = r;
	return newest;
}

void server_run_start(struct run *r)
{
	sched_start(&server.context.runs->sched, &r->job.queued);
	run_apply(r, EV_START);
	run_tell(r, &(struct run_notice){.kind = NOTICE_STATE});
}

static void end_by(struct run *r, const struct exit_facts *e)
{
	if (r->state == RUN_QUEUED)
		server_run_start(r);
	runs_worker_ended(server.context.runs, r, e);
}

void server_run_leave(struct run *r, const char *output)
{
	r->output.value = json_tokener_parse(output);
	end_by(r, &(struct exit_facts){.have_result = true,
				       .group = CGROUP_USE_UNKNOWN});
}

void server_run_end(struct run *r, const char *output)
{
	char id[ID_SIZE];

	memcpy(id, r->id, sizeof(id));
	server_run_leave(r, output);
	server_until(runs_by_id(server.context.runs, id) == NULL);
}

void server_run_fail(struct run *r, const char *code, const char *text)
{
	char id[ID_SIZE];

	memcpy(id, r->id, sizeof(id));
	run_set_error(r, code, NULL, "%s", text);
	end_by(r, &(struct exit_facts){.group = CGROUP_USE_UNKNOWN});
	server_until(runs_by_id(server.context.runs, id) == NULL);
}

const char *server_artifact(const struct run *r, const char *name,
			    const char *type, const char *data, size_t len)
{
	static char id[ID_SIZE];
	struct store_run row = {.requestor = r->requestor->name};
	struct store_artifact a;
	struct answer done = {0};
	char *path = xasprintf("%s/incoming", server.dir);
	FILE *f = fopen(path, "w");

	memcpy(row.id, r->id, sizeof(row.id));
	a = help_artifact(&row, (int64_t)len);
	a.name = (char *)(uintptr_t)name;
	a.mime_type = (char *)(uintptr_t)type;
	if (f == NULL || fwrite(data, 1, len, f) != len || fclose(f) != 0)
		abort();
	store_put_artifact(server.context.store, &a, path, STORE_SYNC,
			   help_done, &done);
	server_until(done.calls > 0);
	is_int(done.rc, 0, "the artifact %s is kept", name);
	memcpy(id, a.id, sizeof(id));
	help_clear(&done);
	free(path);
	return id;
}

/* ---- clients ---- */

static void take(struct client *c, struct json_object *m)
{
	struct json_object *id = json_member(m, "id");

	if (id != NULL && json_member(m, "method") == NULL)
		json_object_object_add(c->answers, json_object_get_string(id),
				       m);
	else
		json_object_array_add(c->told, m);
}

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	struct json_object *m = NULL;

	(void)stream;
	if (json_parse(&m, text, len, NULL) < 0)
		abort();
	if (!json_object_is_type(m, json_type_array)) {
		take(arg, m);
		return;
	}
	json_each(one, m)
		take(arg, json_object_get(one));
	json_object_put(m);
}

static void on_answer(void *arg, void *stream, const char *text, size_t len,
		      struct reply_hint hint)
{
	((struct client *)arg)->hint = hint;
	if (text != NULL)
		on_send(arg, stream, text, len);
}

static bool has_push_stream(void *arg)
{
	return !((struct client *)arg)->deaf;
}

static bool is_backlogged(void *arg)
{
	return ((struct client *)arg)->backlogged;
}

static const struct session_ops ops = {.send = on_send,
				       .answer = on_answer,
				       .has_push_stream = has_push_stream,
				       .backlogged = is_backlogged};

void client_begin(struct client *c, uid_t uid, enum mcp_revision rev)
{
	*c = (struct client){.answers = json_object_new_object(),
			     .told = json_object_new_array(),
			     .capabilities = "{}"};
	session_init(&c->session, &server.context,
		     requestors_of_uid(&server.requestors, uid), &ops, c);
	c->session.terms.revision = rev;
	c->session.greeted = c->session.initialized =
	    !mcp_has(rev, MCP_STATELESS);
}

void client_end(struct client *c)
{
	session_fini(&c->session);
	json_object_put(c->answers);
	json_object_put(c->told);
}

void client_declare(struct client *c, const char *capabilities)
{
	struct json_object *all = json_tokener_parse(capabilities);

	c->capabilities = capabilities;
	if (!mcp_has(c->session.terms.revision, MCP_STATELESS))
		session_set_capabilities(&c->session,
					 mcp_known_capabilities(all));
	json_object_put(all);
}

void client_say(struct client *c, const char *text)
{
	struct rpc_msg m;

	rpc_parse(&m, text, strlen(text));
	session_take(&c->session, NULL, &m);
}

/* Send a request with PARAMS, an object's text. */
static unsigned send_text(struct client *c, const char *method,
			  const char *params)
{
	unsigned id = ++c->last_id;
	enum mcp_revision rev = c->session.terms.revision;
	char *meta = xasprintf("\"_meta\":{\"io.modelcontextprotocol/"
			       "protocolVersion\":\"%s\",\"io."
			       "modelcontextprotocol/clientCapabilities\":%s}",
			       mcp_revision_name(rev), c->capabilities);
	bool own = mcp_has(rev, MCP_STATELESS);
	char *text =
	    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"%s\","
		      "\"params\":{%s%s%s}",
		      id, method, own ? meta : "",
		      own && strcmp(params, "{}") != 0 ? "," : "", params + 1);

	client_say(c, text);
	free(text);
	free(meta);
	return id;
}

static unsigned send_format(struct client *c, const char *method,
			    const char *params, va_list ap)
{
	char *text = NULL;
	unsigned id;

	if (vasprintf(&text, params, ap) < 0)
		abort();
	id = send_text(c, method, text);
	free(text);
	return id;
}

unsigned client_send(struct client *c, const char *method, const char *params,
		     ...)
{
	unsigned id;
	va_list ap;

	va_start(ap, params);
	id = send_format(c, method, params, ap);
	va_end(ap);
	return id;
}

struct json_object *client_answered(const struct client *c, unsigned id)
{
	char key[16];

	snprintf(key, sizeof(key), "%u", id);
	return json_member(c->answers, key);
}

struct json_object *client_wait(struct client *c, unsigned id)
{
	server_until(client_answered(c, id) != NULL);
	return client_answered(c, id);
}

struct json_object *client_call(struct client *c, const char *method,
				const char *params, ...)
{
	unsigned id;
	va_list ap;

	va_start(ap, params);
	id = send_format(c, method, params, ap);
	va_end(ap);
	return client_wait(c, id);
}

struct json_object *client_tool(struct client *c, const char *tool,
				const char *args, ...)
{
	char *text = NULL;
	unsigned id;
	va_list ap;

	va_start(ap, args);
	if (vasprintf(&text, args, ap) < 0)
		abort();
	va_end(ap);
	id = client_send(c, "tools/call", "{\"name\":\"%s\",\"arguments\":%s}",
			 tool, text);
	free(text);
	return client_wait(c, id);
}

void client_cancel(struct client *c, unsigned id)
{
	char text[160];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":%u}}",
		 id);
	client_say(c, text);
}

int client_told(struct client *c, const char *method)
{
	int n = 0;

	json_each(one, c->told)
		n += strcmp(json_member_str(one, "method"), method) == 0;
	json_object_put(c->told);
	c->told = json_object_new_array();
	return n;
}

const char *at(struct json_object *o, const char *pointer)
{
	struct json_object *found = NULL;

	if (o == NULL || json_pointer_get(o, pointer, &found) != 0)
		return NULL;
	return json_object_is_type(found, json_type_string)
		   ? json_object_get_string(found)
		   : json_text(found, NULL);
}

const char *tool_at(struct json_object *answer, const char *pointer)
{
	const char *text = at(answer, "/result/content/0/text");
	struct json_object *tree = json_member(answer, "tool");

	if (tree == NULL && text != NULL) {
		tree = json_tokener_parse(text);
		json_object_object_add(answer, "tool", tree);
	}
	return at(tree, pointer);
}
