/* SPDX-License-Identifier: Apache-2.0 */
/*
 * action_input.c - click, type_text and press_key, run in a call's fiber. An
 * element that is missing, covered or not editable is the call's fault
 * ELEMENT_NOT_FOUND.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "browser/browser.h"
#include "proto/json/json_pack.h"

#define SETTLE_MS 100 /* popups of this time are in a click's answer */

/* Call FUNCTION of page.js for the element; NULL and a fault. */
static struct json_object *locate(struct call *c, const char *function)
{
	const char *element = arg_str(c, "element");
	const char *selector = arg_str(c, "selector");
	struct json_object *v, *args;

	if ((element == NULL) == (selector == NULL)) {
		call_fault(c, "INVALID_PARAMETER", NULL,
			   "%s: give element or selector, one of them",
			   c->action->name);
		return NULL;
	}
	args = json_pack("element?s selector?s", element, selector);
	if (browser_proto_arg(c->action, "append", 6) != NULL)
		json_add(args, "append:b text:s", arg_bool(c, "append"),
			 arg_str(c, "text"));
	v = script(c, function, args, 0);
	if (v == NULL)
		return NULL;
	if (json_member_bool(v, "badSelector"))
		script_bad_selector(c);
	else if (!json_member_bool(v, "found"))
		call_fault(c, "ELEMENT_NOT_FOUND",
			   json_pack("element?s selector?s", element, selector),
			   "%s: the page has no such element%s",
			   c->action->name,
			   element == NULL ? ""
					   : " any more; ids are of one "
					     "document alone");
	else
		return v;
	json_object_put(v);
	return NULL;
}

static int click_at(struct call *c, struct json_object *at)
{
	static const char *const types[] = {"mouseMoved", "mousePressed",
					    "mouseReleased"};
	int64_t until;

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		bool moved = strcmp(types[i], "mouseMoved") == 0;

		if (call_cdp_done(
			c, c->tab->attached, "Input.dispatchMouseEvent",
			json_pack(
			    "type:s x:o y:o button:s buttons:i clickCount:i",
			    types[i], json_object_get(json_member(at, "x")),
			    json_object_get(json_member(at, "y")),
			    moved ? "none" : "left",
			    (strcmp(types[i], "mousePressed") == 0), !moved)) <
		    0)
			return -1;
	}
	until = clock_mono_ms() + SETTLE_MS;
	while (clock_mono_ms() < until)
		if (call_wait(c, until) < 0)
			return -1;
	return 0;
}

int action_click(struct call *c)
{
	struct json_object *at = locate(c, "point");
	int rc;

	if (at == NULL)
		return -1;
	if (!json_member_bool(at, "visible") ||
	    json_member_bool(at, "covered") ||
	    json_member_bool(at, "disabled")) {
		call_fault(
		    c, "ELEMENT_NOT_FOUND", NULL, "click: the element is %s",
		    !json_member_bool(at, "visible")  ? "not visible"
		    : json_member_bool(at, "covered") ? "covered by another"
						      : "disabled");
		json_object_put(at);
		return -1;
	}
	json_object_put(c->tab->popups);
	c->tab->popups = json_object_new_array();
	rc = click_at(c, at);
	json_object_put(at);
	if (rc < 0)
		return -1;
	c->result =
	    json_pack("success:b popups:o", 1, json_object_get(c->tab->popups));
	return 0;
}

static int key_event(struct call *c, const char *type, const char *key,
		     const char *code, int64_t vk, const char *text)
{
	return call_cdp_done(
	    c, c->tab->attached, "Input.dispatchKeyEvent",
	    json_pack("type:s key:s code:s windowsVirtualKeyCode:i text?s",
		      type, key, code, vk, text));
}

static const struct {
	const char *name, *key, *code;
	int64_t vk;
	const char *text;
} keys[] = {
    {"Enter", "Enter", "Enter", 13, "\r"},
    {"Tab", "Tab", "Tab", 9, NULL},
    {"Escape", "Escape", "Escape", 27, NULL},
    {"Backspace", "Backspace", "Backspace", 8, NULL},
    {"Delete", "Delete", "Delete", 46, NULL},
    {"Space", " ", "Space", 32, " "},
    {"ArrowUp", "ArrowUp", "ArrowUp", 38, NULL},
    {"ArrowDown", "ArrowDown", "ArrowDown", 40, NULL},
    {"ArrowLeft", "ArrowLeft", "ArrowLeft", 37, NULL},
    {"ArrowRight", "ArrowRight", "ArrowRight", 39, NULL},
    {"Home", "Home", "Home", 36, NULL},
    {"End", "End", "End", 35, NULL},
    {"PageUp", "PageUp", "PageUp", 33, NULL},
    {"PageDown", "PageDown", "PageDown", 34, NULL},
};

int action_press_key(struct call *c)
{
	const char *name = arg_str(c, "key");

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (strcmp(keys[i].name, name) != 0)
			continue;
		if (key_event(c,
			      keys[i].text == NULL ? "rawKeyDown" : "keyDown",
			      keys[i].key, keys[i].code, keys[i].vk,
			      keys[i].text) < 0)
			return -1;
		return key_event(c, "keyUp", keys[i].key, keys[i].code,
				 keys[i].vk, NULL);
	}
	return call_fault(c, "INVALID_PARAMETER", NULL, "no key %s", name);
}

/*
 * Type by a single call of page.js: an element that gets the focus later gets
 * no text.
 */
int action_type_text(struct call *c)
{
	struct json_object *v = locate(c, "type");
	bool done;

	if (v == NULL)
		return -1;
	done = json_member_bool(v, "editable") && json_member_bool(v, "typed");
	json_object_put(v);
	if (!done)
		return call_fault(c, "ELEMENT_NOT_FOUND", NULL,
				  "type_text: the element takes no text");
	return 0;
}
