/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser.c - whether there is a browser, which templates may use it, and how
 * paddock-browser is started. Runs come by the on_ask of server.c, clients by
 * tools.c. A template which needs a missing browser is refused with what is
 * missing and what would help.
 */
#include "supervisor/browser/browser.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/loop_guard.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/browser/browser_private.h"
#include "supervisor/spawn/cgroup.h"
#include "supervisor/spawn/spawn_exec.h"
#include "supervisor/spawn/ids/uid_range.h"

#define ARGS_MAX 32
#define LOOK_MS 1000
#define TRY_MS 60000 /* Chromium has 30 s to start */

static const char *program; /* paddock-browser */

/* ---- looking for a browser ---- */

static bool find_in(const char *dirs, const char *name, char *path, size_t size)
{
	while (*dirs != '\0') {
		size_t len = strcspn(dirs, ":");

		snprintf(path, size, "%.*s/%s", (int)len, dirs, name);
		if (len > 0 && access(path, X_OK) == 0)
			return true;
		dirs += len;
		dirs += *dirs == ':';
	}
	return false;
}

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

const char *browser_chromium(const struct config *config)
{
	const char *path;

	loop_guard_allow("folders of PATH, when a browser starts or is shown");
	path = find_chromium(config);
	loop_guard_forbid();
	return path;
}

static const char *find_lack(const struct config *config)
{
	if (!config->browser_enabled)
		return "the operator has switched the browser off (enabled in "
		       "[browser])";

	if (program != NULL && access(program, X_OK) != 0 && errno == EACCES)
		return "the program paddock-browser is closed to the user that "
		       "paddockd runs as: chmod o+rx would do, for it and each "
		       "folder above it, or another place for it";
	if (program == NULL || access(program, X_OK) != 0)
		return "the program paddock-browser is not installed beside "
		       "paddockd";
	if (browser_chromium(config) == NULL)
		return config->chromium != NULL
			   ? "the program that chromium in [browser] names is "
			     "not there"
			   : "Chromium is not installed: make deps-browser, or "
			     "the package chromium-headless-shell or chromium, "
			     "brings it";
	return NULL;
}

/* The files are looked for at most once a second. */
const char *browser_lacks(const struct config *config)
{
	static struct {
		const struct config *of;
		const char *of_program, *lacks;
		int64_t asked_ms;
	} last;
	int64_t now = clock_mono_ms();

	if (last.of == config && last.of_program == program &&
	    last.asked_ms != 0 && now - last.asked_ms < LOOK_MS)
		return last.lacks;
	loop_guard_allow("folders of PATH, once a second");
	last.lacks = find_lack(config);
	loop_guard_forbid();
	last.of = config;
	last.of_program = program;
	last.asked_ms = now;
	return last.lacks;
}

static bool needs_browser(const struct template *t)
{
	struct json_object *tools = json_member(t->manifest, "tools");

	json_each(one, tools)
		if (browser_proto_action(json_object_get_string(one)) != NULL)
			return true;
	return false;
}

bool browser_allow(const struct template *t, const struct config *config,
		   struct tool_error *r)
{
	/* look for files only for a template which needs them */
	const char *errmsg = needs_browser(t) ? browser_lacks(config) : NULL;

