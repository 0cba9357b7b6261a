/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_new.c - "paddock template new": writes a small working package.
 * main.c's table calls it. If the folder exists, or a file cannot be written,
 * the reason is printed, and written files are removed again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"

#define ID_MAX_BYTES 64

static const char manifest[] =
    "{\n"
    "\t\"templateId\": \"%s\",\n"
    "\t\"version\": \"0.1.0\",\n"
    "\t\"name\": \"%s\",\n"
    "\t\"description\": \"Greets a number of times. Say here what it is good "
    "for, so that a model knows when to use it.\",\n"
    "\t\"runtime\": {\"type\": \"lua\", \"entry\": \"main.lua\"},\n"
    "\t\"inputsSchema\": {\n"
    "\t\t\"type\": \"object\",\n"
    "\t\t\"required\": [\"name\"],\n"
    "\t\t\"additionalProperties\": false,\n"
    "\t\t\"properties\": {\n"
    "\t\t\t\"name\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": "
    "100, \"description\": \"Who is greeted.\"},\n"
    "\t\t\t\"times\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100, "
    "\"default\": 1, \"description\": \"How often.\"}\n"
    "\t\t}\n"
    "\t},\n"
    "\t\"outputsSchema\": {\n"
    "\t\t\"type\": \"object\",\n"
    "\t\t\"required\": [\"greetings\"],\n"
    "\t\t\"properties\": {\"greetings\": {\"type\": \"array\", \"items\": "
    "{\"type\": \"string\"}}}\n"
    "\t}\n"
    "}\n";

static const char code[] =
    "return function(run, inputs)\n"
    "\tlocal times = inputs.times or 1\n"
    "\tlocal greetings = run.array({})\n"
    "\n"
    "\trun.step(\"greet\", function()\n"
    "\t\tfor i = 1, times do\n"
    "\t\t\tgreetings[i] = \"Hello, \" .. inputs.name .. \"!\"\n"
    "\t\t\trun.progress(i, times)\n"
    "\t\tend\n"
    "\tend)\n"
    "\trun.artifact{name = \"greetings.txt\", mimeType = \"text/plain\",\n"
    "\t\tdata = table.concat(greetings, \"\\n\") .. \"\\n\"}\n"
    "\treturn {greetings = greetings}\n"
    "end\n";

static const char good_test[] =
    "{\n"
    "\t\"inputs\": {\"name\": \"world\", \"times\": 2},\n"
    "\t\"expect\": {\"status\": \"succeeded\", \"result\": {\"greetings\": "
    "[\"Hello, world!\", \"Hello, world!\"]}}\n"
    "}\n";

static const char bad_test[] =
    "{\n"
    "\t\"inputs\": {\"times\": 2},\n"
    "\t\"expect\": {\"status\": \"refused\", \"errorCode\": "
    "\"INVALID_PARAMETER\"}\n"
    "}\n";

static bool id_good(const char *id)
{
	size_t n = strlen(id);

	return n >= 1 && n <= ID_MAX_BYTES && id[0] >= 'a' && id[0] <= 'z' &&
	       strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

/* Make the folder PATH. 0, or an exit status, the reason printed. */
static int make_template_folder(const char *path)
{
	if (mkdir(path, 0777) == 0)
		return 0;
	if (errno == EEXIST)
		return message_fail(CLI_USAGE, "%s exists; nothing was written",
				    path);
	return message_fail(CLI_TROUBLE, "%s: %s", path, strerror(errno));
}

/* Write the files into the folder ID, which is empty. 0, or an exit status. */
static int fill_template(const char *id, const char *tests)
{
	char title[ID_MAX_BYTES + 1];
	char *text;
	int rc = make_template_folder(tests);

	/* "csv_profile" becomes "Csv profile" */
	for (size_t i = 0; i <= strlen(id); i++)
		title[i] = (char)(id[i] == '_' ? ' ' : id[i]);
	title[0] = (char)(title[0] - 'a' + 'A');
	text = xasprintf(manifest, id, title);
	if (rc == 0 &&
	    (json_file_create(id, "template.json", text) < 0 ||
	     json_file_create(id, "main.lua", code) < 0 ||
	     json_file_create(tests, "greets.json", good_test) < 0 ||
	     json_file_create(tests, "name_is_required.json", bad_test) < 0))
		rc = CLI_TROUBLE;
	free(text);
	return rc;
}

/*
 * Remove what was written: half a package would be in the way of the next try.
 * Files that are missing are ignored.
 */
static void remove_template(const char *id)
{
	static const char *const made[] = {"tests/name_is_required.json",
					   "tests/greets.json",
					   "main.lua",
					   "template.json",
					   "tests",
					   ""};

	for (size_t i = 0; i < ARRAY_LEN(made); i++) {
		char *path = xasprintf("%s/%s", id, made[i]);

		(void)remove(
		    path); /* the folder is ours, and so is every file */
		free(path);
	}
}

static int new_template(const struct cli *cli, int n, const char *const *arg)
{
	const char *id = arg[0];
	char *tests;
	int rc;

	(void)n;
	if (!id_good(id))
		return message_fail(
		    CLI_USAGE,
		    "a template's name is 1 to %d of a-z, 0-9 and _, and begins "
		    "with a letter",
		    ID_MAX_BYTES);
	rc = make_template_folder(id);
	if (rc != 0)
		return rc;
	tests = xasprintf("%s/tests", id);
	rc = fill_template(id, tests);
	free(tests);
	if (rc != 0) {
		remove_template(id);
		message_more("  nothing is left of %s; it can be tried "
			     "again",
			     id);
		return rc;
	}
	if (cli->json)
		safe_printf("{\"templateId\":\"%s\",\"path\":\"./%s\"}\n", id,
			    id);
	else
		safe_printf("./%s\n", id);
	message_more("next: paddock template test ./%s", id);
	message_more("      paddock run %s --templates ./%s -i name=you", id,
		     id);
	return CLI_OK;
}

const struct command cmd_template_new = {
    .name = "template new",
    .args = "NAME",
    .summary = "write a small package to begin with into ./NAME",
    .min = 1,
    .max = 1,
    .run = new_template,
};
