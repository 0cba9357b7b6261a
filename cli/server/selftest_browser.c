/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest_browser.c - the attacks by the browser, which selftest.c tries last:
 * addresses that no page may reach are requested; then a tab is opened, and the
 * server's profile says how the broker and Chromium are locked in, as measured
 * there. Without a browser each is skipped, with the reason.
 */
#include "cli/server/selftest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/client/tool_call.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

static const struct {
	const char *what;
	const char *url;  /* URL that must be refused; or */
	const char *cage; /* member of browser.cage that must hold; or */
	const char *is;	  /* member of browser that must hold */
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

int selftest_browser(const struct cli *cli, struct client *c, size_t first,
		     int *failed, int *skipped)
{
	struct json_object *before, *browser, *open = NULL, *refusal = NULL;
	int rc = tool_call_profile(cli, c, &before);
	const char *errmsg;
	bool there;

	browser = json_member(before, "browser");
	errmsg = json_member_str(browser, "reason");
	there = json_member_bool(browser, "available");
	if (rc == 0 && there)
		rc = tool_call_tab(cli, c, &open, &refusal);
	if (refusal != NULL) /* the browser does not start */
		errmsg = json_member_str(refusal, "error");
	browser = json_member(open, "browser");
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tries); i++) {
		bool tried = there && refusal == NULL, good = true;

		if (tried && tries[i].url != NULL)
			rc = is_refused(c, tries[i].url, &good);
		else if (tried)
			good = holds(browser, i);
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
	json_object_put(before);
	json_object_put(open);
	json_object_put(refusal);
	return rc;
}
