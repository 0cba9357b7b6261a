/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.c - "paddock template ls" and "show": lists a server's templates,
 * and shows a template's inputs, result, limits and permissions. main.c's table
 * calls them. For a missing template template_findings.c prints a hint;
 * untrusted text is cleaned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text/quantity.h"
#include "base/mem.h"
#include "cli/template/template_findings.h"
#include "cli/client/tool_call.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/template/grants_text.h"
#include "cli/template/schema_outline.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/server_flags.h"
#include "proto/json/json_pack.h"

#define LINE_COLUMNS 100
#define TEXT_COLUMNS 40

/* ---- ls ---- */

static const struct table_column columns[] = {
    {NULL, TABLE_CUT, 0}, {NULL, TABLE_WHOLE, 1}, {NULL, TABLE_CUT, 0}};

static void add_template_row(struct table *table, struct json_object *t)
{
	struct json_object *available = json_member(t, "available");
	bool there = available == NULL || json_object_get_boolean(available);
	const char *broken = json_member_str(t, "notReloaded");
	char *text = there ? xstrdup_opt(json_member_str(t, "name"))
			   : xasprintf("not available: %s",
				       json_member_str(t, "unavailableReason"));

	if (there && broken != NULL) {
		free(text);
		text = xasprintf("as it was loaded before; its package is "
				 "broken by now: %s",
				 broken);
	}

	table_add(table,
		  (const char *const[]){json_member_str(t, "templateId"),
					json_member_str(t, "version"), text});
	free(text);
}

static int ls(const struct cli *cli, struct client *c, int n,
	      const char *const *arg)
{
	struct json_object *v, *list;
	struct table *table;
	int rc = tool_call_templates(cli, c, &v);

	(void)n, (void)arg;
	if (rc != 0)
		return rc;
	list = json_member(v, "templates");
	if (cli->json) {
		json_pretty_print(list, true);
	} else {
		table = table_new(columns, ARRAY_LEN(columns));
		json_each(one, list)
			add_template_row(table, one);
		table_print(table);
	}
	if (json_length(list) == 0 && !cli->quiet)
		message_print("there are no templates for you here");
	if (client_is_private(c))
		free(template_findings_skipped(cli, NULL));
	json_object_put(v);
	return CLI_OK;
}

/* ---- show ---- */

/* Print "  name       1 min      server: default_timeout_ms". */
static void show_limit(const char *name, const char *value, const char *by)
{
	fputs("  ", stdout);
	safe_print_cut(name, 20, TEXT_COLUMNS);
	safe_printf("  %-16s  %s\n", value, by);
}

/*
 * Print a run's limits, with who sets each, then further limits of the template
 * itself.
 */
static void show_limits(struct json_object *limits,
			struct json_object *effective)
{
	char text[QUANTITY_SIZE];

	if (!json_object_is_type(effective, json_type_object))
		effective = NULL; /* of an older server */
	if (effective == NULL &&
	    (!json_object_is_type(limits, json_type_object) ||
	     json_object_object_length(limits) == 0))
		return;
	puts(
	    "\nLimits, and who sets them (server: a key of [limits] in paddock.conf):");
	if (effective != NULL) {
		json_object_object_foreach(effective, key, v) {
			const char *unit = json_member_str(v, "unit");

			show_limit(key,
				   quantity(text, json_member_int(v, "allowed"),
					    unit != NULL ? unit : ""),
				   json_member_str(v, "setBy"));
		}
	}
	if (!json_object_is_type(limits, json_type_object))
		return;
	json_object_object_foreach(limits, name, value)
		if (json_member(effective, name) == NULL)
			show_limit(name, json_text(value, NULL),
				   "the template itself");
}

/* Print "  uri  type" or "  name ARGUMENT [ARGUMENT]", and the description. */
static void show_offer(struct json_object *o)
{
	static const char *const keys[] = {"uri", "uriTemplate", "name"};
	const char *what = NULL;

	for (size_t i = 0; what == NULL && i < ARRAY_LEN(keys); i++)
		what = json_member_str(o, keys[i]);
	fputs("  ", stdout);
	safe_print_cut(what, 0, LINE_COLUMNS);
	json_each(a, json_member(o, "arguments")) {
		bool must = json_member_bool(a, "required");

		fputs(must ? " " : " [", stdout);
		safe_print_cut(json_member_str(a, "name"), 0, 40);
		fputs(must ? "" : "]", stdout);
	}
	if (json_member_str(o, "mimeType") != NULL) {
		fputs("  ", stdout);
		safe_print_cut(json_member_str(o, "mimeType"), 0, 40);
	}
	what = json_member_str(o, "description");
	if (what == NULL)
		what = json_member_str(o, "title");
	if (what != NULL)
		safe_printf("\n      %s", what);
	putchar('\n');
}

static void show_offers(const char *title, struct json_object *list)
{
	if (json_length(list) > 0)
		safe_printf("\n%s:\n", title);
	json_each(one, list)
		show_offer(one);
}

static void print_template(struct json_object *t)
{
	safe_printf("%s %s  %s\n", json_member_str(t, "templateId"),
		    json_member_str(t, "version"), json_member_str(t, "name"));
	if (json_member_str(t, "description") != NULL)
		text_wrap_print(json_member_str(t, "description"), 0, 0,
				text_wrap_columns(STDOUT_FILENO));
	schema_outline_print("Inputs", json_member(t, "inputsSchema"));
	schema_outline_print("Result", json_member(t, "outputsSchema"));
	show_limits(json_member(t, "limits"),
		    json_member(t, "effectiveLimits"));
	grants_text_print(json_member(t, "permissions"));
	show_offers("Resources", json_member(t, "resources"));
	show_offers("Prompts", json_member(t, "prompts"));
}

static int show_template(const struct cli *cli, struct client *c, int n,
			 const char *const *arg)
{
	struct json_object *v, *list;
	int rc = tool_call(cli, c, "list_task_templates",
			   json_pack("templateId:s", arg[0]), &v);

	(void)n;
	if (rc != 0)
		return rc;
	list = json_member(v, "templates");
	if (json_length(list) == 0) {
		message_print("there is no template \"%s\"", arg[0]);
		message_more(
		    "  hint: \"paddock template ls%s\" shows those that "
		    "there are",
		    server_flags());
		template_locate(cli, arg[0], cli->templates.n > 0);
		json_object_put(v);
		return CLI_ABSENT;
	}
	json_each(one, list) {
		if (cli->json)
			json_pretty_print(one, true);
		else
			print_template(one);
	}
	json_object_put(v);
	return CLI_OK;
}

const struct command cmd_template_ls = {
    .name = "template ls",
    .args = "",
    .summary = "the templates there are",
    .call = ls,
};

const struct command cmd_template_show = {
    .name = "template show",
    .args = "TEMPLATE",
    .summary = "a template's inputs, limits, resources and prompts",
    .min = 1,
    .max = 1,
    .call = show_template,
};
