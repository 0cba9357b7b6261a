/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action_read.c - get_page_info, get_page_content, find_element and screenshot,
 * run in a call's fiber. A page that does not answer, or an answer that is too
 * large, is the call's fault.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "browser/browser.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "ipc/msg.h"

/* with too many cookies Chromium does not answer */
#define COOKIES_MS 2000
#define SHOT_PIXELS_MAX 8000 /* pixels of a full page, in each direction */
#define SHOT_BYTES_MAX (MSG_ANSWER_MAX - 4096) /* bytes in base64 */

/* Answer with the result of FUNCTION of page.js. */
static int answer_with(struct call *c, const char *function,
		       struct json_object *args)
{
	struct json_object *v = script(c, function, args, 0);

	if (v == NULL)
		return -1;
	if (json_member_bool(v, "badSelector")) {
		json_object_put(v);
		return script_bad_selector(c);
	}
	c->result = v;
	return 0;
}

/* Hash by FNV-1a with the NULs, so "ab" "c" and "a" "bc" differ. */
static uint64_t hash_cookie(struct json_object *cookie)
{
	static const char *const parts[] = {"domain", "path", "name", "value"};
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *text = json_member_str(cookie, parts[i]);

		text = text == NULL ? "" : text;
		do
			hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
		while (*text++ != '\0');
	}
	return hash;
}

/*
 * Count in *CHANGES how often the cookies of C's session were seen to change;
 * unchanged when Chromium does not tell. 0, or -1 and a fault.
 */
static int count_cookie_changes(struct call *c, int64_t *changes)
{
	struct session *s = c->session;
	struct json_object *r, *all;
	const char *errmsg;
	uint64_t sum = 0;

	r = call_cdp_try(c, NULL, "Storage.getCookies",
			 json_pack("browserContextId:s", s->context),
			 clock_mono_ms() + COOKIES_MS, &errmsg);
	if (r == NULL && errmsg == NULL)
		return -1;
	all = json_member(r, "cookies");
	if (!json_object_is_type(all, json_type_array)) {
		json_object_put(r);
		return 0;
	}
	/* a sum, since the order has no meaning */
	json_each(cookie, all)
		sum += hash_cookie(cookie);
	json_object_put(r);
	if (sum != s->cookies) {
		s->cookies = sum;
		s->cookie_changes++;
	}
	*changes = s->cookie_changes;
	return 0;
}

int action_get_page_info(struct call *c)
{
	int64_t changes = -1;
	int status;

	if (answer_with(c, "info",
			json_pack("maxElements:i visibleOnly:b",
				  arg_int(c, "maxElements"),
				  arg_bool(c, "visibleOnly"))) < 0)
		return -1;
	/* members that the document itself does not have */
	status = tab_status(c->tab);
	if (status != 0)
		json_add(c->result, "statusCode:i", status);
	if (arg_bool(c, "cookies") && count_cookie_changes(c, &changes) < 0)
		return -1;
	if (changes >= 0)
		json_add(c->result, "cookieChanges:i", changes);
	return 0;
}

int action_get_page_content(struct call *c)
{
	return answer_with(c, "content",
			   json_pack("maxLength:i", arg_int(c, "maxLength")));
}

int action_find_element(struct call *c)
{
	const char *selector = arg_str(c, "selector");
	const char *query = arg_str(c, "query");

	if (selector == NULL && query == NULL)
		return call_fault(c, "INVALID_PARAMETER", NULL,
				  "find_element: give query or selector");
	return answer_with(c, "find",
			   json_pack("selector?s query?s type?s maxElements:i",
				     selector, query, arg_str(c, "type"),
				     arg_int(c, "maxElements")));
}

static struct json_object *capture(struct call *c, const char *format,
				   struct json_object *clip, bool beyond)
{
	return call_cdp(c, c->tab->attached, "Page.captureScreenshot",
			json_pack("format:s quality?o clip?o "
				  "captureBeyondViewport:b",
				  format,
				  strcmp(format, "jpeg") == 0
				      ? json_object_new_int(80)
				      : NULL,
				  clip, beyond));
}

static int64_t at_most(int64_t n, int64_t most)
{
	return n < most ? n : most;
}

int action_screenshot(struct call *c)
{
	const char *format = arg_str(c, "format");
	bool full = arg_bool(c, "fullPage");
	struct json_object *size =
	    script(c, "size", json_object_new_object(), 0);
	struct json_object *clip = NULL, *r;
	int64_t width, height;
	size_t n;

	if (size == NULL)
		return -1;
	format = format == NULL ? "png" : format;
	width = json_member_int(size, full ? "width" : "viewWidth");
	height = json_member_int(size, full ? "height" : "viewHeight");
	json_object_put(size);
	width = at_most(width, SHOT_PIXELS_MAX);
	height = at_most(height, SHOT_PIXELS_MAX);
	if (full)
		clip = json_pack("x:i y:i width:i height:i scale:i", 0, 0,
				 width, height, 1);
	r = capture(c, format, clip, full);
	if (r == NULL)
		return -1;
	n = (size_t)json_object_get_string_len(json_member(r, "data"));
	if (json_member_str(r, "data") == NULL || n > SHOT_BYTES_MAX) {
		json_object_put(r);
		return call_fault(
		    c, "EXECUTION_ERROR", NULL,
		    "the screenshot has %zu bytes in base64; %u "
		    "would pass: take a jpeg, or less of the page",
		    n, SHOT_BYTES_MAX);
	}
	c->result =
	    json_pack("mimeType:s data:o width:i height:i",
		      strcmp(format, "jpeg") == 0 ? "image/jpeg" : "image/png",
		      json_object_get(json_member(r, "data")), width, height);
	json_object_put(r);
	return 0;
}
