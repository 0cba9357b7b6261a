/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_grants.c - requested and granted rights: one table of manifests, configurations and
 * verdicts.
 */
#include "supervisor/packages/grants/grants.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/packages/templates/manifest.h"
#include "supervisor/packages/templates/template_shipped.h"
#include "tests/unit/supervisor/packages/templates/diagnostics_fixture.h"
#include "tests/unit/tap.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static int parse(struct config *c, const char *text)
{
	return config_read_text(c, "f", text, strlen(text), errmsg,
				sizeof(errmsg));
}

/* A template "t" with the digest A and MEMBERS in the manifest. */
static struct template *with(const char *members)
{
	char *text =
	    xasprintf("{\"templateId\":\"t\",\"version\":\"1.0.0\","
		      "\"name\":\"T\",\"description\":\"d\","
		      "\"runtime\":{\"type\":\"program\",\"entry\":\"e\"},"
		      "\"inputsSchema\":{\"type\":\"object\"}%s%s}",
		      *members ? "," : "", members);
	struct template *t = manifest_of(text, strlen(text));

	free(text);
	if (t == NULL) {
		printf("Bail out! %s\n", errmsg);
		exit(1);
	}
	strcpy(t->digest, A);
	t->dir = xstrdup("/nowhere/t");
	return t;
}

#define TOOLS "\"tools\":[\"click\",\"create_tab\"]"
#define READS "\"permissions\":{\"readPaths\":[\"/srv/a\",\"/srv/b/c\"]}"
#define LOCKS "\"permissions\":{\"locks\":true}"
#define NETWORK(list) "\"permissions\":{\"network\":[" list "]}"
#define RULE "{\"host\":\"a.b:1\",\"allow\":[\"GET /x\",\"POST /y/*\"]}"
#define SECRET "[secret \"k\"]\nfile = /k\nhosts = a.b\nheader = X-Key: {}\n"
#define T "[grant \"t\"]\n"

