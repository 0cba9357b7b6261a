/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selftest.c - "paddock selftest": runs attacks in a private server's cages and
 * compares their ends with selftest_table.c. main.c's table calls it.
 * CLI_FAILED when an attack got through; an attack that cannot be tried here is
 * skipped with the reason.
 */
#include "cli/server/selftest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/client/tool_call.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/state_dir.h"
#include "proto/json/json_pack.h"

#define SHOWN 400 /* columns of an unexpected outcome */
#define DATA "/usr/share/paddock/selftest"

/* By enum selftest_by. */
static const struct {
	const char *name, *template, *interpreter;
} by[] = {
    [SELFTEST_LUA] = {"lua", "selftest_lua", NULL},
    [SELFTEST_LUA_CPU] = {"lua", "selftest_lua_cpu", NULL},
    [SELFTEST_SH] = {"sh", "selftest_sh", "/bin/sh"},
    [SELFTEST_SH_CPU] = {"sh", "selftest_sh_cpu", "/bin/sh"},
    [SELFTEST_PYTHON] = {"python", "selftest_python", "/usr/bin/python3"},
    [SELFTEST_ASKS] = {"manifest", "selftest_asks", NULL},
};

struct suite {
	struct client *client;
	int failed, skipped;
};

/* ---- where the attacks are ---- */

/*
 * Return the folder of the attacks, relative to the folder that this program
 * was built or installed into.
 */
static char *find_templates(void)
{
	static const struct {
		const char *folder, *data;
	} places[] = {{"/build", "/etc/selftest"},
		      {"/bin", "/share/paddock/selftest"}};
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash != NULL)
		*slash = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		size_t len = strlen(exe), tail = strlen(places[i].folder);
		char *path;

		if (len < tail ||
		    strcmp(exe + len - tail, places[i].folder) != 0)
			continue;
		path =
		    xasprintf("%.*s%s", (int)(len - tail), exe, places[i].data);
		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return xstrdup(DATA);
}

/* ---- an attack ---- */

static int call_selftest(struct suite *s, const struct selftest *t,
			 struct tool_result *a)
{
	return client_tool(
	    s->client, "run_task_template",
	    json_pack("templateId:s inputs:o options:o", by[t->by].template,
		      json_pack("try:s", t->try),
		      json_pack("mode:s timeoutMs?i", "sync", t->timeout_ms)),
	    a);
}

/* Return why T cannot be tried here, or NULL. VIEW is NULL before the call. */
static const char *skip_reason(const struct selftest *t,
			       struct json_object *view)
{
	const char *code = json_member_str(view, "errorCode");

	if (view == NULL)
		return by[t->by].interpreter != NULL &&
			       access(by[t->by].interpreter, X_OK) != 0
			   ? "there is no such interpreter"
			   : NULL;
	if (code != NULL && strcmp(code, "ISOLATION_TOO_WEAK") == 0)
		return json_member_str(view, "error");
	return json_member_str(json_member(view, "result"), "skip");
}

static bool value_has_text(struct json_object *v, const char *text)
{
	struct buf b = {0};
	bool found;

	json_pretty_add_compact(&b, v);
	found = memmem(buf_data(&b), buf_len(&b), text, strlen(text)) != NULL;
	buf_fini(&b);
	return found;
}

static bool equals(struct json_object *v, const char *text)
{
	struct buf b = {0};
	bool same;

	json_pretty_add_compact(&b, v);
	same = buf_len(&b) == strlen(text) &&
	       memcmp(buf_data(&b), text, buf_len(&b)) == 0;
	buf_fini(&b);
	return same;
}

static bool as_it_should(const struct selftest *t, struct json_object *view)
{
	const char *status = json_member_str(view, "status");
	struct json_object *error = json_member(view, "error");
	const char *code = json_member_str(error, "errorCode");

	if (status == NULL || t->by == SELFTEST_ASKS) {
		code = json_member_str(view, "errorCode");
		return status == NULL && t->by == SELFTEST_ASKS &&
		       code != NULL && strcmp(code, t->code) == 0 &&
		       value_has_text(view, t->text);
	}
	if (t->code == NULL)
		return strcmp(status, "succeeded") == 0 &&
		       json_object_is_type(json_member(view, "artifacts"),
					   json_type_array) &&
		       json_object_array_length(
			   json_member(view, "artifacts")) == 0 &&
		       equals(json_member(view, "result"), t->text);
	if (strcmp(t->code, SELFTEST_ENDS) == 0)
		return strcmp(status, "succeeded") == 0 ||
		       strcmp(status, "failed") == 0;
	return code != NULL && strcmp(code, t->code) == 0 &&
	       value_has_text(error, t->text);
}

