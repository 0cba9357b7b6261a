/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - "paddock schema": is a file valid by a schema, with each error and
 * its place. main.c's table calls it. 0 when all are valid, 1 when one is not,
 * 2 for files that cannot be read or are no schema.
 */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/json_io.h"
#include "cli/terminal.h"
#include "proto/schema/schema.h"

#define ERRORS_SHOWN 50u

enum { EXIT_VALID = 0, EXIT_INVALID = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "usage: paddock schema [--formats] SCHEMA.json INSTANCE.json…\n"
    "Checks JSON files against a JSON Schema (2020-12, draft-07); - is "
    "stdin.\n";

/* One line an error: where, what. */
static void show(const char *file, const struct schema_error *e)
{
	safe_fprintf(stderr, "%s: %s", file, e->text);
	if (e->keyword[0] != '\0')
		safe_fprintf(stderr, " [%s]", e->keyword);
	fputc('\n', stderr);
}

static int check(const struct schema *s, const char *file)
{
	struct json_object *instance;
	struct schema_error *errs;
	size_t n;

	if (json_file_read(&instance, file) != 0)
		return EXIT_USAGE;
	errs = xcalloc(ERRORS_SHOWN, sizeof(*errs));
	n = schema_validate_all(s, instance, errs, ERRORS_SHOWN);
	for (size_t i = 0; i < n; i++)
		show(file, &errs[i]);
	safe_printf("%s: %s\n", file, n == 0 ? "valid" : "not valid");
	free(errs);
	json_object_put(instance);
	return n == 0 ? EXIT_VALID : EXIT_INVALID;
}

/* The worst answer of all files counts. */
static int check_files(const char *schema, char **files, bool formats)
{
	const struct schema_options opt = {.assert_formats = formats};
	struct schema_error err;
	struct json_object *doc;
	struct schema *s;
	int worst = EXIT_VALID;

	if (json_file_read(&doc, schema) != 0)
		return EXIT_USAGE;
	if (schema_compile(&s, doc, &opt, &err) != 0) {
		show(schema, &err);
		json_object_put(doc);
		return EXIT_USAGE;
	}
	for (; *files != NULL; files++) {
		int rc = check(s, *files);

		if (rc > worst)
			worst = rc;
	}
	schema_free(s);
	json_object_put(doc);
	return worst;
}

int cli_schema(int argc, char **argv)
{
	static const struct option options[] = {
	    {"formats", no_argument, NULL, 'f'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	bool formats = false;
	int opt;

	optind = 0;
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (opt) {
		case 'f':
			formats = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_VALID;
		default:
			fputs(usage, stderr);
			return EXIT_USAGE;
		}
	}
	if (argc - optind < 2) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	return check_files(argv[optind], argv + optind + 1, formats);
}
