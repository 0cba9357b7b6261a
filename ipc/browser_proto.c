/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_proto.c - the table of the browser's actions and their arguments. The
 * supervisor makes tools of the actions and judges grants; paddock-browser
 * checks each call. An unknown name gives NULL, and the caller refuses the
 * call.
 */
#include "ipc/browser_proto.h"

#include <string.h>

#define URL_MAX 8192
#define SELECTOR_MAX 2048
#define TEXT_MAX 65536
#define QUERY_MAX 512

/* The kinds of argument; a string that is given is not empty. */
#define STRING(is, longest, says)                                              \
	{                                                                      \
		.name = (is), .type = BROWSER_PROTO_STRING, .min = 1,          \
		.max = (longest), .about = (says)                              \
	}
#define INTEGER(is, least, most, usual, says)                                  \
	{                                                                      \
		.name = (is), .type = BROWSER_PROTO_INTEGER, .min = (least),   \
		.max = (most), .value = (usual), .has_value = true,            \
		.about = (says)                                                \
	}
#define FLAG(is, usual, says)                                                  \
	{                                                                      \
		.name = (is), .type = BROWSER_PROTO_BOOLEAN, .value = (usual), \
		.has_value = true, .about = (says)                             \
	}
#define END                                                                    \
	{                                                                      \
		.name = NULL                                                   \
	}

/* Arguments of several actions. */
#define TAB                                                                    \
	{                                                                      \
		.name = "tabId", .type = BROWSER_PROTO_TAB_ID,                 \
		.required = true, .about = "The tab, from create_tab."         \
	}
#define TIMEOUT(ms, most)                                                      \
	INTEGER("timeoutMs", 1, (most), (ms), "How long to wait.")
#define ELEMENT                                                                \
	STRING("element", 64,                                                  \
	       "An element's id, from get_page_info or "                       \
	       "find_element; or else selector.")
#define SELECTOR STRING("selector", SELECTOR_MAX, "A CSS selector.")

static const struct browser_proto_arg create_tab[] = {
    {.name = "sessionId",
     .type = BROWSER_PROTO_SESSION_ID,
     .about = "Open it there; else in the run's session, or in a new one."},
    STRING("url", URL_MAX,
	   "Navigate there at once; if that fails there is no tab."),
    TIMEOUT(30000, 120000),
    END};

static const struct browser_proto_arg navigate[] = {
    TAB,
    {.name = "url",
     .type = BROWSER_PROTO_STRING,
     .required = true,
     .min = 1,
     .max = URL_MAX,
     .about = "An http or https address."},
    TIMEOUT(30000, 120000),
    END};

static const struct browser_proto_arg wait_for_stable[] = {
    TAB, TIMEOUT(5000, 30000),
    INTEGER("quietMs", 0, 10000, 500,
	    "Stable is a page whose document has not changed for so long."),
    END};

static const struct browser_proto_arg get_page_info[] = {
    TAB, INTEGER("maxElements", 1, 1000, 50, "At most so many elements."),
    FLAG("visibleOnly", true, "Leave out what cannot be seen."),
    FLAG("cookies", false,
	 "Count in cookieChanges how often the session was seen with "
	 "other cookies than before."),
    END};

static const struct browser_proto_arg get_page_content[] = {
    TAB,
    INTEGER("maxLength", 1, 50000, 4000,
	    "At most so many characters of text in all sections."),
    END};

static const struct browser_proto_arg tab_only[] = {TAB, END};

static const struct browser_proto_arg click[] = {TAB, ELEMENT, SELECTOR, END};

static const struct browser_proto_arg type_text[] = {
    TAB,
    ELEMENT,
    SELECTOR,
    {.name = "text",
     .type = BROWSER_PROTO_STRING,
     .required = true,
     .max = TEXT_MAX,
     .about = "What to type."},
    FLAG("append", false, "Keep what the field has; else it is replaced."),
    END};

static const struct browser_proto_arg press_key[] = {
    TAB,
    {.name = "key",
     .type = BROWSER_PROTO_CHOICE,
     .required = true,
     .values = "Enter Tab Escape Backspace Delete Space ArrowUp ArrowDown "
	       "ArrowLeft ArrowRight Home End PageUp PageDown",
     .about = "The key; it goes to what has the focus."},
    END};

static const struct browser_proto_arg wait_for[] = {
    TAB,
    SELECTOR,
    STRING("text", QUERY_MAX, "Until the page shows this text."),
    STRING("urlContains", URL_MAX, "Until the page's address has this in it."),
    TIMEOUT(10000, 120000),
    END};

static const struct browser_proto_arg find_element[] = {
    TAB,
    SELECTOR,
    STRING("query", QUERY_MAX,
	   "Words of a label, a placeholder, a name; or else selector."),
    STRING("type", 32,
	   "Elements of this type alone, as get_page_info calls it."),
    INTEGER("maxElements", 1, 100, 5, "At most so many, the best first."),
    END};

