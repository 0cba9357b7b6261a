/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - the life of a call, started by rpc_server.c: arguments, quota, a
 * fiber for the action, the answer. An action's failure is a fault, which is
 * the answer; a call is never lost.
 */
#include "browser/browser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "browser/cdp/cdp.h"
#include "browser/chromium.h"
#include "browser/fiber.h"
#include "browser/net/host_grants.h"
#include "browser/session_access.h"
#include "proto/json/json_pack.h"
#include "browser/rpc_server.h"

#define ACTION_MS 30000 /* time of an action without timeoutMs */
#define REST_MS 5000	/* time to begin and to answer, beside timeoutMs */

/* The functions of the actions. */
static const struct {
	const char *name;
	int (*run)(struct call *c);
} actions[] = {
    {"create_tab", action_create_tab},
    {"navigate", action_navigate},
    {"wait_for_stable", action_wait_for_stable},
    {"get_page_info", action_get_page_info},
    {"get_page_content", action_get_page_content},
    {"close_tab", action_close_tab},
    {"click", action_click},
    {"type_text", action_type_text},
    {"press_key", action_press_key},
    {"wait", action_wait},
    {"find_element", action_find_element},
    {"screenshot", action_screenshot},
    {"keep_session", action_keep_session},
    {"close_session", action_close_session},
    {"list_sessions", action_list_sessions},
};

/* ---- faults ---- */

int call_fault(struct call *c, const char *code, struct json_object *details,
	       const char *fmt, ...)
{
	va_list ap;

	if (c->fault.code != NULL) {
		json_object_put(details);
		return -1;
	}
	va_start(ap, fmt);
	if (vasprintf(&c->fault.message, fmt, ap) < 0)
		abort(); /* out of memory, as in xcalloc() */
	va_end(ap);
	c->fault.code = code;
	c->fault.details = details;
	return -1;
}

static void call_wake(struct call *c)
{
	event_active(c->wake, EV_TIMEOUT, 0);
}

/*
 * Set the end of the action: the time it waits for itself, and a little for the
 * rest, whatever Chromium does. So a call of Chromium needs no bound of its
 * own.
 */
void call_begin(struct call *c)
{
	bool own = browser_proto_arg(c->action, "timeoutMs", 9) != NULL;
	int64_t ms = own ? arg_int(c, "timeoutMs") + REST_MS : ACTION_MS;
	int64_t until = clock_mono_ms() + ms;

	c->deadline = until < c->last ? until : c->last;
}

void calls_wake(struct browser *b, const struct session *s, const struct tab *t)
{
	struct call *c;

	TAILQ_FOREACH(c, &b->calls, link)
		if ((s == NULL || c->session == s) &&
		    (t == NULL || c->tab == t))
			call_wake(c);
}

void call_abort(struct call *c, const char *code, const char *message)
{
	struct json_object *details = NULL;
	char *over;

	if (c->aborted)
		return;
	over = strcmp(code, "RESOURCE_LIMIT") == 0
		   ? chromium_ended_one(c->b->chromium, &details)
		   : NULL;
	call_fault(c, code, details, "%s", over != NULL ? over : message);
	free(over);
	c->aborted = true;
	c->session = NULL;
	c->tab = NULL;
	call_wake(c);
}

/* ---- waiting ---- */

int call_wait(struct call *c, int64_t until)
{
	int64_t now = clock_mono_ms();
	int64_t left = (until < c->deadline ? until : c->deadline) - now;

	if (c->aborted)
		return -1;
	event_add(c->wake, CLOCK_TIMEVAL(left < 0 ? 0 : left));
	fiber_yield();
	event_del(c->wake);
	if (c->aborted)
		return -1;
	if (clock_mono_ms() < c->deadline)
		return 0;
	c->aborted = true;
	return call_fault(c, "NAVIGATION_TIMEOUT", NULL,
			  "%s was not done in the time that it had",
			  c->action->name);
}

/* A call of Chromium that a fiber waits for; on the fiber's stack. */
struct cdp_wait {
	struct call *call;
	bool answered;
	struct json_object *result;
	char error[200];
};

static void on_answer(void *arg, struct json_object *result, const char *error)
{
	struct cdp_wait *a = arg;

	a->answered = true;
	a->result = json_object_get(result);
	if (result == NULL)
		snprintf(a->error, sizeof(a->error), "%s", error);
	call_wake(a->call);
}

