/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action_wait.c - wait_for_stable and wait, run in a call's fiber. A timeout is
 * an answer with the missing part; a page that ends is the call's fault.
 */
#include <string.h>

#include "base/clock.h"
#include "browser/browser.h"
#include "proto/json/json_pack.h"

#define POLL_MS 50

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Wait for a stable page by the document's state and by the MutationObserver: a
 * navigation within the document does not upset either for long.
 */
int action_wait_for_stable(struct call *c)
{
	int64_t quiet = arg_int(c, "quietMs");
	int64_t until = clock_mono_ms() + arg_int(c, "timeoutMs");
	bool loaded = false, stable = false;
	struct json_object *v, *state = NULL;
	/* rest of the quiet time; time of the next look */
	int64_t left = quiet, at;
	unsigned pending = 0;

	while (!stable) {
		v = script(c, "quiet", json_object_new_object(), until);
		if (c->aborted) {
			json_object_put(v);
			break;
		}
		pending = tab_requests(c->tab);
		left =
		    v == NULL ? POLL_MS : quiet - json_member_int(v, "quietMs");
		if (v != NULL) {
			json_object_put(state);
			state = json_object_get(json_member(v, "loadState"));
			loaded = strcmp(json_object_get_string(state),
					"complete") == 0;
		}
		json_object_put(v);
		stable = loaded && left <= 0 && pending == 0;
		if (stable || clock_mono_ms() >= until)
			break;
		at = clock_mono_ms() + (left > 0 ? left : POLL_MS);
		if (call_wait(c, earlier(until, at)) < 0)
			break;
	}
	if (c->aborted) {
		json_object_put(state);
		return -1;
	}
	c->result = json_pack(
	    "stable:b domStable:b networkPending:i loadState:o", stable,
	    left <= 0, pending,
	    state != NULL ? state : json_object_new_string("loading"));
	return 0;
}

int action_wait(struct call *c)
{
	int64_t until = clock_mono_ms() + arg_int(c, "timeoutMs");
	const char *selector = arg_str(c, "selector"),
		   *text = arg_str(c, "text"), *url = arg_str(c, "urlContains");
	struct json_object *v = NULL;

	if (selector == NULL && text == NULL && url == NULL)
		return call_fault(c, "INVALID_PARAMETER", NULL,
				  "wait: give selector, text or urlContains");
	for (;;) {
		json_object_put(v);
		v = script(c, "look",
			   json_pack("selector?s text?s urlContains?s",
				     selector, text, url),
			   until);
		if (c->aborted || json_member_bool(v, "badSelector")) {
			json_object_put(v);
			return c->aborted ? -1 : script_bad_selector(c);
		}
		if (json_member_bool(v, "found") || clock_mono_ms() >= until ||
		    call_wait(c, earlier(until, clock_mono_ms() + POLL_MS)) < 0)
			break;
	}
	if (c->aborted) {
		json_object_put(v);
		return -1;
	}
	c->result = v != NULL
			? v
			: json_pack("found:b page:o", 0,
				    json_pack("url:s title:s", c->tab->url,
					      c->tab->title));
	return 0;
}
