/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_check.c - "paddock template check": prints everything that is wrong
 * with a package, at once, with the place where an editor finds it. main.c's
 * table calls it. CLI_FAILED for errors, CLI_TROUBLE when the check cannot be
 * made.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/template/template_findings.h"
#include "cli/terminal/cli.h"
#include "cli/client/client.h"
#include "cli/template/grants_text.h"
#include "cli/terminal/json_io.h"
#include "cli/template/lua_check.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

static const char *const severities[] = {"error", "warning"};

struct check {
	const struct cli *cli;
	const char *dir;	  /* as the user named it */
	char *real;		  /* the absolute path */
	struct json_object *all;  /* of template_findings_errors() */
	struct json_object *said; /* the report, for --json */
	struct lua_check *probe;
	size_t good, errors;
	int rc; /* an exit status: a check could not be made */
};

/* Return PACKAGE's path as the user would name it; the caller's. */
static char *package_name(const struct check *c, struct json_object *package)
{
	const char *path = json_member_str(package, "path");
	size_t n = strlen(c->real), dir = strlen(c->dir);

	while (dir > 1 && c->dir[dir - 1] == '/')
		dir--;
	if (path == NULL)
		path = c->real;
	if (strncmp(path, c->real, n) != 0 ||
	    (path[n] != '\0' && path[n] != '/'))
		return xstrdup(path);
	return xasprintf("%.*s%s", (int)dir, c->dir, path + n);
}

/* ---- Lua ---- */

static void probe(struct check *c, struct json_object *package)
{
	const char *entry = json_member_str(package, "lua");
	/*
	 * JSON cannot hold a path that is not UTF-8, but a package named on the
	 * command line has its path in c->real
	 */
	const char *path = template_findings_is_package(c->real)
			       ? c->real
			       : json_member_str(package, "path");
	struct json_object *fault = NULL;
	int rc;

	if (entry == NULL || path == NULL || c->rc != 0)
		return;
	if (c->probe == NULL)
		c->probe = lua_check_open(c->cli);
	rc = c->probe == NULL ? client_trouble()
			      : lua_check_lua(c->probe, path, entry, &fault);
	if (rc != 0)
		c->rc = rc;
	if (fault != NULL)
		json_object_array_add(json_member(package, "faults"), fault);
}

/* ---- messages ---- */

/* Print "DIR/template.json:3:7: warning: text (/pointer)", as compilers do. */
static void say_fault(const char *path, struct json_object *f)
{
	const char *file = json_member_str(f, "file");
	const char *pointer = json_member_str(f, "pointer");
	long long line = json_member_int(f, "line");
	long long column = json_member_int(f, "column");
	bool shown = pointer != NULL && *pointer != '\0';

	safe_fprintf(stderr, "%s", path);
	if (file != NULL)
		safe_fprintf(stderr, "/%s", file);
	if (line > 0)
		safe_fprintf(stderr, ":%lld", line);
	if (column > 0)
		safe_fprintf(stderr, ":%lld", column);
	safe_fprintf(stderr, ": %s: %s%s%s%s\n", json_member_str(f, "severity"),
		     json_member_str(f, "message"), shown ? " (" : "",
		     shown ? pointer : "", shown ? ")" : "");
}

/* Print the faults of SEVERITY of all packages. */
static void each_fault(struct check *c, const char *severity)
{
	json_each(package, c->all) {
		char *path = package_name(c, package);

		json_each(f, json_member(package, "faults")) {
			struct json_object *o;

			if (!json_member_is(f, "severity", severity))
				continue;
			say_fault(path, f);
			o = json_pack("path:s", path);
			json_object_object_foreach(f, key, value) {
				json_object_object_add(o, key,
						       json_object_get(value));
			}
			json_object_array_add(json_member(c->said, "faults"),
					      o);
		}
		if (json_member(package, "more") != NULL &&
		    strcmp(severity, severities[1]) == 0)
			message_print(
			    "%s: there is more than this, which is shown once "
			    "some of it is mended",
			    path);
		free(path);
	}
}

static void say_good(struct check *c, struct json_object *package)
{
	size_t warnings = json_length(json_member(package, "faults"));
	const char *id = json_member_str(package, "templateId");
	const char *version = json_member_str(package, "version");
	char *name = xasprintf("%s %s", id, version);

	json_object_array_add(json_member(c->said, "templates"),
			      json_object_new_string(name));
	free(name);
	if (c->cli->json)
		return;
	safe_printf("%s %s is good", id, version);
	if (warnings > 0)
		safe_printf(", with %zu warning%s", warnings,
			    warnings == 1 ? "" : "s");
	safe_printf("\n");
}

/*
 * Print the permissions of packages that lack grants: such a package is good,
 * but is not run.
 */
static void say_grants(struct check *c)
{
	struct json_object *list = template_findings_grants(c->cli, c->dir);

	json_add(c->said, "grants?O", list);
	json_each(one, c->cli->json ? NULL : list) {
		struct json_object *p = json_member(one, "permissions");

		if (!grants_text_is_missing(p))
			continue;
		safe_printf("\n%s %s\n", json_member_str(one, "templateId"),
			    json_member_str(one, "version"));
		grants_text_print(p);
	}
	json_object_put(list);
}

static void say_all(struct check *c)
{
	c->said = json_pack("templates:o faults:o", json_object_new_array(),
			    json_object_new_array());
	json_each(package, c->all) {
		size_t errors = 0;

		json_each(fault, json_member(package, "faults"))
			errors +=
			    json_member_is(fault, "severity", severities[0]);
		c->errors += errors;
		if (errors > 0)
			continue;
		c->good++;
		say_good(c, package);
	}
	if (c->good > 0)
		say_grants(c);
	fflush(stdout);
	for (size_t i = 0; i < ARRAY_LEN(severities); i++)
		each_fault(c, severities[i]);
	if (json_length(c->all) == 0)
		template_findings_none(c->dir);
	if (c->cli->json)
		json_pretty_print(c->said, true);
	json_object_put(c->said);
}

static int check_template(const struct cli *cli, int n, const char *const *arg)
{
	struct check c = {.cli = cli, .dir = arg[0]};

	(void)n;
	c.rc = template_findings_dir(arg[0]);
	if (c.rc != 0)
		return c.rc;
	c.real = realpath(arg[0], NULL);
	if (c.real == NULL) {
		message_print("%s: %s", arg[0], strerror(errno));
		return errno == ENOENT ? CLI_ABSENT : CLI_USAGE;
	}
	c.all = template_findings_errors(cli, arg[0]);
	if (c.all == NULL)
		c.rc = CLI_TROUBLE;
	json_each(package, c.all)
		probe(&c, package);
	lua_check_close(c.probe);
	if (c.all != NULL)
		say_all(&c);
	json_object_put(c.all);
	free(c.real);
	if (c.rc != 0)
		return c.rc;
	return c.errors == 0 && c.good > 0 ? CLI_OK : CLI_FAILED;
}

const struct command cmd_template_check = {
    .name = "template check",
    .args = "DIR",
    .summary = "all that is wrong with a package, or a folder of them, and "
	       "what it is not granted",
    .text = "Each fault is told as FILE:LINE:COLUMN, errors before warnings; "
	    "columns count\ncharacters. Lua is compiled in a cage, and what a "
	    "program needs to be started\nis looked for; warnings alone end "
	    "with status 0.\n",
    .min = 1,
    .max = 1,
    .run = check_template,
};