	if (errmsg == NULL)
		return true;
	tool_error_set(r, "BROWSER_UNAVAILABLE", NULL,
		       "%s needs a browser, and there is none here: %s", t->id,
		       errmsg);
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

static void add_flag(struct argv *a, const char *flag, const char *value)
{
	a->all[a->n++] = xstrdup(flag);
	a->all[a->n++] = xstrdup(value);
}

static int launch_broker(void *arg, int end, int log, pid_t *pid)
{
	const struct browser *b = arg;
	const struct config *c = b->ctx->config;
	const char *chromium = browser_chromium(c);
	struct argv a = {.all = {xstrdup("paddock-browser")}, .n = 1};
	int rc;

	if (chromium != NULL)
		add_flag(&a, "--chromium", chromium);
	if (!b->ctx->others)
		a.all[a.n++] = xstrdup("--alone");
	add_number(&a, "--max-sessions", c->browser_max_sessions);
	add_number(&a, "--max-tabs", c->browser_max_tabs);
	add_number(&a, "--max-tabs-per-session", c->browser_session_tabs);
	add_number(&a, "--max-memory", c->browser_max_memory);
	add_number(&a, "--max-processes", c->browser_max_processes);
	add_number(&a, "--session-idle-ms", c->browser_session_idle_ms);
	add_number(&a, "--session-max-ms", c->browser_session_max_ms);
	add_number(&a, "--idle-ms", c->browser_idle_ms);
	if (c->browser_deny != NULL)
		add_flag(&a, "--deny", c->browser_deny);
	add_flag(&a, "--log-level", c->log_level);
	if (geteuid() == 0 && uid_range_browser() != 0)
		add_number(&a, "--uid", uid_range_browser());
	rc = spawn_exec_helper(CGROUP_BROWSER, program, a.all, end, log, pid);
	for (size_t i = 0; i < a.n; i++)
		free(a.all[i]);
	return rc;
}

struct browser *browser_new(struct context *ctx, const char *path)
{
	struct browser *b = xcalloc(1, sizeof(*b));
	const struct browser_process_env env = {.base = ctx->base,
						.launch = launch_broker,
						.arg = b,
						.shared = ctx->others};

	program = path;
	b->ctx = ctx;
	b->process = browser_process_new(&env);
	return b;
}

const char *browser_trouble(const struct browser *b)
{
	return browser_process_trouble(b->process);
}

void browser_stop(struct browser *b)
{
	if (b != NULL)
		browser_process_stop(b->process);
}

void browser_free(struct browser *b)
{
	if (b == NULL)
		return;
	browser_process_free(b->process);
	free(b);
}

bool browser_exited(struct browser *b, pid_t pid, int status)
{
	return b != NULL && browser_process_exited(b->process, pid, status);
}

/* ---- calls to the program ---- */

struct json_object *browser_body(const struct requestor *q,
				 enum template_trust trust, const struct run *r,
				 struct json_object *args, int64_t timeout_ms)
{
	return json_pack("requestor:s trust:s run:s session:s args:O "
			 "timeoutMs:i",
			 q->name, trust_name(trust), r != NULL ? r->id : NULL,
			 r != NULL ? r->session_id : NULL, args, timeout_ms);
}

void browser_tell(struct browser *b, const char *request, const char *key,
		  const char *value)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, key, json_text_new(value));
	browser_process_ask(b->process, request, o, BROWSER_REQUEST_MS, NULL,
			    NULL);
}

struct trial {
	void (*done)(void *arg, const char *errmsg);
	void *arg;
};

static void on_tried(void *arg, const struct browser_rpc_answer *answer)
{
	struct trial *t = arg;

	t->done(t->arg,
		answer->ok ? NULL : json_member_str(answer->body, "message"));
	free(t);
}

void browser_try(struct browser *b, void (*done)(void *arg, const char *errmsg),
		 void *arg)
{
	struct trial *t = xcalloc(1, sizeof(*t));
	struct json_object *args = json_object_new_object();

	*t = (struct trial){done, arg};
	browser_process_ask(
	    b->process, "create_tab",
	    browser_body(b->ctx->local, TRUST_LOCAL, NULL, args, TRY_MS),
	    TRY_MS, on_tried, t);
	json_object_put(args);
}

void browser_requestors_changed(struct browser *b)
{
	struct requestor *q, *next;

	if (!browser_process_is_running(b->process))
		return;
	HASH_ITER(hh, b->ctx->requestors->by_name, q, next)
		if (requestor_gone(q))
			browser_tell(b, "requestor_gone", "requestor", q->name);
}
