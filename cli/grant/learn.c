/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learn.c - "paddock template learn": finds the least grant with which a package's tests,
 * or a run with given inputs, pass. Each round runs a copy of the package in a private
 * server whose configuration is the draft so far, so no round has more rights than the
 * draft; the manifest of the copy asks for what the runs lacked. Then each word and limit
 * is left out in turn, and stays out if all passes without. main.c's table calls learn().
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/ask/input.h"
#include "cli/client/client.h"
#include "cli/grant/draft.h"
#include "cli/grant/learn_paths.h"
#include "cli/grant/learn_trials.h"
#include "cli/grant/learn_want.h"
#include "cli/grant/package_copy.h"
#include "cli/template/grants_text.h"
#include "cli/template/template_findings.h"
#include "cli/terminal/cli.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/state_dir.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define ROUNDS_MAX 64
#define MANIFEST_MAX ((size_t)1 << 20)

static struct {
	struct opt_list inputs;
	bool write;
} flags;

static const struct opt opts[] = {
    {"set", 'i', OPT_LIST, &flags.inputs, "KEY=VALUE",
     "one input of a run in place of the tests, as of run"},
    {"write", 0, OPT_FLAG, &flags.write, NULL,
     "have DIR's template.json ask for what it lacks"},
};

struct learn {
	const struct cli *cli;
	char *room; /* the folder of all */
	char *state;
	char *package;	/* the copy */
	char *manifest; /* template.json of the copy */
	char *config;
	char *text;		  /* the manifest as the author has it */
	struct json_object *asks; /* the same, parsed */
	struct json_object *trials;
	struct json_object *want;   /* found so far: {grant, limits} */
	struct json_object *hidden; /* paths that are not tried */
	struct json_object *draft;  /* of WANT; or NULL */
	int rounds;
};

static const char *id_of(const struct learn *l)
{
	return json_member_str(l->asks, "templateId");
}

/* ---- a round ---- */

static int write_json(const char *path, struct json_object *v)
{
	struct buf b = {0};
	int rc;

	json_pretty_add(&b, v);
	buf_add(&b, "\n", 2);
	rc = package_copy_replace(path, buf_data(&b));
	buf_fini(&b);
	return rc == 0 ? 0 : CLI_TROUBLE;
}

/* Add the members of FROM to INTO: lists and objects grow. */
static void merge(struct json_object *into, struct json_object *from)
{
	json_object_object_foreach(from, key, value) {
		struct json_object *at = json_member(into, key);

		if (json_object_is_type(at, json_type_object))
			merge(at, value);
		else if (json_object_is_type(at, json_type_array))
			json_each(one, value)
				json_object_array_add(at, json_object_get(one));
		else
			json_object_object_add(into, key,
					       json_object_get(value));
	}
}

/* Start a private server with the configuration TEXT. NULL: failed, which was printed. */
static struct client *start_server(struct learn *l, const char *text)
{
	struct cli private = {.verbose = l->cli->verbose,
			      .config = l->config,
			      .state_dir = l->state};
	struct client *c;

	if (package_copy_replace(l->config, text) != 0)
		return NULL;
	opt_list_add(&private.templates, l->package);
	c = client_open_private(&private);
	opt_list_free(&private.templates);
	return c;
}

/* Ask a server that grants nothing for the draft of WANT. 0 or the exit status. */
static int ask_draft(struct learn *l, struct json_object **draft)
{
	struct client *c = start_server(l, "");
	int rc;

	if (c == NULL)
		return client_trouble();
	rc = draft_ask(c, id_of(l), NULL, l->want, true, draft);
	client_close(c);
	if (rc == 0 && *draft == NULL)
		rc =
		    message_fail(CLI_TROUBLE,
				 "%s cannot be loaded, or what it lacks cannot "
				 "be granted; \"paddock template check\" says "
				 "what is wrong",
				 id_of(l));
	return rc;
}

/*
 * Make the copy's manifest ask for WANT, and L's draft grant all. 0 or the exit status.
 */
static int prepare(struct learn *l)
{
	struct json_object *manifest = NULL, *draft = NULL;
	int rc =
	    package_copy_replace(l->manifest, l->text) == 0 ? 0 : CLI_TROUBLE;

	json_object_put(l->draft);
	l->draft = NULL;
	if (rc == 0)
		rc = ask_draft(l, &draft);
	if (rc == 0 && json_member(draft, "manifest") != NULL) {
		json_object_deep_copy(l->asks, &manifest, NULL);
		merge(manifest, json_member(draft, "manifest"));
		rc = write_json(l->manifest, manifest);
		if (rc == 0)
			rc = ask_draft(l, &l->draft);
		if (rc == 0)
			json_add(l->draft, "manifest:O",
				 json_member(draft, "manifest"));
		json_object_put(manifest);
	} else if (rc == 0) {
		l->draft = json_object_get(draft);
	}
	json_object_put(draft);
	return rc;
}

