/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suite.c - runs a folder of files in the format of the official JSON Schema test suite
 * and prints TAP: suite [--formats] DIR [REMOTES]. The files in REMOTES are served as
 * http://localhost:1234/. cli/schema.t and peers/ajv.t run the program. An unreadable
 * file fails all tests, a schema with a compile error fails the tests of the schema.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/schema/schema.h"

#define REMOTE_BASE "http://localhost:1234/"

enum { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* A remote document used by a schema. */
struct remote {
	struct remote *next;
	char *uri;
	struct json_object *doc;
};

struct suite {
	const char *remotes_dir;
	bool formats;
	struct remote *remotes;
	unsigned count, failed;
};

static int read_json(struct json_object **out, const char *path)
{
	FILE *in = fopen(path, "r");
	struct json_error err;
	struct buf text = {0};
	char part[4096];
	size_t n;
	int rc = -1;

	*out = NULL;
	while (in != NULL && (n = fread(part, 1, sizeof(part), in)) > 0)
		buf_add(&text, part, n);
	if (in == NULL)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	else if ((rc = json_parse(out, buf_data(&text), buf_len(&text), &err)) <
		 0)
		fprintf(stderr, "%s: %s\n", path, err.text);
	if (in != NULL)
		fclose(in);
	buf_fini(&text);
	return rc;
}

/* The file for the URI that the suite expects to be served; NULL: no such file. */
static char *file_of(const struct suite *s, const char *uri)
{
	size_t n = strlen(REMOTE_BASE);

	if (s->remotes_dir == NULL || strncmp(uri, REMOTE_BASE, n) != 0 ||
	    strstr(uri, "..") != NULL)
		return NULL;
	return xasprintf("%s/%s", s->remotes_dir, uri + n);
}

static struct json_object *find_remote(const char *uri, void *arg)
{
	struct suite *s = arg;
	struct remote *r;
	char *file;

	for (r = s->remotes; r != NULL; r = r->next)
		if (strcmp(r->uri, uri) == 0)
			return r->doc;
	file = file_of(s, uri);
	if (file == NULL || access(file, R_OK) != 0) {
		free(file);
		return NULL;
	}
	r = xcalloc(1, sizeof(*r));
	r->uri = xstrdup(uri);
	if (read_json(&r->doc, file) != 0)
		r->doc = NULL;
	r->next = s->remotes;
	s->remotes = r;
	free(file);
	return r->doc;
}

static void free_remotes(struct suite *s)
{
	struct remote *next;

	for (struct remote *r = s->remotes; r != NULL; r = next) {
		next = r->next;
		json_object_put(r->doc);
		free(r->uri);
		free(r);
	}
}

static const char *text(struct json_object *obj, const char *key)
{
	const char *s = json_member_str(obj, key);

	return s != NULL ? s : "?";
}

/* Print a test's name on one line, without "#", which begins a directive of TAP. */
static void put_name(const char *s)
{
	for (; *s != '\0'; s++)
		putchar(*s == '#' || (unsigned char)*s < ' ' ? '.' : *s);
}

static void report(struct suite *s, bool pass, const char *file,
		   struct json_object *group, struct json_object *test,
		   const char *errmsg)
{
	printf("%sok %u - ", pass ? "" : "not ", ++s->count);
	put_name(file);
	fputs(": ", stdout);
	put_name(text(group, "description"));
	fputs(": ", stdout);
	put_name(text(test, "description"));
	putchar('\n');
	if (pass)
		return;
	s->failed++;
	printf("# expected %svalid; %s\n",
	       json_member_bool(test, "valid") ? "" : "in", errmsg);
}

static void run_test(struct suite *s, const struct schema *schema,
		     const char *refusal, const char *file,
		     struct json_object *group, struct json_object *test)
{
	bool want = json_member_bool(test, "valid");
	struct schema_error err = {0};
	int rc;

	if (schema == NULL) {
		report(s, false, file, group, test, refusal);
		return;
	}
	rc = schema_validate(schema, json_member(test, "data"), &err);
	report(s, rc == (want ? 0 : -EINVAL), file, group, test,
	       rc == 0 ? "it passes" : err.text);
}

static void run_group(struct suite *s, const char *file,
		      struct json_object *group)
{
	const struct schema_options opt = {.assert_formats = s->formats,
					   .resolver = find_remote,
					   .resolver_arg = s};
	struct json_object *tests = json_member(group, "tests");
	struct schema_error err = {0};
	struct schema *schema;

	schema_compile(&schema, json_member(group, "schema"), &opt, &err);
	for (size_t i = 0; tests != NULL && i < json_object_array_length(tests);
	     i++)
		run_test(s, schema, err.text, file, group,
			 json_object_array_get_idx(tests, i));
	schema_free(schema);
}

static int run_file(struct suite *s, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct json_object *groups;
	int rc = read_json(&groups, path);

	free(path);
	if (rc != 0)
		return rc;
	if (json_object_get_type(groups) == json_type_array)
		for (size_t i = 0; i < json_object_array_length(groups); i++)
			run_group(s, name,
				  json_object_array_get_idx(groups, i));
	json_object_put(groups);
	return 0;
}

static int is_json(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot != NULL && strcmp(dot, ".json") == 0;
}

int main(int argc, char **argv)
{
	bool formats = argc > 1 && strcmp(argv[1], "--formats") == 0;
	const char *dir = argv[1 + formats];
	struct suite s = {.remotes_dir = dir != NULL ? argv[2 + formats] : NULL,
			  .formats = formats};
	struct dirent **files;
	int n = dir == NULL ? -1 : scandir(dir, &files, is_json, alphasort);
	int rc = 0;

	if (n < 0) {
		fprintf(stderr, "%s: %s\n", dir != NULL ? dir : "usage",
			strerror(errno));
		return EXIT_USAGE;
	}
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = run_file(&s, dir, files[i]->d_name);
		free(files[i]);
	}
	free(files);
	free_remotes(&s);
	printf("1..%u\n", s.count);
	if (rc != 0)
		return EXIT_USAGE;
	return s.failed == 0 ? EXIT_PASSED : EXIT_FAILED;
}
