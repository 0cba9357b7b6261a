/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_test.c - "paddock template test": runs a package's own tests in a
 * private server, and prints TAP. main.c's table calls it. CLI_FAILED when a
 * test fails or a package is broken, "Bail out!" with an exit status when the
 * server is lost.
 */
#include "cli/template/template_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/client/client.h"
#include "cli/template/template_findings.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "proto/json/json_diff.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/state_dir.h"
#include "proto/json/json_pack.h"

#define SHOWN 400 /* bytes of a value that differs */

static struct {
	struct opt_list grants;
} flags;

static const struct opt opts[] = {
    {"grant", 0, OPT_LIST, &flags.grants, "[TEMPLATE:]KEY=VALUE",
     "what the template, or each, is granted meanwhile"},
};

struct bench {
	const struct cli *cli;
	struct client *client;
	int n, failed, trouble;
};

/* ---- a test ---- */

struct json_object *template_test_outcome(const struct tool_result *a)
{
	struct json_object *o, *result;
	struct json_object *error = json_member(a->value, "error");
	const char *status = json_member_str(a->value, "status");
	const char *code = json_member_str(error, "errorCode");

	if (status == NULL) { /* refused: no run was made */
		status = "refused";
		code = json_member_str(a->value, "errorCode");
	}
	o = json_pack("status:s errorCode?s", status, code);
	if (json_object_object_get_ex(a->value, "result", &result))
		json_add(o, "result:O", result);
	return o;
}

static void comment_value(const char *what, struct json_object *v, bool there)
{
	struct buf b = {0};

	if (there)
		json_pretty_add_compact(&b, v);
	else
		buf_add_str(&b, "(nothing)");
	safe_printf("#   %-9s %.*s%s\n", what,
		    (int)(buf_len(&b) < SHOWN ? buf_len(&b) : SHOWN),
		    buf_data(&b), buf_len(&b) > SHOWN ? "..." : "");
	buf_fini(&b);
}

/* Follow POINTER in *V; false: leads nowhere, as keys with a slash do. */
static bool follow_pointer(struct json_object **v, const char *pointer)
{
	while (*pointer == '/') {
		size_t n = strcspn(++pointer, "/");
		char *key = xstrndup(pointer, n);
		bool there = false;

		pointer += n;
		if (json_object_is_type(*v, json_type_object)) {
			there = json_object_object_get_ex(*v, key, v) != 0;
		} else if (json_object_is_type(*v, json_type_array)) {
			size_t i = strtoul(key, NULL, 10);

			there = i < json_object_array_length(*v);
			if (there)
				*v = json_object_array_get_idx(*v, i);
		}
		free(key);
		if (!there)
			return false;
	}
	return true;
}

static bool compare(struct json_object *expect, const struct tool_result *a)
{
	struct json_object *got = template_test_outcome(a);
	struct json_object *want_at = expect, *got_at = got;
	char pointer[512];
	bool good = true;
	struct buf diag = {0};

	json_object_object_foreach(expect, key, value) {
		struct json_object *is;
		bool there = json_object_object_get_ex(got, key, &is);

		if (good && (!there ||
			     !json_diff(value, is, pointer, sizeof(pointer)))) {
			buf_printf(&diag, "/%s%s", key, there ? pointer : "");
			good = false;
		}
	}
	if (!good) {
		const char *at = (buf_add(&diag, "", 1), buf_data(&diag));
		bool has_want = follow_pointer(&want_at, at);
		bool has_got = follow_pointer(&got_at, at);
		const char *message =
		    json_member_str(json_member(a->value, "error"), "message");

		if (message == NULL)
			message = json_member_str(a->value, "error");
		safe_printf("# differs at %s\n", at);
		comment_value("expected:", want_at, has_want);
		comment_value("got:", got_at, has_got);
		if (message != NULL)
			comment_value(
			    "message:", json_member(a->value, "error"), true);
	}
	buf_fini(&diag);
	json_object_put(got);
	return good;
}

static int print_tap(struct bench *b, bool good, const char *id,
		     const char *name)
{
	b->n++;
	if (!good)
		b->failed++;
	safe_printf("%sok %d - %s: %.*s\n", good ? "" : "not ", b->n, id,
		    (int)(strlen(name) - strlen(".json")), name);
	return 0;
}

