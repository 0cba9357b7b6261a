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
	const char *name, *template, *interpreter, *notebook;
} by[] = {
    [SELFTEST_LUA] = {"lua", "selftest_lua", NULL},
    [SELFTEST_LUA_CPU] = {"lua", "selftest_lua_cpu", NULL},
    [SELFTEST_SH] = {"sh", "selftest_sh", "/bin/sh"},
    [SELFTEST_SH_CPU] = {"sh", "selftest_sh_cpu", "/bin/sh"},
    [SELFTEST_PYTHON] = {"python", "selftest_python", "/usr/bin/python3"},
    [SELFTEST_NOTEBOOK] = {"notebook", "selftest_notebook", "/usr/bin/python3",
			   "n"},
    [SELFTEST_CELLS] = {"notebook in Lua", "selftest_notebook_lua", NULL, "n"},
    [SELFTEST_OTHER] = {"notebook in Lua", "selftest_notebook_lua", NULL, "m"},
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

/* Is V, as JSON, the TEXT (WHOLE), or is TEXT in it? */
static bool value_has_text(struct json_object *v, const char *text, bool whole)
{
	struct buf b = {0};
	bool found;

	json_pretty_add_compact(&b, v);
	found = memmem(buf_data(&b), buf_len(&b), text, strlen(text)) != NULL &&
		(!whole || buf_len(&b) == strlen(text));
	buf_fini(&b);
	return found;
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
		       value_has_text(view, t->text, false);
	}
	if (t->code == NULL)
		return strcmp(status, "succeeded") == 0 &&
		       json_object_is_type(json_member(view, "artifacts"),
					   json_type_array) &&
		       json_object_array_length(
			   json_member(view, "artifacts")) == 0 &&
		       value_has_text(json_member(view, "result"), t->text,
				      true);
	if (strcmp(t->code, SELFTEST_ENDS) == 0)
		return strcmp(status, "succeeded") == 0 ||
		       strcmp(status, "failed") == 0;
	return code != NULL && strcmp(code, t->code) == 0 &&
	       value_has_text(error, t->text, false);
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
		int rc = client_tool(
		    s->client, "run_task_template",
		    json_pack(
			"templateId:s inputs:o options:o", by[t->by].template,
			json_pack("try:s notebook?s", t->try,
				  by[t->by].notebook),
			json_pack("mode:s timeoutMs?i", "sync", t->timeout_ms)),
		    &a);

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

/* ---- the browser ---- */

static const struct {
	const char *what;
	const char *url;  /* URL that must be refused; or */
	const char *cage; /* member of browser.cage that must hold; or */
	const char *is;	  /* member of browser that must hold */
} tries[] = {
    {"a cloud's metadata", "http://169.254.169.254/", NULL, NULL},
    {"a file", "file:///etc/passwd", NULL, NULL},
    {"an address dressed as another", "http://[::ffff:127.0.0.1]/", NULL, NULL},
    {"a page of the browser's own", "chrome://version/", NULL, NULL},
    {"a system call of the broker's", NULL, "seccomp", NULL},
    {"a file of the broker's", NULL, "landlock", NULL},
    {"a core, or all descriptors, of the broker's", NULL, "limits", NULL},
    {"a page out of Chromium's own sandbox", NULL, NULL, "sandboxed"},
};

static int is_refused(struct client *c, const char *url, bool *good)
{
	struct tool_result a;
	int rc = client_tool(c, "create_tab", json_pack("url:s", url), &a);

	if (rc != 0)
		return rc;
	*good =
	    !a.good && json_member_is(a.value, "errorCode", "URL_NOT_ALLOWED");
	tool_result_fini(&a);
	return 0;
}

/*
 * Try the attacks by the browser: addresses that no page may reach are
 * requested; then a tab is opened, and the server's profile says how the broker
 * and Chromium are locked in, as measured there. Without a browser each is
 * skipped, with the reason. TAP lines are numbered from FIRST. 0, with *FAILED
 * and *SKIPPED increased; or the exit status.
 */
static int try_browser(const struct cli *cli, struct client *c, size_t first,
		       int *failed, int *skipped)
{
	struct json_object *before, *browser, *open = NULL, *refusal = NULL;
	int rc = tool_call_profile(cli, c, &before);
	const char *errmsg;
	bool there;

	browser = json_member(before, "browser");
	errmsg = json_member_str(browser, "reason");
	there = json_member_bool(browser, "available");
	if (rc == 0 && there)
		rc = tool_call_tab(cli, c, &open, &refusal);
	if (refusal != NULL) /* the browser does not start */
		errmsg = json_member_str(refusal, "error");
	browser = json_member(open, "browser");
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tries); i++) {
		struct json_object *of = tries[i].cage != NULL
					     ? json_member(browser, "cage")
					     : browser;
		const char *name =
		    tries[i].cage != NULL ? tries[i].cage : tries[i].is;
		bool tried = there && refusal == NULL, good = true;

		if (tried && tries[i].url != NULL)
			rc = is_refused(c, tries[i].url, &good);
		else if (tried)
			good = json_object_get_int64(json_member(of, name)) > 0;
		if (rc != 0)
			break;
		safe_printf("%sok %zu - browser: %s", good ? "" : "not ",
			    first + i, tries[i].what);
		if (!tried)
			safe_printf(" # SKIP %s", errmsg != NULL
						      ? errmsg
						      : "there is no browser");
		safe_printf("\n");
		*failed += !good;
		*skipped += !tried;
	}
	json_object_put(before);
	json_object_put(open);
	json_object_put(refusal);
	return rc;
}

/* ---- every attack ---- */

static int with_server(const struct cli *cli, const char *templates,
		       const char *state_dir)
{
	struct cli private = {.verbose = cli->verbose,
			      .config = cli->config,
			      .state_dir = state_dir};
	const size_t all = selftests_n + ARRAY_LEN(tries);
	struct suite s = {0};
	int rc;

	opt_list_add(&private.templates, templates);
	s.client = client_open(&private);
	rc = s.client == NULL ? client_trouble() : 0;
	safe_printf("1..%zu\n", all);
	for (size_t i = 0; i < selftests_n && rc == 0; i++)
		rc = attempt_attack(&s, i);
	if (rc == 0)
		rc = try_browser(cli, s.client, selftests_n + 1, &s.failed,
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