/* Run all with the draft of WANT. 0 and *ROUND, or the exit status. */
static int run_round(struct learn *l, struct learn_round *round)
{
	struct client *c;
	int rc = prepare(l);

	l->rounds++;
	*round = (struct learn_round){0};
	if (rc != 0)
		return rc;
	c = start_server(l, json_member_str(l->draft, "section"));
	if (c == NULL)
		return client_trouble();
	rc = learn_trials_run(c, id_of(l), l->trials, round);
	client_close(c);
	return rc;
}

/* ---- the lack of failed runs ---- */

/*
 * Add paths that the runs of VIEWS may have lacked: those that they complain of, and
 * else those of inputs and package.
 */
static bool add_paths(struct learn *l, struct json_object *views)
{
	struct json_object *list = learn_want_words(l->want, "read_paths");
	size_t before = json_length(list);

	json_each(view, views)
		learn_paths_add_values(list, l->hidden, view);
	if (json_length(list) == before) {
		json_each(trial, l->trials)
			learn_paths_add_values(list, l->hidden,
					       json_member(trial, "inputs"));
		learn_paths_add_package(list, l->hidden, l->package);
	}
	return json_length(list) > before;
}

/* Add to WANT what the failed runs of ROUND lacked. Returns whether there is more. */
static bool add_lacked(struct learn *l, const struct learn_round *round)
{
	bool more = false;

	json_each(view, round->views)
		more |= learn_want_add(l->want, l->asks, view);
	return more || add_paths(l, round->views);
}

/* Grow WANT until all passes. 0 and *PASSED, or the exit status. */
static int grow(struct learn *l, bool *passed)
{
	for (*passed = false; l->rounds < ROUNDS_MAX;) {
		struct learn_round round;
		int rc = run_round(l, &round);
		bool more;

		*passed = rc == 0 && round.failed == 0;
		more = rc == 0 && !*passed && add_lacked(l, &round);
		learn_trials_fini(&round);
		if (!more)
			return rc;
	}
	return 0;
}

/* ---- the least ---- */

/* Run all without a part of WANT; *FINE: all passes. 0 or the exit status. */
static int try_less(struct learn *l, struct json_object *less, bool *fine)
{
	struct json_object *whole = l->want;
	struct learn_round round;
	int rc;

	l->want = less;
	rc = run_round(l, &round);
	*fine = rc == 0 && round.failed == 0;
	learn_trials_fini(&round);
	if (*fine) {
		json_object_put(whole);
	} else {
		json_object_put(less);
		l->want = whole;
	}
	return rc;
}

/* Leave out each word of the kind KEY that is not needed. */
static int shrink_words(struct learn *l, const char *key)
{
	struct json_object *list, *grant;
	int rc = 0;

	for (size_t i = 0; rc == 0 && l->rounds < ROUNDS_MAX;) {
		struct json_object *less = NULL;
		bool fine;

		if (i >= json_length(learn_want_words(l->want, key)))
			break;
		json_object_deep_copy(l->want, &less, NULL);
		grant = json_member(less, "grant");
		list = json_member(grant, key);
		json_object_array_del_idx(list, i, 1);
		rc = try_less(l, less, &fine);
		i += !fine;
	}
	return rc;
}

static int shrink_limits(struct learn *l)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < LIMITS && l->rounds < ROUNDS_MAX;
	     i++) {
		struct json_object *less = NULL;
		bool fine;

		if (json_member(json_member(l->want, "limits"),
				limit_info[i].name) == NULL)
			continue;
		json_object_deep_copy(l->want, &less, NULL);
		json_object_object_del(json_member(less, "limits"),
				       limit_info[i].name);
		rc = try_less(l, less, &fine);
	}
	return rc;
}

static int shrink(struct learn *l)
{
	struct json_object *kinds = NULL;
	int rc = 0;

	if (json_member(l->want, "grant") != NULL)
		json_object_deep_copy(json_member(l->want, "grant"), &kinds,
				      NULL);
	if (kinds != NULL) {
		json_object_object_foreach(kinds, key, list) {
			(void)list;
			if (rc == 0)
				rc = shrink_words(l, key);
		}
	}
	json_object_put(kinds);
	if (rc == 0)
		rc = shrink_limits(l);
	return rc == 0 ? prepare(l) : rc; /* the draft of what is left */
}

/* ---- the command ---- */

/* Print the draft in the form of paddock.conf, with the rest as remarks. */
static void print_learned(const struct learn *l, bool passed)
{
	struct json_object *manifest = json_member(l->draft, "manifest");
	struct buf b = {0};

	if (!draft_has_section(l->draft)) {
		puts("# no grant is needed");
	} else if (manifest !=
		   NULL) { /* a changed manifest changes the digest */
		json_pretty_add_compact(&b, manifest);
		buf_add(&b, "", 1);
		safe_printf(
		    "# template.json has to ask first: %s\n"
		    "# \"paddock template learn --write\" changes it, and "
		    "prints the grant\n",
		    buf_data(&b));
		buf_fini(&b);
	} else {
		grants_text_lines(json_member_str(l->draft, "section"));
	}
	json_each(path, l->hidden)
		message_print("%s was not tried, since not everyone may read "
			      "all of it; grant it by hand if it is needed",
			      json_object_get_string(path));
	if (!passed)
		message_print("not all passes, even with this draft; \"paddock "
			      "template test\" says what differs");
}

