/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - "paddock schema": validates files by a schema and prints each
 * error with its place. main.c's table calls it. CLI_OK when all files are
 * valid, CLI_FAILED for an invalid file, CLI_USAGE for unreadable files or an
 * invalid schema.
 */
#include "cli/terminal/cli.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/schema/schema.h"

#define ERRORS_SHOWN 50u

static struct {
	bool formats;
} flags;

static const struct opt opts[] = {
    {"formats", 0, OPT_FLAG, &flags.formats, NULL,
     "check what \"format\" says, too"},
};

/* Print an error on one line: place and cause. */
static void print_schema_error(const char *file, const struct schema_error *e)
{
	safe_fprintf(stderr, "%s: %s", file, e->text);
	if (e->keyword[0] != '\0')
		safe_fprintf(stderr, " [%s]", e->keyword);
	fputc('\n', stderr);
}

static int check_file(const struct schema *s, const char *file)
{
	struct json_object *instance;
	struct schema_error *errs;
	size_t n;

	if (json_file_read(&instance, file) != 0)
		return CLI_USAGE;
	errs = xcalloc(ERRORS_SHOWN, sizeof(*errs));
	n = schema_validate_all(s, instance, errs, ERRORS_SHOWN);
	for (size_t i = 0; i < n; i++)
		print_schema_error(file, &errs[i]);
	safe_printf("%s: %s\n", file, n == 0 ? "valid" : "not valid");
	free(errs);
	json_object_put(instance);
	return n == 0 ? CLI_OK : CLI_FAILED;
}

/* Check each file; the worst result is returned. */
static int check_files(const struct cli *cli, int n, const char *const *arg)
{
	const struct schema_options opt = {.assert_formats = flags.formats};
	struct schema_error err;
	struct json_object *doc;
	struct schema *s;
	int worst = CLI_OK;

	(void)cli;
	if (json_file_read(&doc, arg[0]) != 0)
		return CLI_USAGE;
	if (schema_compile(&s, doc, &opt, &err) != 0) {
		print_schema_error(arg[0], &err);
		json_object_put(doc);
		return CLI_USAGE;
	}
	for (int i = 1; i < n; i++) {
		int rc = check_file(s, arg[i]);

		if (rc > worst)
			worst = rc;
	}
	schema_free(s);
	json_object_put(doc);
	return worst;
}

const struct command cmd_schema = {
    .name = "schema",
    .args = "SCHEMA.json INSTANCE.json...",
    .summary = "check JSON files against a JSON Schema",
    .text = "The schema is of 2020-12 or draft-07; - is stdin.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 2,
    .max = -1,
    .run = check_files,
};
