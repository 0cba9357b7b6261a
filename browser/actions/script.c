/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.c - calls functions of page.js in a tab's isolated world, for actions.
 * A page that keeps navigating, or does not answer, is the call's fault, or
 * NULL where the caller waits for a limited time.
 */
#include "browser/browser.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/embed.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"

EMBED(page_js, "browser/actions/page.js");

#define TRIES 5 /* a page may navigate between two calls */
#define PAUSE_MS 20

const char *script_source(void)
{
	return page_js; /* page_js ends in a NUL */
}

static struct json_object *evaluate(struct call *c, int64_t context,
				    const char *text, int64_t until,
				    const char **errmsg)
{
	struct json_object *r, *v = NULL;

	r = call_cdp_try(c, c->tab->attached, "Runtime.evaluate",
			 json_pack("expression:s contextId:i returnByValue:b "
				   "awaitPromise:b userGesture:b",
				   text, context, 1, 0, 0),
			 until, errmsg);
	if (r == NULL)
		return NULL;
	if (json_member(r, "exceptionDetails") != NULL)
		*errmsg = "the page's document is not of the usual kind";
	else
		v = json_object_get(
		    json_member(json_member(r, "result"), "value"));
	json_object_put(r);
	return v;
}

static struct json_object *try_script(struct call *c, const char *text,
				      int64_t until, const char **errmsg)
{
	struct json_object *r, *v;
	int64_t context;

	/* the context of the isolated world in the present document */
	r = call_cdp_try(
	    c, c->tab->attached, "Page.createIsolatedWorld",
	    json_pack("frameId:s worldName:s", c->tab->target, SCRIPT_WORLD),
	    until, errmsg);
	*errmsg = NULL;
	context = r != NULL ? json_member_int(r, "executionContextId") : -1;
	json_object_put(r);
	if (context < 0)
		return NULL;
	v = evaluate(c, context, text, until, errmsg);
	if (v != NULL || c->aborted)
		return v;
	/* the document is older than the script: evaluate the script first */
	v = evaluate(c, context, page_js, until, errmsg);
	json_object_put(v);
	return c->aborted ? NULL : evaluate(c, context, text, until, errmsg);
}

struct json_object *script(struct call *c, const char *function,
			   struct json_object *args, int64_t until)
{
	char *text = xasprintf(
	    "globalThis.paddock ? paddock.%s(%s) : null", function,
	    json_object_to_json_string_ext(args, JSON_C_TO_STRING_PLAIN));
	struct json_object *v = NULL;
	bool soft = until != 0;
	const char *errmsg = NULL;

	until = soft ? until : INT64_MAX;
	for (int i = 0;
	     i < TRIES && v == NULL && !c->aborted && clock_mono_ms() < until;
	     i++) {
		v = try_script(c, text, until, &errmsg);
		if (v == NULL && !c->aborted)
			call_wait(c, clock_mono_ms() + PAUSE_MS);
	}
	free(text);
	json_object_put(args);
	if (v == NULL && c->tab != NULL &&
	    clock_mono_ms() >= (until < c->deadline ? until : c->deadline))
		c->tab->hung = true;
	if (v == NULL && !soft && !c->aborted)
		call_fault(
		    c, "EXECUTION_ERROR", NULL, "%s: %s", c->action->name,
		    errmsg == NULL || *errmsg == '\0' ? "the page kept changing"
						      : errmsg);
	return v;
}

int script_bad_selector(struct call *c)
{
	return call_fault(c, "INVALID_PARAMETER",
			  json_pack("pointer:s keyword:s expected:s",
				    "/selector", "format", "a CSS selector"),
			  "%s: selector is no CSS selector", c->action->name);
}
