#include "supervisor/browser.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/json.h"
#include "supervisor/audit.h"
#include "supervisor/broker.h"
#include "supervisor/launch.h"

#define REQUEST_MS 10000      /* for what takes no browser */
#define CLIENT_CALL_MS 150000 /* above every action's own timeoutMs */
#define ARGS_MAX 24
#define KEEP "keep_session" /* of the run's own: for templates alone */

struct browser {
	struct server *server;
	struct broker *broker;
};

static const char *program; /* paddock-browser */

/* ---- is there one? ---- */

static bool is_program(const char *dir, size_t len, const char *name,
		       char *path, size_t size)
{
	snprintf(path, size, "%.*s/%s", (int)len, dir, name);
	return len > 0 && access(path, X_OK) == 0;
}

static bool find_in(const char *dirs, const char *name, char *path, size_t size)
{
	while (*dirs != '\0') {
		size_t len = strcspn(dirs, ":");

		if (is_program(dirs, len, name, path, size))
			return true;
		dirs += len;
		dirs += *dirs == ':';
	}
	return false;
}

/* Chromium, as configured, or where it is usual. NULL: there is none. */
static const char *find_chromium(const struct config *config)
{
	static const char *const names[] = {"chromium-headless-shell",
					    "chromium"};
	static char path[4096];
	const char *dirs = getenv("PATH");

	if (config->chromium != NULL)
		return access(config->chromium, X_OK) == 0 ? config->chromium
							   : NULL;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if ((dirs != NULL &&
		     find_in(dirs, names[i], path, sizeof(path))) ||
		    find_in("/usr/bin", names[i], path, sizeof(path)))
			return path;
	return NULL;
}

const char *browser_lacks(const struct config *config)
{
	if (!config->browser_enabled)
		return "the operator has switched the browser off (enabled in "
		       "[browser])";
	if (program == NULL || access(program, X_OK) != 0)
		return "the program paddock-browser is not installed beside "
		       "paddockd";
	if (find_chromium(config) == NULL)
		return config->chromium != NULL
			   ? "the program that chromium in [browser] names is "
			     "not there"
			   : "Chromium is not installed: make deps-browser, or "
			     "the package chromium-headless-shell or chromium, "
			     "brings it";
	return NULL;
}

static bool needs_browser(const struct template *t)
{
	struct json_object *tools = json_member(t->manifest, "tools");
	size_t n = tools == NULL ? 0 : json_object_array_length(tools);

	for (size_t i = 0; i < n; i++)
		if (broker_action(json_object_get_string(
			json_object_array_get_idx(tools, i))) != NULL)
			return true;
	return false;
}

struct json_object *browser_view(const struct config *config)
{
	struct json_object *v = json_object_new_object();
	const char *why = browser_lacks(config);

	json_object_object_add(v, "available",
			       json_object_new_boolean(why == NULL));
	if (why != NULL)
		json_object_object_add(v, "reason",
				       json_object_new_string(why));
	return v;
}

bool browser_allow(const struct template *t, const struct config *config,
		   struct refusal *r)
{
	/* the disk is asked for those alone that need what is there */
	const char *why = needs_browser(t) ? browser_lacks(config) : NULL;

	if (why == NULL)
		return true;
	refuse(r, "BROWSER_UNAVAILABLE", NULL,
	       "%s needs a browser, and there is none here: %s", t->id, why);
	return false;
}

/* ---- the program ---- */

struct argv {
	char *all[ARGS_MAX];
	size_t n;
};

static void add_number(struct argv *a, const char *flag, int64_t value)
{
	a->all[a->n++] = xstrdup(flag);
	a->all[a->n++] = xasprintf("%lld", (long long)value);
}

static void add_text(struct argv *a, const char *flag, const char *value)
{
	a->all[a->n++] = xstrdup(flag);
	a->all[a->n++] = xstrdup(value);
}

static int launch(void *arg, int end, pid_t *pid)
{
	const struct browser *b = arg;
	const struct config *c = b->server->config;
	const char *chromium = find_chromium(c);
	struct argv a = {.all = {xstrdup("paddock-browser")}, .n = 1};
	int rc;

	if (chromium != NULL)
		add_text(&a, "--chromium", chromium);
	add_number(&a, "--max-sessions", c->browser_max_sessions);
	add_number(&a, "--max-tabs", c->browser_max_tabs);
	add_number(&a, "--max-tabs-per-session", c->browser_session_tabs);
	add_number(&a, "--session-idle-ms", c->browser_session_idle_ms);
	add_number(&a, "--session-max-ms", c->browser_session_max_ms);
	add_number(&a, "--idle-ms", c->browser_idle_ms);
	add_text(&a, "--log-level", c->log_level);
	/* root may have opened it for us; else it logs to our stderr */
	if (c->log_file != NULL && access(c->log_file, W_OK) == 0)
		add_text(&a, "--log-file", c->log_file);
	rc = launch_broker(program, a.all, end, pid);
	for (size_t i = 0; i < a.n; i++)
		free(a.all[i]);
	return rc;
}