static int run_test(struct bench *b, struct json_object *manifest,
		    const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	const char *id = json_member_str(manifest, "templateId");
	struct json_object *test = NULL, *expect;
	struct tool_result a;
	int rc = 0;

	if (json_file_read(&test, path) < 0) {
		rc = print_tap(b, false, id, name);
	} else if (!json_object_is_type(expect = json_member(test, "expect"),
					json_type_object) ||
		   json_member(test, "inputs") == NULL) {
		message_print("%s: a test is {\"inputs\":…,\"expect\":{…}}",
			      path);
		rc = print_tap(b, false, id, name);
	} else {
		rc = client_tool(
		    b->client, "run_task_template",
		    json_pack(
			"templateId:s templateVersion?s inputs:O options:o", id,
			json_member_str(manifest, "version"),
			json_member(test, "inputs"),
			json_pack("mode:s", "sync")),
		    &a);
		if (rc == 0) {
			bool good = compare(expect, &a);

			print_tap(b, good, id, name);
			tool_result_fini(&a);
		}
	}
	fflush(stdout);
	json_object_put(test);
	free(path);
	return rc;
}

/* ---- a package ---- */

static int is_test(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && dot != NULL && strcmp(dot, ".json") == 0;
}

static int test_package(struct bench *b, const char *dir)
{
	char *path = xasprintf("%s/template.json", dir);
	char *tests = xasprintf("%s/tests", dir);
	struct json_object *manifest = NULL;
	struct dirent **names = NULL;
	int n = -1, rc = 0;

	if (json_file_read(&manifest, path) == 0)
		n = scandir(tests, &names, is_test, alphasort);
	if (n <= 0 && json_member_str(manifest, "templateId") != NULL)
		safe_printf("# %s has no tests\n",
			    json_member_str(manifest, "templateId"));
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = run_test(b, manifest, tests, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	json_object_put(manifest);
	free(tests);
	free(path);
	return rc;
}

static int not_hidden(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int test_all(struct bench *b, const char *dir)
{
	struct dirent **names = NULL;
	int n, rc = 0;
	bool any = false;

	if (template_findings_is_package(dir))
		return test_package(b, dir);
	n = scandir(dir, &names, not_hidden, alphasort);
	for (int i = 0; i < n; i++) {
		char *child = xasprintf("%s/%s", dir, names[i]->d_name);

		if (rc == 0 && template_findings_is_package(child)) {
			any = true;
			rc = test_package(b, child);
		}
		free(child);
		free(names[i]);
	}
	free(names);
	if (rc == 0 && !any) {
		template_findings_none(dir);
		b->failed++;
	}
	return rc;
}

/* ---- the private server ---- */

/*
 * Are all packages in DIR valid? If not, print why: to the server, a broken
 * package is merely a template that does not exist.
 */
static bool all_good(const struct cli *cli, const char *dir)
{
	struct json_object *o = template_findings_all(cli, dir);
	struct json_object *bad = json_member(o, "problems");
	size_t n = o == NULL ? 0 : json_object_array_length(bad);
	bool good = o != NULL && n == 0;

	json_each(one, bad)
		message_print("%s", json_object_get_string(one));
	json_object_put(o);
	return good;
}

static int with_server(const struct cli *cli, const char *dir,
		       const char *state_dir)
{
	struct cli private = {.verbose = cli->verbose,
			      .config = cli->config,
			      .state_dir = state_dir,
			      .grants = flags.grants};
	struct bench b = {.cli = cli};
	int rc;

	opt_list_add(&private.templates, dir);
	b.client = client_open(&private);
	rc = b.client == NULL ? client_trouble() : test_all(&b, dir);
	client_close(b.client);
	opt_list_free(&private.templates);
	if (rc != 0) {
		puts("Bail out!");
		return rc;
	}
	safe_printf("1..%d%s\n", b.n,
		    b.n == 0 ? " # SKIP there are no tests" : "");
	return b.failed == 0 ? CLI_OK : CLI_FAILED;
}

static int run_tests(const struct cli *cli, const char *const *arg)
{
	char *state_dir;
	int rc = template_findings_dir(arg[0]);

	if (rc != 0)
		return rc;
	if (!all_good(cli, arg[0]))
		return CLI_FAILED;
	state_dir = state_dir_make();
	if (state_dir == NULL)
		return CLI_TROUBLE;
	rc = with_server(cli, arg[0], state_dir);
	state_dir_remove(state_dir);
	return rc;
}

static int test(const struct cli *cli, int n, const char *const *arg)
{
	int rc = run_tests(cli, arg);

	(void)n;
	opt_list_free(&flags.grants);
	return rc;
}

const struct command cmd_template_test = {
    .name = "template test",
    .args = "DIR",
    .summary = "run the tests of a package, or of a folder of them",
    .text = "tests/*.json hold {\"inputs\":…,\"expect\":{\"status\":…,"
	    "\"result\":…|\"errorCode\":…}};\nthe result is compared exactly. "
	    "Inputs that the schema refuses have the status\n\"refused\". The "
	    "outcome is TAP on stdout.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = 1,
    .run = test,
};
