/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.c - "paddock search": prints the templates that fit some words best, as a
 * table or JSON. main.c's table calls the command. Without a match stderr says so,
 * and the status is CLI_ABSENT.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/client/tool_call.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/opt.h"
#include "cli/terminal/server_flags.h"
#include "cli/terminal/table.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define MOST 50 /* templates, as search_task_templates allows */

static struct {
	const char *limit;
} flags;

static const struct opt opts[] = {
    {"limit", 'n', OPT_TEXT, &flags.limit, "NUMBER",
     "at most so many templates, 1 to 50; 8 unless given"},
};

static const struct table_column columns[] = {
    {NULL, TABLE_WHOLE, 0}, {NULL, TABLE_CUT, 1}, {NULL, TABLE_CUT, 0}};

static char *words_of(int n, const char *const *arg)
{
	struct buf words = {0};

	for (int i = 0; i < n; i++)
		buf_printf(&words, "%s%s", i > 0 ? " " : "", arg[i]);
	return buf_take(&words, NULL);
}

static void print_found(const struct cli *cli, struct json_object *list)
{
	struct table *t;

	if (cli->json) {
		json_pretty_print(list, true);
		return;
	}
	t = table_new(columns, ARRAY_LEN(columns));
	json_each(one, list)
		table_add(t, (const char *const[]){
				 json_member_str(one, "templateId"),
				 json_member_str(one, "name"),
				 json_member_str(one, "description")});
	table_print(t);
}

/* Read --limit into *MOST, 0 unless given. 0, or an exit status. */
static int read_limit(long *most)
{
	char *end = NULL;

	*most = flags.limit != NULL ? strtol(flags.limit, &end, 10) : 0;
	if (flags.limit == NULL ||
	    (*end == '\0' && *most >= 1 && *most <= MOST))
		return 0;
	return message_fail(
	    CLI_USAGE, "-n is \"%.64s\"; it has to be a number from 1 to %d",
	    flags.limit, MOST);
}

static int search(const struct cli *cli, struct client *c, int n,
		  const char *const *arg)
{
	struct json_object *v, *list;
	char *query;
	long most;
	int rc = read_limit(&most);

	if (rc != 0)
		return rc;
	query = words_of(n, arg);
	rc = tool_call(cli, c, "search_task_templates",
		       json_pack("query:s limit?i", query, most), &v);
	free(query);
	if (rc != 0)
		return rc;
	list = json_member(v, "templates");
	print_found(cli, list);
	if (json_length(list) == 0) {
		message_print("no template that you may run here has one of "
			      "the words");
		message_more("  hint: \"paddock template ls%s\" shows all",
			     server_flags());
		rc = CLI_ABSENT;
	}
	json_object_put(v);
	return rc;
}

const struct command cmd_search = {
    .name = "search",
    .args = "WORD...",
    .summary = "the templates that fit some words best",
    .text =
	"The words say what is to be done: paddock search profile a table. Endings,\n"
	"capitals and accents do not matter; the best template comes first.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = -1,
    .call = search,
};
