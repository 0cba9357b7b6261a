/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reload.c - "paddock reload": has the daemon read its configuration and
 * templates again, and prints the accepted and the refused parts. main.c's
 * table calls it. CLI_PARTIAL if a part was not taken, CLI_TROUBLE if nothing
 * was, or if no daemon answers.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/client/client.h"
#include "cli/terminal/json_io.h"
#include "cli/client/report.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json.h"

#define NAMES_SHOWN 5

static void print_report_line(const char *name, const char *value)
{
	safe_printf("%-14s %s\n", name, value);
}

static void show_configuration(struct json_object *report)
{
	struct json_object *restart = json_member(report, "restart");
	size_t n = json_length(restart), i = 0;
	struct buf b = {0};

	buf_add_str(&b, json_member_str(report, "configuration"));
	if (json_member_str(report, "why") != NULL)
		buf_printf(&b, ": %s", json_member_str(report, "why"));
	json_each(key, restart) {
		const char *before = i == 0	  ? ", but for "
				     : i == n - 1 ? " and "
						  : ", ";

		buf_printf(&b, "%s%s", before, json_object_get_string(key));
		i++;
	}
	if (n > 0)
		buf_add_str(&b, n == 1 ? ", which takes a restart"
				       : ", which take a restart");
	buf_add(&b, "", 1);
	print_report_line("configuration", buf_data(&b));
	buf_fini(&b);
}

/*
 * Append ": 2 new (a 1.0.0, b 1.0.0)" to B; BEFORE: items of earlier calls.
 * Returns the number of items.
 */
static size_t add_some(struct buf *b, struct json_object *report,
		       const char *key, size_t before)
{
	struct json_object *list = json_member(report, key);
	size_t n = json_length(list), i = 0;

	if (n == 0)
		return 0;
	buf_printf(b, "%s%zu %s (", before == 0 ? ": " : ", ", n, key);
	json_each(t, list) {
		if (i < NAMES_SHOWN)
			buf_printf(b, "%s%s %s", i == 0 ? "" : ", ",
				   json_member_str(t, "templateId"),
				   json_member_str(t, "version"));
		i++;
	}
	buf_add_str(b, n > NAMES_SHOWN ? ", ...)" : ")");
	return n;
}

static void show_templates(struct json_object *report)
{
	const char *why = json_member_str(report, "templatesWhy");
	struct buf b = {0};
	size_t n = 0;

	buf_printf(&b, "%" PRId64, json_member_int(report, "templates"));
	n += add_some(&b, report, "new", n);
	n += add_some(&b, report, "changed", n);
	n += add_some(&b, report, "gone", n);
	if (n == 0)
		buf_add_str(&b, ", as they were");
	if (why != NULL && json_member_str(report, "why") == NULL)
		buf_printf(&b, ": %s", why);
	buf_add(&b, "", 1);
	print_report_line("templates", buf_data(&b));
	buf_fini(&b);
}

static void show_refused(struct json_object *report)
{
	json_each(p, json_member(report, "refused")) {
		char *text = xasprintf("%s: %s%s", json_member_str(p, "path"),
				       json_member_str(p, "why"),
				       json_member_bool(p, "kept")
					   ? "; what was loaded before is kept"
					   : "");

		print_report_line("refused", text);
		free(text);
	}
	if (json_member_int(report, "refusedMore") > 0)
		safe_printf("%-14s %" PRId64 " more\n", "refused",
			    json_member_int(report, "refusedMore"));
}

static int reload_status(struct json_object *report)
{
	if (json_member_str(report, "why") != NULL)
		return CLI_TROUBLE;
	return json_member_str(report, "templatesWhy") != NULL ||
		       json_length(json_member(report, "restart")) > 0 ||
		       json_length(json_member(report, "refused")) > 0
		   ? CLI_PARTIAL
		   : CLI_OK;
}

static int reload(const struct cli *cli, struct client *c, int n,
		  const char *const *arg)
{
	struct tool_result a;
	int rc;

	(void)n, (void)arg;
	if (client_is_private(c))
		return message_fail(CLI_TROUBLE,
				    "no daemon answers, so there is nothing to "
				    "load again: a private server reads "
				    "everything anew each time");
	rc = client_method(c, "paddock/reload", json_object_new_object(), &a);
	if (rc != 0)
		return rc;
	if (!a.good) {
		rc = report_refusal(a.value, NULL);
	} else if (cli->json) {
		json_pretty_print(a.value, true);
		rc = reload_status(a.value);
	} else {
		show_configuration(a.value);
		show_templates(a.value);
		show_refused(a.value);
		rc = reload_status(a.value);
	}
	tool_result_fini(&a);
	return rc;
}

const struct command cmd_reload = {
    .name = "reload",
    .args = "",
    .summary = "have the daemon read its configuration and templates again",
    .text = "What SIGHUP does, and what came of it: what was taken, and what "
	    "was refused and\nwhy. For root and the user who runs the daemon. "
	    "The status is 3 where something\nwas not taken, 125 where nothing "
	    "was.\n",
    .call = reload,
};