static void print_verdict(struct json_object *view)
{
	struct json_object *error = json_member(view, "error"), *shown = view;
	struct buf text = {0};

	if (error != NULL)
		shown = error;
	else if (json_member(view, "result") != NULL)
		shown = json_member(view, "result");
	json_pretty_add_compact(&text, shown);
	buf_add(&text, "", 1);
	fputs("#   it is ", stdout);
	safe_print_cut(buf_data(&text), 0, SHOWN);
	putchar('\n');
	buf_fini(&text);
}

static int attempt_attack(struct suite *s, size_t i)
{
	const struct selftest *t = &selftests[i];
	const char *errmsg = skip_reason(t, NULL);
	struct tool_result a = {0};
	bool good = true;

	if (errmsg == NULL) {
		int rc = call_selftest(s, t, &a);

		if (rc != 0)
			return rc;
		errmsg = skip_reason(t, a.value);
		good = errmsg != NULL || as_it_should(t, a.value);
	}
	safe_printf("%sok %zu - %s: %s", good ? "" : "not ", i + 1,
		    by[t->by].name, t->what);
	if (errmsg != NULL) {
		fputs(" # SKIP ", stdout);
		safe_print_cut(errmsg, 0, SHOWN);
		s->skipped++;
	}
	puts("");
	if (!good) {
		print_verdict(a.value);
		s->failed++;
	}
	fflush(stdout);
	tool_result_fini(&a);
	return 0;
}

/* ---- every attack ---- */

static int with_server(const struct cli *cli, const char *templates,
		       const char *state_dir)
{
	struct cli private = {.verbose = cli->verbose,
			      .config = cli->config,
			      .state_dir = state_dir};
	const size_t all = selftests_n + selftest_browser_n;
	struct suite s = {0};
	int rc;

	opt_list_add(&private.templates, templates);
	s.client = client_open(&private);
	rc = s.client == NULL ? client_trouble() : 0;
	safe_printf("1..%zu\n", all);
	for (size_t i = 0; i < selftests_n && rc == 0; i++)
		rc = attempt_attack(&s, i);
	if (rc == 0)
		rc = selftest_browser(cli, s.client, selftests_n + 1, &s.failed,
				      &s.skipped);
	client_close(s.client);
	opt_list_free(&private.templates);
	if (rc != 0) {
		puts("Bail out!");
		return rc;
	}
	safe_printf("# %zu attacks: %zu held, %d not, %d not tried\n", all,
		    all - (size_t)s.failed - (size_t)s.skipped, s.failed,
		    s.skipped);
	return s.failed == 0 ? CLI_OK : CLI_FAILED;
}

static int selftest(const struct cli *cli, int n, const char *const *arg)
{
	char *templates = n > 0 ? xstrdup(arg[0]) : find_templates();
	char *state_dir = NULL;
	int rc = CLI_TROUBLE;

	if (access(templates, R_OK) == 0)
		state_dir = state_dir_make();
	else
		message_print(
		    "the attacks are not in %s; say where they are: paddock "
		    "selftest DIR",
		    templates);
	if (state_dir != NULL) {
		rc = with_server(cli, templates, state_dir);
		state_dir_remove(state_dir);
	}
	free(templates);
	return rc;
}

const struct command cmd_selftest = {
    .name = "selftest",
    .args = "[DIR]",
    .summary = "attack a private server, and see whether the cage holds",
    .text = "DIR has the templates that attack, if they are not where they "
	    "were installed.\nThe outcome is TAP on stdout: what cannot be "
	    "tried here is skipped, with the\nreason.\n",
    .max = 1,
    .run = selftest,
};
