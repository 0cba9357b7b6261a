/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest_browser.c - selftest.c calls it last. Addresses that no page may
 * reach are asked for, then a tab is opened, and the server asked how what
 * speaks to the browser is locked in, as that has measured it. Without a
 * browser all are skipped, with the reason.
 */
#include "cli/selftest.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "cli/tool_call.h"
#include "cli/terminal.h"
#include "proto/json/json_pack.h"

#define LOOKS 30 /* a tenth of a second each: its sandbox takes a moment */

static const struct {
	const char *what;
	const char *url;  /* that must be refused; or */
	const char *cage; /* this member of the profile's cage must hold; or */
	const char *is;	  /* this one of its browser */
} tries[] = {
    {"a cloud's metadata", "http://169.254.169.254/", NULL, NULL},
    {"a file", "file:///etc/passwd", NULL, NULL},
    {"an address dressed as another", "http://[::ffff:127.0.0.1]/", NULL, NULL},
    {"a page of the browser's own", "chrome://version/", NULL, NULL},
    {"a system call of the broker's", NULL, "seccomp", NULL},
    {"a file of the broker's", NULL, "landlock", NULL},
    {"a core, or all descriptors, of the broker's", NULL, "limits", NULL},
    {"a page out of Chromium's own sandbox", NULL, NULL, "sandboxed"},
};

const size_t selftest_browser_n = ARRAY_LEN(tries);

static int browser_now(struct client *c, struct json_object **browser)
{
	struct tool_result a;
	int rc =
	    client_tool(c, "get_runtime_profile", json_object_new_object(), &a);

	*browser = NULL;
	if (rc != 0)
		return rc;
	*browser = json_object_get(json_member(a.value, "browser"));
	tool_result_fini(&a);
	return 0;
}

/* The browser's part of the profile while a tab is open; or why none is. */
static int look(struct client *c, struct json_object **browser, char **none)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	struct tool_result tab, closed;
	int rc = client_tool(c, "create_tab", json_object_new_object(), &tab);

	*browser = NULL;
	if (rc != 0)
		return rc;
	for (int i = 0; rc == 0 && i < LOOKS; i++) {
		json_object_put(*browser);
		rc = browser_now(c, browser);
		if (rc != 0 || !tab.good ||
		    json_member_bool(*browser, "sandboxed"))
			break;
		nanosleep(&pause, NULL);
	}
	if (rc == 0 && tab.good) {
		rc = client_tool(
		    c, "close_session",
		    json_pack("sessionId:s",
			      json_member_str(tab.value, "sessionId")),
		    &closed);
		if (rc == 0)
			tool_result_fini(&closed);
	}
	if (!tab.good)
		*none = xstrdup_opt(json_member_str(tab.value, "error"));
	tool_result_fini(&tab);
	return rc;
}

static int is_refused(struct client *c, const char *url, bool *good)
{
	struct tool_result a;
	int rc = client_tool(c, "create_tab", json_pack("url:s", url), &a);

	if (rc != 0)
		return rc;
	*good =
	    !a.good && json_member_is(a.value, "errorCode", "URL_NOT_ALLOWED");
	tool_result_fini(&a);
	return 0;
}

static bool holds(struct json_object *browser, size_t i)
{
	struct json_object *of =
	    tries[i].cage != NULL ? json_member(browser, "cage") : browser;
	const char *name = tries[i].cage != NULL ? tries[i].cage : tries[i].is;

	return json_object_get_int64(json_member(of, name)) > 0;
}

int selftest_browser(struct client *c, size_t first, int *failed, int *skipped)
{
	struct json_object *before = NULL, *open = NULL;
	const char *errmsg;
	char *none = NULL; /* it is there, and does not start */
	int rc = browser_now(c, &before);
	bool there = json_object_get_boolean(json_member(before, "available"));

	if (rc == 0 && there)
		rc = look(c, &open, &none);
	errmsg = none != NULL ? none : json_member_str(before, "reason");
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tries); i++) {
		bool tried = there && none == NULL, good = true;

		if (tried && tries[i].url != NULL)
			rc = is_refused(c, tries[i].url, &good);
		else if (tried)
			good = holds(open, i);
		if (rc != 0)
			break;
		safe_printf("%sok %zu - browser: %s", good ? "" : "not ",
			    first + i, tries[i].what);
		if (!tried)
			safe_printf(" # SKIP %s", errmsg != NULL
						      ? errmsg
						      : "there is no browser");
		safe_printf("\n");
		*failed += !good;
		*skipped += !tried;
	}
	free(none);
	json_object_put(before);
	json_object_put(open);
	return rc;
}
