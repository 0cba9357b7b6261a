/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c - checks a template.json and fills a struct template from it:
 * shape, ids, schemas. template_load.c calls it for the catalogue,
 * package_check.c for authors. All that is wrong goes to the
 * diagnostics with its place in the file, and there is no template then.
 */
#include "supervisor/templates/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/nofollow.h"
#include "base/text/utf8.h"
#include "ipc/browser_proto.h"
#include "proto/json/json.h"
#include "supervisor/package/package.h"
#include "supervisor/templates/manifest_content.h"
#include "supervisor/templates/manifest_limits.h"
#include "supervisor/templates/manifest_shape.h"

#define MIB (INT64_C(1) << 20)

/* What a check works on, and where it says what is wrong. */
struct check {
	struct template *t;
	struct json_object *m; /* the manifest; borrowed from t */
	struct diagnostics *f;
};

/* What each of its schemas may cost to compile: some 60 ms. */
#define MANIFEST_SCHEMA_STEPS 3000000

#define fail(c, pointer, ...)                                                  \
	diagnostics_add((c)->f, DIAGNOSTIC_ERROR, MANIFEST_FILE, pointer,      \
			__VA_ARGS__)

/* Clients must find these under their own names, and the browser's tools. */
static const char *const contract_tools[] = {
    "list_task_templates", "run_task_template", "get_task_run",
    "list_task_runs",	   "cancel_task_run",	"get_artifact",
    "get_runtime_profile",
};

static const char *const modes[] = {
    [MODE_SYNC] = "sync", [MODE_ASYNC] = "async", [MODE_AUTO] = "auto"};
static const char *const runtimes[] = {
    [RUNTIME_LUA] = "lua", [RUNTIME_PROGRAM] = "program"};
static const char *const tasks[] = {[TASK_OPTIONAL] = "optional",
				    [TASK_REQUIRED] = "required",
				    [TASK_FORBIDDEN] = "forbidden"};

/* Which of NAMES is member KEY of OBJ; the schema allows no other. */
static unsigned choice(struct json_object *obj, const char *key,
		       const char *const *names, size_t n, unsigned otherwise)
{
	const char *text = json_member_str(obj, key);

	for (size_t i = 0; text != NULL && i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return (unsigned)i;
	return otherwise;
}

static char *copy(struct json_object *obj, const char *key)
{
	const char *text = json_member_str(obj, key);

	return text != NULL ? xstrdup(text) : NULL;
}

/* C strings would end there, and so mean something else. */
static bool has_nul(struct json_object *o)
{
	if (json_object_is_type(o, json_type_string))
		return strlen(json_object_get_string(o)) !=
		       (size_t)json_object_get_string_len(o);
	json_each(one, o)
		if (has_nul(one))
			return true;
	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, member) {
			(void)key;
			if (has_nul(member))
				return true;
		}
	}
	return false;
}

/*
 * Has some part of O "writeOnly": true? Rather once too often, as where that
 * is a mere example, than once too seldom.
 */
static bool has_secret(struct json_object *o)
{
	json_each(one, o)
		if (has_secret(one))
			return true;
	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, member) {
			if (has_secret(member) ||
			    (strcmp(key, "writeOnly") == 0 &&
			     json_object_is_type(member, json_type_boolean) &&
			     json_object_get_boolean(member)))
				return true;
		}
	}
	return false;
}

static int check_text(struct check *c)
{
	if (has_nul(c->m))
		return fail(c, "",
			    "a string has the character U+0000; "
			    "leave it out");
	return 0;
}

static bool is_reserved(const char *id)
{
	const struct browser_proto_action *a = browser_proto_action(id);

	for (size_t i = 0; i < ARRAY_LEN(contract_tools); i++)
		if (strcmp(id, contract_tools[i]) == 0)
			return true;
	return a != NULL && !a->runs_alone;
}

static int check_id(struct check *c)
{
	c->t->id = copy(c->m, "templateId");
	if (is_reserved(c->t->id))
		return fail(c, "/templateId",
			    "\"%s\" is the name of a tool of paddock's "
			    "own; choose another",
			    c->t->id);
	c->t->name = copy(c->m, "name");
	c->t->description = copy(c->m, "description");
	return 0;
}