static const struct {
	const char *members, *config;
	const char *missing; /* the missing key; NULL: the template may run */
} cases[] = {
    {"", "", NULL},
    {"\"tools\":[],\"permissions\":{\"locks\":false,\"readPaths\":[]}", "",
     NULL},
    {"\"permissions\":{\"memoryBytes\":1048576,\"processes\":1}", "", NULL},
    {TOOLS, "", "tools"},
    {TOOLS, T "tools = click\n", "tools"},
    {TOOLS, T "tools = click create_tab\n", NULL},
    {TOOLS, T "tools = click create_tab wait\n", NULL},
    {TOOLS, T "tools = all\n", NULL},
    {TOOLS, T "tools = click\n[grant \"*\"]\ntools = create_tab\n", NULL},
    {TOOLS, "[grant \"*\"]\ntools = all\n", NULL},
    {TOOLS, "[grant \"u\"]\ntools = all\n", "tools"},
    {TOOLS, "[grant \"tt\"]\ntools = all\n", "tools"},
    {TOOLS, T "hosts = *\nread_paths = /srv\nlocks = yes\n", "tools"},
    {TOOLS, T "tools = all\ndigest = " B "\n", "tools"},
    {TOOLS, T "tools = all\ndigest = " A "\n", NULL},
    {TOOLS, T "tools = all\ndigest = " B " " A "\n", NULL},
    {TOOLS, T "tools = click\ndigest = " B "\n[grant \"*\"]\ntools = all\n",
     NULL},
    {TOOLS, T "tools = click\n[grant \"*\"]\ntools = all\ndigest = " B "\n",
     "tools"},
    {READS, "", "read_paths"},
    {READS, "[sandbox]\nread_paths = /srv\n", NULL},
    {READS, "[sandbox]\nread_paths = /srv/a\n" T "read_paths = /srv/b\n", NULL},
    {READS, T "read_paths = /srv/a\n", "read_paths"},
    {READS, T "read_paths = /srv/a /srv/b/\n", NULL},
    {READS, T "read_paths = /srv/a/x /srv/b\n", "read_paths"},
    {READS, T "read_paths = /sr /srv/a /srv/b/cc\n", "read_paths"},
    {READS, T "read_paths = /srv\ndigest = " B "\n", "read_paths"},
    {READS, T "tools = all\nlocks = yes\n", "read_paths"},
    {LOCKS, "", "locks"},
    {LOCKS, T "locks = no\n", "locks"},
    {LOCKS, T "locks = yes\n", NULL},
    {LOCKS, "[grant \"*\"]\nlocks = yes\n" T "locks = no\n", NULL},
    {LOCKS, T "locks = yes\ndigest = " B "\n", "locks"},
    {LOCKS, "[sandbox]\nread_paths = /srv\n", "locks"},
    {NETWORK("\"a.b:1\""), "", "network"},
    {NETWORK("\"a.b:1\""), T "network = a.b:1\n", NULL},
    {NETWORK("\"a.b:1\""), T "network = *.a.b:1 a.b:2\n", "network"},
    {NETWORK("\"x.a.b:1\""), T "network = *.a.b:1\n", NULL},
    {NETWORK("\"a.b:1\",\"c.d:1\""), T "network = a.b:1\n", "network"},
    {NETWORK("\"a.b:1\""), "[grant \"*\"]\nnetwork = a.b:1\n", NULL},
    {NETWORK("\"a.b:1\""), "[grant \"u\"]\nnetwork = a.b:1\n", "network"},
    {NETWORK("\"granted\""), "", NULL},
    {NETWORK(RULE), T "network = a.b:1\n", NULL},
    {NETWORK(RULE), T "network = a.b:1=GET:/x,POST:/y/*\n", NULL},
    {NETWORK(RULE), T "network = a.b:1=GET:/x\n", "network"},
    {NETWORK("\"a.b:1\""), T "network = a.b:1=GET:/x\n", "network"},
    {"\"permissions\":{\"secrets\":[\"k\"]}", SECRET, "secrets"},
    {"\"permissions\":{\"secrets\":[\"k\"]}", T "secrets = k\n" SECRET, NULL},
    {"\"permissions\":{\"network\":[],\"secrets\":[]}", "", NULL},
    /* several: the first is said */
    {TOOLS "," READS, T "tools = all\n", "read_paths"},
    {TOOLS "," READS, "", "tools"},
};

static void table(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct template *t = with(cases[i].members);
		struct config *c = config_new(0);
		struct tool_error r = {0};
		struct json_object *v;
		bool may;

		if (parse(c, cases[i].config) != 0)
			ok(false, "case %zu: %s", i, errmsg);
		may = grants_allow(t, c, &r);
		is_str(may ? NULL : json_member_str(r.details, "key"),
		       cases[i].missing, "case %zu: %s", i, cases[i].members);
		ok(may || strcmp(r.code, "PERMISSION_NOT_ALLOWED") == 0,
		   "a missing grant has the code PERMISSION_NOT_ALLOWED");
		v = grants_view(t, c, false);
		is_int(json_member(v, "missing") == NULL, may,
		       "the view of grants agrees with the verdict");
		json_object_put(v);
		tool_error_fini(&r);
		config_free(c);
		template_unref(t);
	}
}

static void tools(void)
{
	struct template *t = with(TOOLS);
	struct config *c = config_new(0);

	parse(c, T "tools = click wait\n");
	ok(grants_tool(t, c, "click") == NULL, "asked for and granted");
	ok(strstr(grants_tool(t, c, "create_tab"), "operator") != NULL,
	   "asked for alone: the operator's");
	ok(strstr(grants_tool(t, c, "wait"), "author") != NULL,
	   "granted alone: its author's");
	ok(grants_tool(t, c, "all") != NULL, "no word stands for a tool");
	config_free(c);
	template_unref(t);
}

static void hosts(void)
{
	struct template *t = with(TOOLS);
	struct config *c = config_new(0);
	struct json_object *list;

	parse(c, T "hosts = a.b *.c:1\n[grant \"*\"]\nhosts = d\n"
		   "[grant \"u\"]\nhosts = e\n");
	list = grants_hosts(t, c);
	is_str(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
	       "[\"a.b\",\"*.c:1\",\"d\"]",
	       "a template has its own hosts and the hosts for all templates");
	json_object_put(list);
	parse(c, T "digest = " B "\n");
	list = grants_hosts(t, c);
	is_str(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
	       "[\"d\"]", "a grant for another digest gives no hosts");
	json_object_put(list);
	config_free(c);
	template_unref(t);
}