struct browser *browser_new(struct server *srv, const char *path)
{
	struct browser *b = xcalloc(1, sizeof(*b));
	const struct broker_env env = {
	    .base = srv->base, .launch = launch, .arg = b};

	program = path;
	b->server = srv;
	b->broker = broker_new(&env);
	return b;
}

void browser_stop(struct browser *b)
{
	if (b != NULL)
		broker_stop(b->broker);
}

void browser_free(struct browser *b)
{
	if (b == NULL)
		return;
	broker_free(b->broker);
	free(b);
}

bool browser_exited(struct browser *b, pid_t pid, int status)
{
	return b != NULL && broker_exited(b->broker, pid, status);
}

static void add_str(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(
	    o, key, text == NULL ? NULL : json_object_new_string(text));
}

static struct json_object *
action_body(const struct requestor *q, enum template_trust trust,
	    const struct run *r, struct json_object *args, int64_t timeout_ms)
{
	struct json_object *o = json_object_new_object();

	add_str(o, "requestor", q->name);
	add_str(o, "trust", trust_name(trust));
	add_str(o, "run", r != NULL ? r->id : NULL);
	add_str(o, "session", r != NULL ? r->session_id : NULL);
	json_object_object_add(o, "args", json_object_get(args));
	json_object_object_add(o, "timeoutMs",
			       json_object_new_int64(timeout_ms));
	return o;
}

static void tell(struct browser *b, const char *request, const char *key,
		 const char *value)
{
	struct json_object *o = json_object_new_object();

	add_str(o, key, value);
	broker_ask(b->broker, request, o, REQUEST_MS, NULL, NULL);
}

void browser_requestors_changed(struct browser *b)
{
	struct requestor *q, *next;

	if (!broker_is_running(b->broker))
		return;
	HASH_ITER(hh, b->server->requestors.by_name, q, next)
	if (requestor_gone(q))
		tell(b, "requestor_gone", "requestor", q->name);
}

/* ---- what runs call ---- */

/* One call without an answer. */
struct pending {
	struct browser_run *of;
	uint32_t seq;
	const struct broker_action *action;
	struct broker_call *call;
	LIST_ENTRY(pending) link;
};

/* A run that has called something; run.browser. */
struct browser_run {
	struct browser *browser;
	struct run *run; /* borrowed */
	struct run_watch watch;
	LIST_HEAD(pendings, pending) pending;
	char own[ID_SIZE]; /* the session that its tabs made, or "" */
};

static void pending_free(struct pending *p)
{
	LIST_REMOVE(p, link);
	free(p);
}

static void run_over(struct browser_run *br)
{
	struct pending *p;

	while ((p = LIST_FIRST(&br->pending)) != NULL) {
		broker_forget(p->call);
		pending_free(p);
	}
	if (broker_is_running(br->browser->broker))
		tell(br->browser, "run_ended", "run", br->run->id);
	run_watch_del(&br->watch);
	br->run->browser = NULL;
	free(br);
}

void browser_forget(struct run *r)
{
	if (r->browser != NULL)
		run_over(r->browser);
}

static void on_news(struct run_watch *w, struct run *r, enum run_news news)
{
	(void)w;
	if (news == NEWS_ENDED)
		browser_forget(r);
}

static struct browser_run *browser_of(struct browser *b, struct run *r)
{
	struct browser_run *br = r->browser;

	if (br != NULL)
		return br;
	br = r->browser = xcalloc(1, sizeof(*br));
	br->browser = b;
	br->run = r;
	br->watch.on_news = on_news;
	LIST_INIT(&br->pending);
	run_watch_add(r, &br->watch);
	return br;
}

/* A session has come to be, or stays: the run knows it by its id. */
static void note_session(struct browser_run *br,
			 const struct broker_action *action, const char *json,
			 size_t len)
{
	bool keeps = strcmp(action->name, KEEP) == 0;
	struct json_object *o = NULL;
	struct run *r = br->run;
	const char *id;

	if (!keeps && strcmp(action->name, "create_tab") != 0)
		return;
	if (json_parse(&o, json, len, NULL) < 0)
		return;
	id = json_member_str(o, "sessionId");
	if (id != NULL && id_ok(id, BROKER_SESSION)) {
		snprintf(br->own, sizeof(br->own), "%s", id);
		if (keeps && r->session_id == NULL)
			r->session_id = xstrdup(id);
	}
	json_object_put(o);
}

