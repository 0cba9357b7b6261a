/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.c - "paddock doctor": asks a server whether runs and the browser work
 * and how they are isolated, and prints advice. main.c's table calls it.
 * CLI_TROUBLE when runs do not work here; a check that cannot be made is left
 * out or told.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/client/tool_call.h"
#include "cli/template/template_findings.h"
#include "cli/terminal/cli.h"
#include "cli/template/grants_text.h"
#include "cli/server/doctor_templates.h"
#include "cli/server/doctor_uids.h"
#include "cli/terminal/json_io.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

/* by the names in the profile's isolation.missing */
static const struct {
	const char *missing, *remedy;
} remedies[] = {
    {"seccomp", "use a kernel with CONFIG_SECCOMP_FILTER"},
    {"capabilities", "allow user namespaces, or start paddockd as root: no "
		     "privilege is gained by them meanwhile (no_new_privs)"},
    {"userns", "allow user namespaces: sysctl user.max_user_namespaces=10000, "
	       "and where they exist kernel.unprivileged_userns_clone=1 and "
	       "kernel.apparmor_restrict_unprivileged_userns=0; a process in a "
	       "chroot may make none: start paddockd outside"},
    {"netns", "allow network namespaces: sysctl user.max_net_namespaces=10000"},
    {"ipcns", "allow IPC namespaces: sysctl user.max_ipc_namespaces=10000"},
    {"utsns", "allow UTS namespaces: sysctl user.max_uts_namespaces=10000"},
    {"mntns", "allow mount namespaces: sysctl user.max_mnt_namespaces=10000"},
    {"root", "in a container, let mounts be made: --security-opt "
	     "apparmor=unconfined, or run paddockd outside"},
    {"uid", "start paddockd as root, so that each run gets a uid of its own"},
    {"landlock", "use a kernel from 5.13 on, with landlock in its lsm= list"},
    {"cgroup",
     "start paddockd as root, or in a systemd unit with Delegate=yes; "
     "until then the memory of programs is watched, not held"},
};

static void add_missing(struct json_object *list, const char *what,
			const char *remedy)
{
	json_object_array_add(list,
			      json_pack("missing:s remedy:s", what, remedy));
}

static void check_isolation(struct json_object *o, struct json_object *advice)
{
	struct json_object *profile = json_member(o, "profile");
	const char *weak =
	    json_member_str(json_member(profile, "programs"), "weak");

	json_each(one,
		  json_member(json_member(profile, "isolation"), "missing")) {
		const char *name = json_object_get_string(one);
		const char *remedy =
		    "please report this: it should hold everywhere";

		for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
			if (strcmp(remedies[i].missing, name) == 0)
				remedy = remedies[i].remedy;
		add_missing(advice, name, remedy);
	}
	if (weak != NULL)
		add_missing(advice, "programs, which run weakly caged", weak);
}

static void bad_range(void *advice, const char *range, const char *errmsg)
{
	char *what = xasprintf("user ids of its own for runs: %s", range);
	char *remedy =
	    xasprintf("%s; restart paddockd, which takes others", errmsg);

	add_missing(advice, what, remedy);
	free(what);
	free(remedy);
}

/* Does the server take runs, as readyz reports? */
static bool takes_runs(struct json_object *o)
{
	return tool_call_is_ready(json_member(o, "profile"));
}

/* Report each cause why runs are not started, or soon may not be. */
static void check_health(struct json_object *o, struct json_object *advice)
{
	struct json_object *profile = json_member(o, "profile");

	json_each(c, json_member(json_member(profile, "health"), "checks")) {
		const char *says = json_member_str(c, "says");
		const char *cure = json_member_str(c, "cure");
		char *text;

		if (says == NULL)
			continue;
		text = cure == NULL ? xstrdup(says)
				    : xasprintf("%s; %s", says, cure);
		add_missing(advice, json_member_str(c, "name"), text);
		free(text);
	}
}

static void compare_versions(struct json_object *o, struct json_object *advice)
{
	const char *server =
	    json_member_str(json_member(o, "profile"), "runtimeVersion");

	if (server != NULL && strcmp(server, PADDOCK_VERSION) != 0)
		add_missing(
		    advice, "one version of everything",
		    "paddock and the server are of different versions; restart "
		    "the daemon, or install both again");
}

static struct json_object *skipped_of(struct json_object *o)
{
	return json_member(json_member(json_member(o, "profile"), "health"),
			   "skipped");
}