static const struct browser_proto_arg screenshot[] = {
    TAB,
    {.name = "format",
     .type = BROWSER_PROTO_CHOICE,
     .values = "png jpeg",
     .about = "The image's format."},
    FLAG("fullPage", false, "The whole page, not what is in view alone."),
    END};

static const struct browser_proto_arg session_only[] = {
    {.name = "sessionId",
     .type = BROWSER_PROTO_SESSION_ID,
     .required = true,
     .about = "The session."},
    END};

static const struct browser_proto_arg nothing[] = {END};

const struct browser_proto_action browser_proto_actions[] = {
    {.name = "create_tab",
     .title = "Open a tab",
     .about = "Open a tab in a browser session, and navigate it to a URL when "
	      "one is given.",
     .args = create_tab,
     .result = "tabId:string! sessionId:string! url:string! partial:boolean! "
	       "statusCode:integer title:string"},
    {.name = "navigate",
     .title = "Navigate",
     .about = "Load a URL in a tab. Not a success: a page that answers 4xx or "
	      "5xx, or whose document is not there in time (partial).",
     .args = navigate,
     .result = "success:boolean! partial:boolean! statusCode:integer "
	       "page:object!"},
    {.name = "wait_for_stable",
     .title = "Wait until the page is stable",
     .about = "Wait until the document is loaded, nothing has changed in it "
	      "for quietMs, and no request is under way.",
     .args = wait_for_stable,
     .result = "stable:boolean! domStable:boolean! networkPending:integer! "
	       "loadState:string!",
     .read_only = true},
    {.name = "get_page_info",
     .title = "List a page's elements",
     .about = "What kind of page it is, and what can be clicked or filled in.",
     .args = get_page_info,
     .result = "page:object! elements:array! totalElements:integer! "
	       "truncated:boolean! statusCode:integer cookieChanges:integer",
     .read_only = true},
    {.name = "get_page_content",
     .title = "Read a page",
     .about = "A page's text by sections, its links, images and metadata.",
     .args = get_page_content,
     .result = "title:string! sections:array! links:array! images:array! "
	       "metadata:object! truncated:boolean!",
     .read_only = true},
    {.name = "close_tab",
     .title = "Close a tab",
     .about = "Close a tab. Its session stays.",
     .args = tab_only,
     .result = "success:boolean!"},
    {.name = "click",
     .title = "Click",
     .about = "Click on an element, with a real mouse event. What pops up is "
	      "closed, and told of.",
     .args = click,
     .result = "success:boolean! popups:array!"},
    {.name = "type_text",
     .title = "Type text",
     .about = "Type into a field.",
     .args = type_text,
     .result = "success:boolean!"},
    {.name = "press_key",
     .title = "Press a key",
     .about = "Press a key where the focus is.",
     .args = press_key,
     .result = "success:boolean!"},
    {.name = "wait",
     .title = "Wait for something",
     .about = "Wait until the page has an element, a text, or an address; all "
	      "that are given.",
     .args = wait_for,
     .result = "found:boolean! page:object!",
     .read_only = true},
    {.name = "find_element",
     .title = "Find elements",
     .about = "Find elements by the words on them, or by a CSS selector.",
     .args = find_element,
     .result = "elements:array!",
     .read_only = true},
    {.name = "screenshot",
     .title = "Take a screenshot",
     .about = "A picture of a page.",
     .args = screenshot,
     .result = "mimeType:string! data:string! width:integer! height:integer!",
     .read_only = true},
    {.name = "keep_session",
     .title = "Keep the session",
     .about = "Let the run's session stay when the run ends.",
     .args = nothing,
     .result = "sessionId:string!",
     /* a client has no session of its own to keep */
     .runs_alone = true},
    {.name = "close_session",
     .title = "Close a session",
     .about = "Close a session with its tabs, cookies and storage.",
     .args = session_only,
     .result = "success:boolean!"},
    {.name = "list_sessions",
     .title = "List sessions",
     .about = "The sessions that are open, with their tabs.",
     .args = nothing,
     .result = "sessions:array!",
     .read_only = true},
    {.name = NULL},
};

const struct browser_proto_action *browser_proto_action(const char *name)
{
	for (const struct browser_proto_action *a = browser_proto_actions;
	     a->name; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

const struct browser_proto_arg *
browser_proto_arg(const struct browser_proto_action *action, const char *name,
		  size_t len)
{
	for (const struct browser_proto_arg *a = action->args; a->name != NULL;
	     a++)
		if (strlen(a->name) == len && memcmp(a->name, name, len) == 0)
			return a;
	return NULL;
}