static void run_answered(void *arg, bool ok, const char *json, size_t len)
{
	struct pending *p = arg;
	struct browser_run *br = p->of;
	struct run *r = br->run;
	uint32_t seq = p->seq;

	if (ok)
		note_session(br, p->action, json, len);
	audit_browser(r->requestor, r->id, p->action->name,
		      ok ? NULL : "failed");
	pending_free(p);
	worker_answer_ask(r, seq, ok, json, len);
}

static bool lists(const struct template *t, const char *tool)
{
	struct json_object *tools = json_member(t->manifest, "tools");
	size_t n = tools == NULL ? 0 : json_object_array_length(tools);

	for (size_t i = 0; i < n; i++)
		if (strcmp(json_object_get_string(
			       json_object_array_get_idx(tools, i)),
			   tool) == 0)
			return true;
	return false;
}

/* Other sessions of its requestor are none of a template's business. */
static bool is_its_session(const struct run *r, const char *id)
{
	return (r->session_id != NULL && strcmp(r->session_id, id) == 0) ||
	       (r->browser != NULL && strcmp(r->browser->own, id) == 0);
}

/* Why R may not ASK; NULL: it may. */
static const char *why_not(const struct browser *b, const struct run *r,
			   const struct worker_ask *ask)
{
	struct json_object *given = json_member(ask->params, "sessionId");

	if (broker_action(ask->tool) == NULL)
		return "there is no such tool to be called";
	if (!lists(r->template, ask->tool))
		return "the manifest's tools do not list it, which the "
		       "template's author can change";
	if (strcmp(ask->tool, "list_sessions") == 0)
		return "a template knows its own session alone; clients may "
		       "list them";
	if (json_object_is_type(given, json_type_string) &&
	    !is_its_session(r, json_object_get_string(given)))
		return "sessionId is neither the session that the run was "
		       "given nor one that it made";
	return browser_lacks(b->server->config);
}

static int64_t time_left(const struct run *r)
{
	int64_t left =
	    r->started_mono_ms + r->limits.timeout_ms - clock_mono_ms();

	if (left < 1)
		return 1;
	return left < BROKER_TIMEOUT_MAX ? left : BROKER_TIMEOUT_MAX;
}

