/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_text.c - "paddock template grant", and the permissions in "template
 * show" and "template check". Words of packages go through sanitize_add(): a
 * line that cleaning changes is shown as a remark, not as a line to copy.
 */
#include "cli/template/grants_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/template/template_findings.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "proto/json/json.h"

static const char *item(struct json_object *list, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(list, i));
}

/* ---- permissions asked and granted ---- */

static void show_word(const char *what, const char *word, bool granted,
		      const char *errmsg)
{
	safe_printf("  %-10s %s", what, word);
	if (errmsg != NULL)
		safe_printf(", not granted: %s", errmsg);
	else if (!granted)
		fputs(", not granted", stdout);
	putchar('\n');
}

static void show_kind(struct json_object *permissions, const char *what,
		      struct json_object *asked, struct json_object *granted)
{
	const char *errmsg = NULL; /* why it cannot be granted */

	json_each(o, json_member(permissions, "missing"))
		if (errmsg == NULL && json_member_is(o, "key", what))
			errmsg = json_member_str(o, "reason");

	if (json_object_is_type(asked, json_type_boolean))
		show_word(what, "yes", granted != NULL, errmsg);
	for (size_t i = 0; i < json_length(asked); i++) {
		bool has = false;

		for (size_t k = 0; k < json_length(granted); k++)
			has = has ||
			      strcmp(item(granted, k), item(asked, i)) == 0;
		show_word(what, item(asked, i), has, errmsg);
	}
}

/* ---- lines for paddock.conf ---- */

/* Has LINE the form of a section's head, a key, a remark, or a word of a list? */
static bool is_config_line(const char *line)
{
	return line[0] == '[' || line[0] == '#' || line[0] == '\t' ||
	       line[0] == '\0' || strstr(line, " =") != NULL;
}

void grants_text_lines(const char *text)
{
	char *copy = xstrdup(text), *at = copy, *line;

	while ((line = strsep(&at, "\n")) != NULL) {
		size_t blank = strspn(line, "\t"), n = strlen(line + blank);
		struct buf out = {0};

		if (at == NULL && n == 0)
			break;
		sanitize_add(&out, line + blank, n, SANITIZE_NO_LIMIT);
		if (!is_config_line(line) || buf_len(&out) != n ||
		    memcmp(buf_data(&out), line + blank, n) != 0)
			fputs("# cannot be written here: ", stdout);
		else if (blank > 0)
			putchar('\t');
		fwrite(buf_data(&out), 1, buf_len(&out), stdout);
		putchar('\n');
		buf_fini(&out);
	}
	free(copy);
}

bool grants_text_is_missing(struct json_object *permissions)
{
	return json_length(json_member(permissions, "missing")) > 0;
}

/* ---- template show ---- */

void grants_text_print(struct json_object *permissions)
{
	struct json_object *asked = json_member(permissions, "asked");
	struct json_object *granted = json_member(permissions, "granted");
	struct json_object *hosts = json_member(granted, "hosts");
	const char *lines = json_member_str(permissions, "grant");

	if (!json_object_is_type(asked, json_type_object) ||
	    json_object_object_length(asked) == 0)
		return;
	puts("\nAsks for:");
	json_object_object_foreach(asked, what, list) {
		show_kind(permissions, what, list, json_member(granted, what));
	}
	for (size_t i = 0; i < json_length(hosts); i++)
		show_word("hosts", item(hosts, i), true, NULL);
	/* without a list the server does not tell the hosts */
	if (hosts != NULL && json_length(hosts) == 0)
		show_word("hosts", "none: the browser opens no page for it",
			  true, NULL);
	if (grants_text_is_missing(permissions) && lines != NULL) {
		puts("\nUntil that is granted it is not run. In paddock.conf:");
		grants_text_lines(lines);
	}
}

/* ---- template grant ---- */

/* Does T's package ask for any permission? If not, print that. */
static bool asks(struct json_object *t)
{
	struct json_object *asked =
	    json_member(json_member(t, "permissions"), "asked");

	if (json_object_is_type(asked, json_type_object) &&
	    json_object_object_length(asked) > 0)
		return true;
	message_print("%s %s asks for nothing, so it needs no grant",
		      json_member_str(t, "templateId"),
		      json_member_str(t, "version"));
	return false;
}

static int grant(const struct cli *cli, int n, const char *const *arg)
{
	struct json_object *list;
	int rc = template_findings_dir(arg[0]);
	size_t found;

	(void)n;
	if (rc != 0)
		return rc;
	list = template_findings_grants(cli, arg[0]);
	if (list == NULL)
		return CLI_TROUBLE;
	found = json_length(list);
	if (cli->json)
		json_pretty_print(list, true);
	for (size_t i = 0, shown = 0; !cli->json && i < found; i++) {
		struct json_object *t = json_object_array_get_idx(list, i);

		if (!asks(t))
			continue;
		if (shown++ > 0)
			putchar('\n');
		safe_printf("# %s %s, as it is in %s\n",
			    json_member_str(t, "templateId"),
			    json_member_str(t, "version"),
			    json_member_str(t, "path"));
		grants_text_lines(json_member_str(t, "section"));
	}
	json_object_put(list);
	if (found > 0)
		return CLI_OK;
	message_print("%s: there is no good package, nor a folder of them",
		      arg[0]);
	message_more("  hint: \"paddock template check\" says what is wrong");
	return CLI_USAGE;
}

const struct command cmd_template_grant = {
    .name = "template grant",
    .args = "DIR",
    .summary = "the lines of paddock.conf that grant a package what it asks "
	       "for",
    .text = "Look at the package first: with its digest the grant holds for it "
	    "as it is,\nand for no other.\n",
    .min = 1,
    .max = 1,
    .run = grant,
};