struct json_object *call_cdp_try(struct call *c, const char *session,
				 const char *method, struct json_object *params,
				 int64_t until, const char **errmsg)
{
	static char errtext[200];
	struct chromium *ch = c->b->chromium;
	uint64_t start = chromium_starts(ch);
	struct cdp_wait a = {.call = c};
	uint32_t id;
	int rc = 0;

	*errmsg = NULL;
	if (c->aborted || chromium_cdp(ch) == NULL) {
		json_object_put(params);
		if (!c->aborted)
			call_fault(c, "PAGE_CRASHED", NULL,
				   "the browser ended");
		return NULL;
	}
	id = cdp_call(chromium_cdp(ch), session, method, params, on_answer, &a);
	while (rc == 0 && !a.answered && clock_mono_ms() < until)
		rc = call_wait(c, until);
	if (!a.answered && chromium_cdp(ch) != NULL &&
	    chromium_starts(ch) == start)
		cdp_forget(chromium_cdp(ch), id);
	if (rc < 0 || c->aborted) {
		json_object_put(a.result);
		return NULL;
	}
	if (a.result == NULL) {
		snprintf(errtext, sizeof(errtext), "%s", a.error);
		*errmsg = errtext;
	}
	return a.result;
}

struct json_object *call_cdp(struct call *c, const char *session,
			     const char *method, struct json_object *params)
{
	const char *errmsg;
	struct json_object *r =
	    call_cdp_try(c, session, method, params, INT64_MAX, &errmsg);

	if (r == NULL && errmsg != NULL)
		call_fault(c, "EXECUTION_ERROR", NULL, "%s: %s", method,
			   errmsg);
	return r;
}

int call_cdp_done(struct call *c, const char *session, const char *method,
		  struct json_object *params)
{
	struct json_object *r = call_cdp(c, session, method, params);

	json_object_put(r);
	return r == NULL ? -1 : 0;
}

void send_cdp(struct browser *b, const char *session, const char *method,
	      struct json_object *params)
{
	struct cdp *cdp = chromium_cdp(b->chromium);

	if (cdp != NULL)
		cdp_call(cdp, session, method, params, NULL, NULL);
	else
		json_object_put(params);
}

/* ---- the life of a call ---- */

static void call_end(struct call *c)
{
	struct browser *b = c->b;
	struct json_object *body;

	if (c->fault.code == NULL) {
		body = c->result;
		c->result = NULL;
		if (c->fiber != NULL)
			chromium_worked(b->chromium);
	} else {
		log_debug("call", "seq=%u action=%s code=%s msg=\"%s\"", c->seq,
			  c->action == NULL ? "?" : c->action->name,
			  c->fault.code, c->fault.message);
		body = json_pack("code:s message:s details?o", c->fault.code,
				 c->fault.message,
				 json_object_get(c->fault.details));
	}
	if (c->session != NULL)
		session_used(c->session);
	rpc_server_reply(b->rpc, c->seq, c->fault.code == NULL, body);
	TAILQ_REMOVE(&b->calls, c, link);
	b->n_calls--;
	if (c->wake != NULL)
		event_free(c->wake);
	fiber_free(c->fiber);
	free(c->requestor);
	free(c->of_run);
	free(c->in_session);
	host_grants_unref(c->hosts);
	free(c->fault.message);
	json_object_put(c->fault.details);
	json_object_put(c->args);
	json_object_put(c->result);
	free(c);
}

static void in_fiber(void *arg)
{
	struct call *c = arg;

	if (browser_proto_arg(c->action, "tabId", 5) != NULL) {
		if (tab_take(c) < 0)
			return;
		if (!c->action->read_only) /* the action may navigate, such
					      as a click */
			session_access_led(c, false);
	}
	if (c->run(c) < 0)
		call_fault(c, "EXECUTION_ERROR", NULL, "%s failed",
			   c->action->name);
	else if (c->fault.code == NULL && c->result == NULL)
		c->result = json_pack("success:b", 1);
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct call *c = arg;

	(void)fd, (void)what;
	if (fiber_resume(c->fiber))
		call_end(c);
}

void call_start(struct browser *b, uint32_t seq, const char *tool,
		struct json_object *body)
{
	struct call *c = xcalloc(1, sizeof(*c));

	c->b = b;
	c->seq = seq;
	c->action = browser_proto_action(tool);
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (strcmp(actions[i].name, tool) == 0)
			c->run = actions[i].run;
	TAILQ_INSERT_TAIL(&b->calls, c, link);
	b->n_calls++;
	if (c->action == NULL || c->run == NULL)
		call_fault(c, "INVALID_PARAMETER", NULL,
			   "there is no action %.64s", tool);
	else if (args_take(c, body) == 0)
		quota_claim(c, QUOTA_CALLS);
	json_object_put(body);
	if (c->fault.code != NULL) {
		call_end(c);
		return;
	}
	c->wake = evtimer_new(b->base, on_wake, c);
	c->fiber = fiber_new(in_fiber, c);
	call_wake(c);
}