/* Was the package at PATH reported as a shipped template? */
static bool is_reported(struct json_object *o, const char *path)
{
	json_each(one, json_member(o, DOCTOR_TEMPLATES))
		if (json_member_is(one, "path", path))
			return true;
	return false;
}

/*
 * Report packages that are not served, in the words of the server, since a
 * service manager's filters may hide files from a daemon; or as the command
 * finds the packages, for a server without such a report.
 */
static void check_packages(const struct cli *cli, struct json_object *o,
			   struct json_object *advice)
{
	struct json_object *found = NULL;

	json_each(one, skipped_of(o)) {
		const char *path = json_member_str(one, "path");
		char *text;

		if (path == NULL || is_reported(o, path))
			continue;
		text = xasprintf("%s: %s%s", path, json_member_str(one, "why"),
				 json_member_bool(one, "kept")
				     ? "; the one loaded before is still served"
				     : "");
		add_missing(advice, "a template", text);
		free(text);
	}
	if (skipped_of(o) == NULL)
		found = template_findings_all(cli, NULL);
	json_each(one, json_member(found, "problems"))
		add_missing(advice, "a template", json_object_get_string(one));
	json_object_put(found);
}

/* ---- grants ---- */

/* Put notGranted into O, a list of {templateId, version, missing}. */
static int take_grants(const struct cli *cli, struct client *c,
		       struct json_object *o)
{
	struct json_object *v, *list, *lack = json_object_new_array();
	int rc = tool_call_templates(cli, c, &v);

	json_add(o, "notGranted:o", lack);
	if (rc != 0)
		return rc;
	list = json_member(v, "templates");
	json_each(t, list) {
		struct json_object *p = json_member(t, "permissions");

		if (!grants_text_is_missing(p))
			continue;
		json_object_array_add(
		    lack, json_pack("templateId:s version:s missing:O",
				    json_member_str(t, "templateId"),
				    json_member_str(t, "version"),
				    json_member(p, "missing")));
	}
	json_object_put(v);
	return 0;
}

static void check_grants_of(struct json_object *o, struct json_object *advice)
{
	json_each(one, json_member(o, "notGranted")) {
		const char *id = json_member_str(one, "templateId");
		char *what = xasprintf("a grant for %s", id);
		char *remedy = xasprintf("it is not run until it has what it "
					 "asks for; paddock template show %s "
					 "prints that, and what would grant it",
					 id);

		add_missing(advice, what, remedy);
		free(what);
		free(remedy);
	}
}

/* ---- the browser ---- */

static struct json_object *browser_of(struct json_object *o)
{
	return json_member(json_member(o, "profile"), "browser");
}

static bool is_sandboxed(struct json_object *o)
{
	return json_member_bool(browser_of(o), "sandboxed");
}

static const char *refusal_of(struct json_object *o, const char *key)
{
	return json_member_str(json_member(o, "browserRefusal"), key);
}

/* Did a browser fail to start when tried? */
static bool is_broken(struct json_object *o)
{
	return json_member_is(json_member(o, "browserRefusal"), "errorCode",
			      "BROWSER_UNAVAILABLE");
}

/* Return the parts missing from the broker's cage, the caller's; NULL: none. */
static char *broker_lacks(struct json_object *cage)
{
	static const struct {
		const char *key, *what;
	} parts[] = {{"seccomp", "a seccomp filter"},
		     {"landlock", "Landlock (a kernel from 5.13 on, with it)"},
		     {"limits", "its limits"}};
	char *text = NULL, *more;

	for (size_t i = 0; cage != NULL && i < ARRAY_LEN(parts); i++) {
		if (json_object_get_int64(json_member(cage, parts[i].key)) != 0)
			continue;
		more = text == NULL ? xstrdup(parts[i].what)
				    : xasprintf("%s, %s", text, parts[i].what);
		free(text);
		text = more;
	}
	return text;
}

static void check_browser(struct json_object *o, struct json_object *advice)
{
	const char *reason = json_member_str(browser_of(o), "reason");
	bool tried = json_member(browser_of(o), "version") != NULL;
	char *lacks = broker_lacks(json_member(browser_of(o), "cage"));

	if (reason != NULL)
		add_missing(advice, "browser", reason);
	else if (is_broken(o))
		add_missing(advice, "browser", refusal_of(o, "error"));
	else if (tried && json_member(o, "browserRefusal") == NULL &&
		 !is_sandboxed(o))
		add_missing(
		    advice, "the browser's own sandbox",
		    "allow user namespaces, and see that what chromium in "
		    "[browser] names does not switch it off");
	if (lacks != NULL)
		add_missing(advice,
			    "all of the cage of what speaks to the browser",
			    lacks);
	free(lacks);
}