void browser_ask(struct browser *b, struct run *r, const struct worker_ask *ask)
{
	const char *no = why_not(b, r, ask);
	int64_t ms = time_left(r);
	struct pending *p;

	if (no != NULL) {
		audit_browser(r->requestor, r->id, ask->tool,
			      "CALL_NOT_ALLOWED");
		worker_refuse_ask(r, ask, no);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->of = browser_of(b, r);
	p->seq = ask->seq;
	p->action = broker_action(ask->tool);
	LIST_INSERT_HEAD(&p->of->pending, p, link);
	p->call =
	    broker_ask(b->broker, ask->tool,
		       action_body(r->requestor, r->trust, r, ask->params, ms),
		       ms, run_answered, p);
}

void browser_drop(struct run *r, uint32_t seq)
{
	struct pending *p;

	if (r->browser == NULL)
		return;
	LIST_FOREACH(p, &r->browser->pending, link)
	if (p->seq == seq)
		break;
	if (p == NULL)
		return;
	broker_forget(p->call);
	pending_free(p);
}

/* ---- what clients call ---- */

/* call.state: an action, or a look for a session. */
struct client_ask {
	struct call *call;
	struct broker_call *asked; /* NULL: it is answered */
	const struct broker_action *action;
	char id[ID_SIZE];
	void (*done)(struct call *c, bool found);
};

static void client_ask_free(void *state)
{
	struct client_ask *a = state;

	if (a->asked != NULL)
		broker_forget(a->asked);
	free(a);
}

static struct client_ask *client_ask_new(struct call *c)
{
	struct client_ask *a = xcalloc(1, sizeof(*a));

	a->call = c;
	c->state = a;
	c->state_free = client_ask_free;
	return a;
}

bool browser_offers(const struct session *s)
{
	return browser_lacks(s->server->config) == NULL &&
	       s->requestor->section->templates == NULL;
}

/* Codes that a broker may answer; else it is the browser that failed. */
static const char *known_code(const char *code)
{
	static const char *const codes[] = {
	    "INVALID_PARAMETER", "URL_NOT_ALLOWED",	"SESSION_NOT_FOUND",
	    "ELEMENT_NOT_FOUND", "NAVIGATION_TIMEOUT",	"PAGE_CRASHED",
	    "QUOTA_EXCEEDED",	 "EXECUTION_ERROR",	"RUN_CANCELED",
	    "BROWSER_BUSY",	 "BROWSER_UNAVAILABLE",
	};

	for (size_t i = 0; code != NULL && i < ARRAY_LEN(codes); i++)
		if (strcmp(codes[i], code) == 0)
			return codes[i];
	return "EXECUTION_ERROR";
}

static void refuse_client(struct call *c, struct json_object *e)
{
	const char *message = json_member_str(e, "message");
	struct json_object *details = json_member(e, "details");
	struct refusal r = {0};

	refuse(&r, known_code(json_member_str(e, "code")),
	       json_object_get(details), "%s",
	       message != NULL ? message : "the browser does not say why");
	call_refuse(c, &r);
}

static void client_answered(void *arg, bool ok, const char *json, size_t len)
{
	struct client_ask *a = arg;
	struct call *c = a->call;
	struct json_object *o = NULL;

	a->asked = NULL;
	audit_browser(c->session->requestor, NULL, a->action->name,
		      ok ? NULL : "failed");
	if (json_parse(&o, json, len, NULL) < 0 ||
	    !json_object_is_type(o, json_type_object))
		ok = false;
	if (ok) {
		call_tool_result(c, o, false);
		return;
	}
	refuse_client(c, o);
	json_object_put(o);
}

/* What may be too much for a client that does not read. */
static bool is_large(const struct broker_action *action)
{
	return strcmp(action->name, "screenshot") == 0 ||
	       strncmp(action->name, "get_", 4) == 0;
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct call *c = arg;
	const char *name = json_member_str(c->msg.params, "name");

	(void)fd, (void)what;
	browser_call(c, broker_action(name),
		     json_member(c->msg.params, "arguments"));
}

void browser_call(struct call *c, const struct broker_action *action,
		  struct json_object *args)
{
	struct session *s = c->session;
	struct browser *b = s->server->browser;
	struct client_ask *a;

	if (is_large(action)) {
		if (call_crowded(c, on_turn))
			return;
		call_reads(c);
	}
	a = client_ask_new(c);
	a->action = action;
	a->asked = broker_ask(b->broker, action->name,
			      action_body(s->requestor, session_trust(s), NULL,
					  args, CLIENT_CALL_MS),
			      CLIENT_CALL_MS, client_answered, a);
}

/* ---- the session that a run is given ---- */

static bool may_give(struct json_object *s, const struct client_ask *a)
{
	const char *id = json_member_str(s, "sessionId");
	const char *trust = json_member_str(s, "trust");

	return id != NULL && trust != NULL && strcmp(id, a->id) == 0 &&
	       json_object_get_boolean(json_member(s, "kept")) &&
	       (session_trust(a->call->session) == TRUST_LOCAL ||
		strcmp(trust, trust_name(TRUST_LOCAL)) != 0);
}

static void sessions_answered(void *arg, bool ok, const char *json, size_t len)
{
	struct client_ask *a = arg;
	struct call *c = a->call;
	void (*done)(struct call *, bool) = a->done;
	struct json_object *o = NULL, *list;
	bool found = false;
	size_t n;

	if (ok)
		json_parse(&o, json, len, NULL);
	list = json_member(o, "sessions");
	n = json_object_is_type(list, json_type_array)
		? json_object_array_length(list)
		: 0;
	for (size_t i = 0; !found && i < n; i++)
		found = may_give(json_object_array_get_idx(list, i), a);
	json_object_put(o);
	c->state = NULL;
	c->state_free = NULL;
	free(a);
	done(c, found);
}

void browser_find_session(struct call *c, const char *id,
			  void (*done)(struct call *c, bool found))
{
	struct session *s = c->session;
	struct browser *b = s->server->browser;
	struct json_object *body;
	struct client_ask *a;

	if (!id_ok(id, BROKER_SESSION) || !broker_is_running(b->broker)) {
		done(c, false);
		return;
	}
	a = client_ask_new(c);
	snprintf(a->id, sizeof(a->id), "%s", id);
	a->done = done;
	body = json_object_new_object();
	add_str(body, "requestor", s->requestor->name);
	a->asked = broker_ask(b->broker, "sessions", body, REQUEST_MS,
			      sessions_answered, a);
}