static int check_version(struct check *c)
{
	c->t->version_text = copy(c->m, "version");
	if (!semver_parse(&c->t->version, c->t->version_text))
		return fail(c, "/version",
			    "\"%s\" is not a semantic version such as 1.0.0",
			    c->t->version_text);
	return 0;
}

/* A program's arguments, as its worker takes them. */
static void join_args(struct template *t, struct json_object *args)
{
	size_t n = args != NULL ? json_object_array_length(args) : 0;

	for (size_t i = 0; t->runtime == RUNTIME_PROGRAM && i < n; i++) {
		const char *arg =
		    json_object_get_string(json_object_array_get_idx(args, i));
		size_t len = strlen(arg) + 1;

		t->code = xrealloc(t->code, t->code_len + len);
		memcpy(t->code + t->code_len, arg, len);
		t->code_len += len;
	}
}

static int check_runtime(struct check *c)
{
	struct json_object *r = json_member(c->m, "runtime");
	struct template *t = c->t;

	t->runtime =
	    choice(r, "type", runtimes, ARRAY_LEN(runtimes), RUNTIME_LUA);
	t->entry = copy(r, "entry");
	if (t->entry == NULL && t->runtime == RUNTIME_PROGRAM)
		return fail(c, "/runtime",
			    "a program names its \"entry\", a "
			    "file of the package");
	if (t->entry == NULL)
		t->entry = xstrdup("main.lua");
	join_args(t, json_member(r, "args"));
	if (!nofollow_is_plain(t->entry))
		return fail(c, "/runtime/entry",
			    "\"%s\" is not the plain relative path of a file "
			    "in the package, such as main.lua",
			    t->entry);
	return 0;
}

static int check_trust(struct check *c)
{
	struct json_object *list = json_member(c->m, "trustLevelSupport");

	c->t->trust = list == NULL ? TRUST_LOCAL : 0;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		c->t->trust |= strcmp(json_object_get_string(o), "remote") == 0
				   ? TRUST_REMOTE
				   : TRUST_LOCAL;
	}
	return 0;
}

static int check_modes(struct check *c)
{
	struct json_object *o;
	struct template *t = c->t;

	t->mode =
	    choice(c->m, "executionMode", modes, ARRAY_LEN(modes), MODE_AUTO);
	t->task =
	    choice(c->m, "taskSupport", tasks, ARRAY_LEN(tasks), TASK_OPTIONAL);
	t->stream_poll = json_member(c->m, "stream") != NULL;
	t->partial = json_member_bool(c->m, "supportsPartialSuccess");
	o = json_member(c->m, "partialSuccessThreshold");
	t->partial_threshold = o != NULL ? json_object_get_double(o) : 0.5;
	return 0;
}

static bool is_pointer(const char *s)
{
	if (*s != '\0' && *s != '/')
		return false;
	for (; (s = strchr(s, '~')) != NULL; s++)
		if (s[1] != '0' && s[1] != '1')
			return false;
	return true;
}

static int check_auto(struct check *c)
{
	struct json_object *o = json_member(c->m, "autoAsync");

	if (o == NULL)
		return 0;
	c->t->auto_pointer = copy(o, "pointer");
	c->t->auto_items_over = json_member_int(o, "itemsOver");
	if (!is_pointer(c->t->auto_pointer))
		return fail(c, "/autoAsync/pointer",
			    "\"%s\" is not a JSON Pointer such as /urls",
			    c->t->auto_pointer);
	return 0;
}

static int check_limits(struct check *c)
{
	return manifest_limits_read(c->t, c->m, c->f);
}

static int check_permissions(struct check *c)
{
	return manifest_permissions_read(c->t, c->m, c->f);
}

/* The member KEY as a schema; 0, too, when there is none. */
static int compile(struct check *c, const char *key, struct json_object **json,
		   struct schema **schema)
{
	struct schema_budget budget = {.allowed = MANIFEST_SCHEMA_STEPS};
	const struct schema_options opt = {.budget = &budget};
	struct schema_error err = {0};
	char pointer[32];