static int examine(const struct cli *cli, struct json_object *o,
		   struct json_object *advice)
{
	struct client *c = client_open(cli);
	struct json_object *profile, *refusal;
	struct utsname u = {0};
	int rc;

	uname(&u);
	json_add(o, "paddock:s kernel:s", PADDOCK_VERSION, u.release);
	if (c == NULL)
		return client_trouble();
	if (client_is_private(c))
		json_add(o, "server:s program:s", "private", client_peer(c));
	else
		json_add(o, "server:s socket:s", "daemon", client_peer(c));
	json_add(o, "serverVersion:s", client_server_version(c));
	rc = tool_call_profile(cli, c, &profile);
	json_add(o, "profile?o", profile);
	if (rc == 0)
		rc = take_grants(cli, c, o);
	if (rc == 0 && json_member_bool(browser_of(o), "available")) {
		/* a tab, so that the profile shows a running browser */
		rc = tool_call_tab(cli, c, &profile, &refusal);
		json_add(o, "profile?o browserRefusal?o", profile, refusal);
	}
	if (rc == 0 && takes_runs(o))
		rc = doctor_templates(cli, c, skipped_of(o), o);
	doctor_uids(o, bad_range, advice); /* before a private server ends */
	client_close(c);
	return rc;
}

/* ---- the templates that ship ---- */

static void check_templates(struct json_object *o, struct json_object *advice)
{
	json_each(one, json_member(o, DOCTOR_TEMPLATES)) {
		const char *why = json_member_str(one, "why");
		char *what = xasprintf("the template %s",
				       json_member_str(one, "templateId"));

		if (why != NULL)
			add_missing(advice, what, why);
		else if (json_member(one, "works") == NULL)
			add_missing(
			    advice, what,
			    "not tried, or no answer came: two minutes were "
			    "over, which is for all that ship");
		free(what);
	}
}

static void line_templates(struct json_object *tried)
{
	size_t work = 0;

	json_each(one, tried)
		work += json_member_bool(one, "works");
	if (json_length(tried) > 0)
		safe_printf("%-12s %zu of %zu that ship work here\n",
			    "templates", work, json_length(tried));
}

/* ---- the report for people ---- */

static void print_line(const char *name, const char *value)
{
	safe_printf("%-12s %s\n", name, value != NULL ? value : "unknown");
}

/* Print "Python 3.11.2, bash 5.2", and Python's modules, folded. */
static void lines_interpreters(struct json_object *found)
{
	static const struct {
		const char *key, *name;
	} all[] = {{"python", "Python"},
		   {"node", "Node.js"},
		   {"bash", "bash"},
		   {"lua", "Lua"}};
	struct json_object *python = json_member(found, "python");
	int64_t more = json_member_int(python, "moreModules");
	const char *before = "";
	struct buf text = {0};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const char *version =
		    json_member_str(json_member(found, all[i].key), "version");

		if (version == NULL)
			continue;
		buf_printf(&text, "%s%s %s", before, all[i].name, version);
		before = ", ";
	}
	buf_add(&text, "", 1);
	print_line("interpreters", buf_data(&text));
	buf_drop(&text, buf_len(&text));
	json_each(one, json_member(python, "modules"))
		buf_printf(&text, "%s%s", buf_len(&text) > 0 ? ", " : "",
			   json_object_get_string(one));
	if (more > 0)
		buf_printf(&text, " and %" PRId64 " more", more);
	if (buf_len(&text) > 0) {
		buf_add(&text, "", 1);
		safe_printf("%-12s ", "python has");
		text_wrap_print(buf_data(&text), 13, 13,
				text_wrap_columns(STDOUT_FILENO));
	}
	buf_fini(&text);
}

static void line_broker(struct json_object *cage)
{
	const char *group = json_member_str(cage, "cgroup");
	char *lacks = broker_lacks(cage);

	safe_printf("%-12s %s%s, %s, cgroups %s\n", "broker",
		    lacks == NULL ? "locked in" : "without ",
		    lacks == NULL ? "" : lacks,
		    json_member_bool(cage, "ownUser") ? "a user of its own"
						      : "the server's user",
		    group != NULL ? group : "none");
	free(lacks);
}