static void others(void)
{
	struct template *t = with(READS);
	struct config *c = config_new(0);
	struct json_object *v;
	char *text;

	parse(c, "[sandbox]\nread_paths = /all\n" T "read_paths = /own\n"
		 "[grant \"u\"]\nread_paths = /theirs\n");
	text = grants_reads(t, c);
	is_str(text, " /all /own",
	       "a template may read the paths for all and its own");
	free(text);
	ok(grants_any_read(c, "/theirs/x") && grants_any_read(c, "/all") &&
	       !grants_any_read(c, "/own2") && !grants_any_read(c, "/"),
	   "paths of any grant are known as readable");
	v = grants_of(t, c);
	is_str(json_member_str(v, "section"),
	       T "digest = " A "\nread_paths = /srv/a\n\t/srv/b/c\n",
	       "the section that would grant it all");
	parse(c, json_member_str(v, "section"));
	json_object_put(v);
	v = grants_view(t, c, true);
	ok(json_member(v, "missing") == NULL, "does, as it is printed");
	json_object_put(v);
	config_free(c);
	template_unref(t);
}

/*
 * Grants shipped with paddock hold for the shipped folder; the name alone gives
 * nothing.
 */
static void shipped(void)
{
	size_t n;
	const struct config_grant *g = template_shipped_grants(&n);
	struct config *c = config_new(0);
	struct template *t = with(TOOLS);
	struct tool_error r = {0};

	ok(n > 0 && g[0].tools != NULL && g[0].digest == NULL,
	   "shipped templates have grants");
	free(t->id);
	t->id = xstrdup(g[0].name);
	ok(grants_tool(t, c, "create_tab") != NULL,
	   "the name of a shipped template alone gives no grant");
	tool_error_fini(&r);
	t->shipped = true;
	ok(grants_tool(t, c, "create_tab") == NULL,
	   "the shipped folder gives the grant");
	ok(!grants_allow(t, c, &r), "for what is listed there alone");
	tool_error_fini(&r);
	free(t->id);
	t->id = xstrdup("another");
	ok(grants_tool(t, c, "create_tab") != NULL,
	   "another name in the shipped folder gives no grant");
	config_free(c);
	template_unref(t);
}

/* Templates whose runs use only files covered by the digest. */
static void by_digest(void)
{
	static const struct {
		const char *members, *config;
		bool is;
		const char *name;
	} them[] = {
	    {READS, T "read_paths = /srv\ndigest = " A "\n", true,
	     "by its own"},
	    {READS, "[grant \"*\"]\nread_paths = /srv\ndigest = " B " " A "\n",
	     true, "by one of several, for all"},
	    {READS,
	     T "read_paths = /srv\n[grant \"*\"]\nlocks = yes\ndigest = " A
	       "\n",
	     true, "by one of its grants"},
	    {READS, T "read_paths = /srv\n", false, "by its name"},
	    {READS, T "read_paths = /srv\ndigest = " B "\n", false,
	     "by another's"},
	    {READS, "[grant \"u\"]\nread_paths = /srv\ndigest = " A "\n", false,
	     "of another name"},
	    {"", T "read_paths = /srv\ndigest = " A "\n", false,
	     "and asks for nothing"},
	    {READS, "", false, "nothing"},
	};

	for (size_t i = 0; i < ARRAY_LEN(them); i++) {
		struct config *c = config_new(0);
		struct template *t = with(them[i].members);

		is_int(parse(c, them[i].config), 0,
		       "the configuration of a case is valid");
		is_int(grants_by_digest(t, c), them[i].is,
		       "granted by digest? %s", them[i].name);
		config_free(c);
		template_unref(t);
	}
}

int main(void)
{
	table();
	by_digest();
	tools();
	hosts();
	others();
	shipped();
	return tap_done();
}