	*json = json_member(c->m, key);
	if (*json == NULL || schema_compile(schema, *json, &opt, &err) == 0)
		return 0;
	snprintf(pointer, sizeof(pointer), "/%s", key);
	return manifest_shape_fail(c->f, pointer, &err);
}

/* Clients of MCP 2026-07-28 refuse a tool that has a wrong one. */
static int check_headers(struct check *c)
{
	struct pointer_error at = {.pointer = "/inputsSchema"}, inner;

	if (mcp_param_headers_read(&c->t->mcp_headers, c->t->inputs_json,
				   &inner))
		return 0;
	pointer_error_join(&at, &inner);
	return fail(c, at.pointer, "\"x-mcp-header\" can be %s", at.expected);
}

static int check_inputs(struct check *c)
{
	int rc;

	c->t->secret = has_secret(json_member(c->m, "inputsSchema"));
	rc = compile(c, "inputsSchema", &c->t->inputs_json, &c->t->inputs);
	return rc < 0 ? rc : check_headers(c);
}

static int check_outputs(struct check *c)
{
	return compile(c, "outputsSchema", &c->t->outputs_json, &c->t->outputs);
}

static int check_resources(struct check *c)
{
	return manifest_content_resources(c->m, MANIFEST_FILE, c->f);
}

static int check_prompts(struct check *c)
{
	return manifest_content_prompts(c->m, MANIFEST_FILE, c->f);
}

/*
 * In this order. Each relies on the schema for its members, so it is not asked
 * where an error lies in one of them already.
 */
static const struct {
	int (*ask)(struct check *c);
	const char *members[5];
} checks[] = {
    {check_id, {"templateId", "name", "description"}},
    {check_version, {"version"}},
    {check_runtime, {"runtime"}},
    {check_trust, {"trustLevelSupport"}},
    {check_modes,
     {"executionMode", "taskSupport", "stream", "supportsPartialSuccess",
      "partialSuccessThreshold"}},
    {check_auto, {"autoAsync"}},
    {check_limits, {"limits"}},
    {check_permissions, {"permissions", "runtime"}},
    {check_inputs, {"inputsSchema"}},
    {check_outputs, {"outputsSchema"}},
    {check_resources, {"resources"}},
    {check_prompts, {"prompts"}},
};

/* Does an error lie in the member KEY, or has it gone missing? */
static bool is_wrong(const struct check *c, const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < c->f->n; i++) {
		const char *p = c->f->all[i].pointer;

		if (p != NULL && *p == '/' && strncmp(p + 1, key, len) == 0 &&
		    (p[1 + len] == '\0' || p[1 + len] == '/'))
			return true;
	}
	return manifest_shape_lacks(c->m, key);
}

/* Everything that is wrong, unless there is too much of it. */
static void check_all(struct check *c)
{
	manifest_shape_check(c->m, c->f);
	if (!json_object_is_type(c->m, json_type_object) || check_text(c) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		bool wrong = c->f->more;

		for (size_t j = 0; j < ARRAY_LEN(checks[i].members); j++)
			wrong = wrong || (checks[i].members[j] != NULL &&
					  is_wrong(c, checks[i].members[j]));
		if (!wrong)
			checks[i].ask(c);
	}
}

struct template *manifest_parse(const char *text, size_t len,
				struct diagnostics *f)
{
	struct template *t = xcalloc(1, sizeof(*t));
	struct check c = {.t = t, .f = f};
	struct json_error err = {0};
	size_t line, column;

	t->users = 1;
	if (json_parse(&t->manifest, text, len, &err) < 0) {
		utf8_position(text, err.at < len ? err.at : len, &line,
			      &column);
		fail(&c, NULL, "this is not JSON: %s", json_error_reason(&err));
		diagnostics_at(f, line, column);
		goto bad;
	}
	c.m = t->manifest;
	check_all(&c);
	diagnostics_place(f, MANIFEST_FILE, text, len);
	if (diagnostics_errors(f) > 0)
		goto bad;
	t->annotations = json_member(c.m, "annotations");
	t->resources = json_member(c.m, "resources");
	t->prompts = json_member(c.m, "prompts");
	return t;
bad:
	template_unref(t);
	return NULL;
}