static void line_browser(struct json_object *o)
{
	struct json_object *browser = browser_of(o);
	const char *path = json_member_str(browser, "path");
	const char *version = json_member_str(browser, "version");

	safe_printf("%-12s ", "browser");
	if (!json_member_bool(browser, "available"))
		puts("none");
	else if (is_broken(o))
		safe_printf("%s does not start\n", path != NULL ? path : "it");
	else if (refusal_of(o, "error") != NULL)
		safe_printf("%s, not tried: %s\n",
			    path != NULL ? path : "there",
			    refusal_of(o, "error"));
	else
		safe_printf("%s (%s) starts, its own sandbox is %s\n",
			    path != NULL ? path : "it",
			    version != NULL ? version : "of no version",
			    is_sandboxed(o) ? "on" : "off");
}

/* Do runs of programs fail, whatever the program? */
static bool no_program_works(struct json_object *o)
{
	return doctor_templates_no_program(json_member(o, DOCTOR_TEMPLATES));
}

static void show_verdict(struct json_object *o, struct json_object *advice)
{
	struct json_object *tried = json_member(o, DOCTOR_TEMPLATES);
	size_t fail = 0;

	json_each(one, tried)
		fail += json_member_str(one, "why") != NULL;
	if (fail > 0)
		safe_printf("runs work, but %zu of the %zu templates that ship "
			    "do not\n",
			    fail, json_length(tried));
	else
		puts(json_object_array_length(advice) == 0 ? "all is well"
							   : "runs work");
}

static void print_findings(struct json_object *o, struct json_object *advice)
{
	struct json_object *profile = json_member(o, "profile");
	struct json_object *limits = json_member(profile, "limits");
	const char *socket = json_member_str(o, "socket");
	const char *database = json_member_str(
	    json_member(json_member(profile, "health"), "database"), "says");

	print_line("paddock", json_member_str(o, "paddock"));
	print_line("server", json_member_str(o, "serverVersion"));
	print_line(socket != NULL ? "daemon" : "private",
		   socket != NULL ? socket : json_member_str(o, "program"));
	print_line("kernel", json_member_str(o, "kernel"));
	print_line("requestor", json_member_str(profile, "requestor"));
	print_line("trust", json_member_str(profile, "trustLevel"));
	print_line("ready", takes_runs(o) ? "yes" : "no");
	if (database != NULL)
		print_line("database", database);
	print_line("isolation",
		   json_member_str(json_member(profile, "isolation"), "level"));
	if (json_member(profile, "programs") != NULL)
		print_line(
		    "programs",
		    json_member_bool(json_member(profile, "programs"),
				     "available")
			? json_member_str(json_member(profile, "programs"),
					  "weak") != NULL
			      ? "weakly caged (allow_weak_programs)"
			      : "caged"
			: "refused");
	if (json_member(profile, "interpreters") != NULL)
		lines_interpreters(json_member(profile, "interpreters"));
	if (browser_of(o) != NULL)
		line_browser(o);
	if (json_member(browser_of(o), "cage") != NULL)
		line_broker(json_member(browser_of(o), "cage"));
	line_templates(json_member(o, DOCTOR_TEMPLATES));
	safe_printf("%-12s %" PRId64 "\n", "runs at once",
		    json_member_int(limits, "maxConcurrentRuns"));
	json_each(ids, json_member(o, DOCTOR_UIDS))
		print_line("uids of runs", json_object_get_string(ids));
	json_each(a, advice) {
		safe_printf("missing      %s: %s\n",
			    json_member_str(a, "missing"),
			    json_member_str(a, "remedy"));
	}
	if (takes_runs(o) && !no_program_works(o))
		show_verdict(o, advice);
}

static int doctor(const struct cli *cli, int n, const char *const *arg)
{
	struct json_object *o = json_object_new_object();
	struct json_object *advice = json_object_new_array();
	const char *fault = "runs do not work here; the lines above say why";
	int rc = examine(cli, o, advice);

	(void)n, (void)arg;
	if (rc == 0) {
		check_isolation(o, advice);

		check_health(o, advice);
		check_browser(o, advice);

		compare_versions(o, advice);
		check_packages(cli, o, advice);
		check_grants_of(o, advice);
		check_templates(o, advice);
	}
	if (rc == 0 && !cli->json)
		print_findings(o, advice);
	if (rc == 0 && takes_runs(o) && no_program_works(o)) {
		rc = CLI_TROUBLE;
		fault = "runs of programs do not work here; the lines above "
			"say why";
	} else if (rc == 0 && !takes_runs(o))
		rc = CLI_TROUBLE;
	json_add(o, "advice:o", advice);
	if (cli->json)
		json_pretty_print(o, true);
	if (rc != 0)
		message_print("%s", fault);
	json_object_put(o);
	return rc;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .args = "",
    .summary = "whether it works here, how runs are isolated, what is missing",
    .run = doctor,
};