/* Have DIR's own manifest ask for all, and drop that from the draft. */
static int write_manifest(struct learn *l, const char *dir)
{
	struct json_object *manifest = NULL;
	char *path = xasprintf("%s/template.json", dir);
	int rc = json_file_read(&manifest, l->manifest) < 0
		     ? CLI_TROUBLE
		     : write_json(path, manifest);

	if (rc == 0)
		json_object_object_del(l->draft, "manifest");
	json_object_put(manifest);
	free(path);
	return rc;
}

static int learn_all(struct learn *l, const char *dir)
{
	bool passed;
	int rc = grow(l, &passed);

	if (rc == 0 && passed) {
		rc = shrink(l);
	} else if (rc == 0) { /* the paths were guesses, which did not help */
		json_object_object_del(json_member(l->want, "grant"),
				       "read_paths");
		rc = prepare(l);
	}
	if (rc == 0 && passed && flags.write &&
	    json_member(l->draft, "manifest") != NULL)
		rc = write_manifest(l, dir);
	if (rc != 0)
		return rc;
	if (l->cli->json) {
		json_add(l->draft, "passes:b rounds:i notTried:O", passed,
			 l->rounds, l->hidden);
		json_pretty_print(l->draft, true);
	} else {
		print_learned(l, passed);
	}
	return passed ? CLI_OK : CLI_FAILED;
}

/* Fill in the trials: the flags' inputs, or the tests of DIR. 0 or the exit status. */
static int find_trials(struct learn *l, const char *dir)
{
	struct json_object *inputs = json_object_new_object();
	char errmsg[512];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < flags.inputs.n; i++)
		rc = input_put(inputs, json_member(l->asks, "inputsSchema"),
			       flags.inputs.item[i], errmsg, sizeof(errmsg));
	if (rc == 0 && flags.inputs.n > 0) {
		l->trials = json_object_new_array();
		json_object_array_add(l->trials, json_pack("inputs:O", inputs));
	} else if (rc == 0) {
		l->trials = learn_trials_of(dir);
	}
	json_object_put(inputs);
	if (rc < 0)
		return message_fail(CLI_USAGE, "%s", errmsg);
	if (l->trials == NULL)
		return CLI_USAGE;
	if (json_length(l->trials) == 0)
		return message_fail(CLI_USAGE,
				    "%s has no tests; give the inputs of a run "
				    "by -i",
				    dir);
	return 0;
}

static int learn_in(struct learn *l, const char *dir)
{
	char *from = xasprintf("%s/template.json", dir);
	int rc = json_file_read(&l->asks, from) < 0 ? CLI_USAGE : 0;

	l->text = buf_file(from, MANIFEST_MAX);
	free(from);
	if (rc == 0 && id_of(l) == NULL)
		rc = message_fail(CLI_USAGE,
				  "%s: its manifest has no templateId", dir);
	if (rc == 0)
		rc = find_trials(l, dir);
	if (rc == 0 && package_copy(dir, l->package) != 0)
		rc = CLI_TROUBLE;
	return rc == 0 ? learn_all(l, dir) : rc;
}

static int learn(const struct cli *cli, int n, const char *const *arg)
{
	struct learn l = {.cli = cli, .room = state_dir_make()};
	int rc = template_findings_dir(arg[0]);

	(void)n;
	if (l.room == NULL)
		return CLI_TROUBLE;
	if (rc == 0 && !template_findings_is_package(arg[0]))
		rc = message_fail(CLI_USAGE, "%s: there is no template.json",
				  arg[0]);
	/* workers of other users look for the package there */
	if (rc == 0 && chmod(l.room, 0711) != 0)
		rc = CLI_TROUBLE;
	l.state = xasprintf("%s/state", l.room);
	l.package = xasprintf("%s/package", l.room);
	l.manifest = xasprintf("%s/template.json", l.package);
	l.config = xasprintf("%s/draft.conf", l.room);
	l.want = json_object_new_object();
	l.hidden = json_object_new_array();
	if (rc == 0)
		rc = learn_in(&l, arg[0]);
	json_object_put(l.draft);
	json_object_put(l.want);
	json_object_put(l.hidden);
	json_object_put(l.trials);
	json_object_put(l.asks);
	free(l.text);
	free(l.state);
	free(l.package);
	free(l.manifest);
	free(l.config);
	state_dir_remove(l.room);
	opt_list_free(&flags.inputs);
	return rc;
}

const struct command cmd_template_learn = {
    .name = "template learn",
    .args = "DIR",
    .summary = "find the least grant with which a package's tests pass",
    .text =
	"Runs the tests, or a run with the inputs of -i, again and again in "
	"private\nservers that grant only the draft so far, and prints the "
	"draft. The package finds\nonly files of the machine that everyone "
	"may read. Nothing is granted.\n",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .min = 1,
    .max = 1,
    .run = learn,
};
