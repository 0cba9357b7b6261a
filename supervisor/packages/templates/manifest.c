/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c - checks a template.json and fills a struct template from it:
 * shape, ids, schemas. template_load.c calls it for the catalogue,
 * package_check.c for authors. Every fault goes to the diagnostics with its
 * place in the file, and then there is no template.
 */
#include "supervisor/packages/templates/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/nofollow.h"
#include "base/text/utf8.h"
#include "ipc/browser_proto.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/templates/manifest_content.h"
#include "supervisor/packages/templates/manifest_limits.h"
#include "supervisor/packages/templates/manifest_shape.h"
#include "supervisor/runtime/runtime.h"

#define MIB (INT64_C(1) << 20)

/* Bound of the cost of compiling one schema: some 60 ms. */
#define MANIFEST_SCHEMA_STEPS 3000000

#define RETRY_BACKOFF_MS 1000

#define fail(f, pointer, ...)                                                  \
	diagnostics_add(f, DIAGNOSTIC_ERROR, MANIFEST_FILE, pointer,           \
			__VA_ARGS__)

/* Names reserved for tools of paddock's own, as the browser's tools are. */
static const char *const contract_tools[] = {
    "list_task_templates", "run_task_template", "get_task_run",
    "list_task_runs",	   "cancel_task_run",	"get_artifact",
    "get_runtime_profile", "retry_task_run",	"search_task_templates",
    "propose_grant",
};

static const char *const modes[] = {
    [MODE_SYNC] = "sync", [MODE_ASYNC] = "async", [MODE_AUTO] = "auto"};
static const char *const tasks[] = {[TASK_OPTIONAL] = "optional",
				    [TASK_REQUIRED] = "required",
				    [TASK_FORBIDDEN] = "forbidden"};

/* the bits of enum template_retry_on, from the lowest on */
static const char *const causes[] = {"interrupted", "crashed"};

/*
 * Return the index of TEXT, or of member KEY of OBJ, in NAMES; OTHERWISE where
 * there is none. The schema allows no other text.
 */
static unsigned choice_of(const char *text, const char *const *names, size_t n,
			  unsigned otherwise)
{
	for (size_t i = 0; text != NULL && i < n; i++)
		if (strcmp(text, names[i]) == 0)
			return (unsigned)i;
	return otherwise;
}

static unsigned choice(struct json_object *obj, const char *key,
		       const char *const *names, size_t n, unsigned otherwise)
{
	return choice_of(json_member_str(obj, key), names, n, otherwise);
}

/*
 * Has some string of O a NUL? A C string would end there, with another meaning.
 */
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
 * Has some part of O "writeOnly": true? An example that merely looks so counts
 * as well: a needless secret is better than a secret overlooked.
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

static bool is_reserved(const char *id)
{
	const struct browser_proto_action *a = browser_proto_action(id);

	for (size_t i = 0; i < ARRAY_LEN(contract_tools); i++)
		if (strcmp(id, contract_tools[i]) == 0)
			return true;
	return a != NULL && !a->runs_alone;
}

static int check_template_id(struct template *t, struct json_object *m,
			     struct diagnostics *f)
{
	t->id = xstrdup_opt(json_member_str(m, "templateId"));
	if (is_reserved(t->id))
		return fail(f, "/templateId",
			    "\"%s\" is the name of a tool of paddock's "
			    "own; choose another",
			    t->id);
	t->name = xstrdup_opt(json_member_str(m, "name"));
	t->description = xstrdup_opt(json_member_str(m, "description"));
	return 0;
}

static int check_template_version(struct template *t, struct json_object *m,
				  struct diagnostics *f)
{
	t->version_text = xstrdup_opt(json_member_str(m, "version"));
	if (!semver_parse(&t->version, t->version_text))
		return fail(f, "/version",
			    "\"%s\" is not a semantic version such as 1.0.0",
			    t->version_text);
	return 0;
}

static int check_runtime(struct template *t, struct json_object *m,
			 struct diagnostics *f)
{
	struct json_object *r = json_member(m, "runtime");

	(void)runtime_find(json_member_str(r, "type"), &t->runtime);
	t->entry = xstrdup_opt(json_member_str(r, "entry"));
	if (t->entry == NULL)
		t->entry = xstrdup_opt(runtimes[t->runtime]->entry);
	if (t->entry == NULL)
		return fail(f, "/runtime",
			    "a %s names its \"entry\", a file of the package",
			    runtime_names[t->runtime]);
	/* the arguments of a program, each with a NUL, as the worker takes them */
	json_each(one, runtimes[t->runtime]->sees_host ? json_member(r, "args")
						       : NULL) {
		const char *arg = json_object_get_string(one);
		size_t len = strlen(arg) + 1;

		t->code = xrealloc(t->code, t->code_len + len);
		memcpy(t->code + t->code_len, arg, len);
		t->code_len += len;
	}
	if (!nofollow_is_plain(t->entry))
		return fail(f, "/runtime/entry",
			    "\"%s\" is not the plain relative path of a file "
			    "in the package, such as main.lua",
			    t->entry);
	return 0;
}

static int check_modes(struct template *t, struct json_object *m,
		       struct diagnostics *f)
{
	struct json_object *trust = json_member(m, "trustLevelSupport"), *o;

	(void)f;
	t->trust = trust == NULL ? TRUST_LOCAL : 0;
	json_each(one, trust)
		t->trust |= strcmp(json_object_get_string(one), "remote") == 0
				? TRUST_REMOTE
				: TRUST_LOCAL;
	t->mode =
	    choice(m, "executionMode", modes, ARRAY_LEN(modes), MODE_AUTO);
	t->task =
	    choice(m, "taskSupport", tasks, ARRAY_LEN(tasks), TASK_OPTIONAL);
	t->stream_poll = json_member(m, "stream") != NULL;
	t->partial = json_member_bool(m, "supportsPartialSuccess");
	o = json_member(m, "partialSuccessThreshold");
	t->partial_threshold = o != NULL ? json_object_get_double(o) : 0.5;
	return 0;
}

static int check_auto(struct template *t, struct json_object *m,
		      struct diagnostics *f)
{
	struct json_object *o = json_member(m, "autoAsync");
	const char *s;
	bool wrong;

	if (o == NULL)
		return 0;
	t->auto_pointer = xstrdup_opt(json_member_str(o, "pointer"));
	t->auto_items_over = json_member_int(o, "itemsOver");
	s = t->auto_pointer;
	wrong = *s != '\0' && *s != '/';
	for (; (s = strchr(s, '~')) != NULL; s++)
		wrong |= s[1] != '0' && s[1] != '1';
	if (wrong)
		return fail(f, "/autoAsync/pointer",
			    "\"%s\" is not a JSON Pointer such as /urls",
			    t->auto_pointer);
	return 0;
}

/* Compile the member KEY as a schema. 0 also when there is no such member. */
static int compile_schema(struct json_object *m, struct diagnostics *f,
			  const char *key, struct json_object **json,
			  struct schema **schema)
{
	struct schema_budget budget = {.allowed = MANIFEST_SCHEMA_STEPS};
	const struct schema_options opt = {.budget = &budget};
	struct schema_error err = {0};
	char pointer[32];

	*json = json_member(m, key);
	if (*json == NULL || schema_compile(schema, *json, &opt, &err) == 0)
		return 0;
	snprintf(pointer, sizeof(pointer), "/%s", key);
	return manifest_shape_fail(f, pointer, &err);
}

static int check_inputs(struct template *t, struct json_object *m,
			struct diagnostics *f)
{
	struct pointer_error at = {.pointer = "/inputsSchema"}, inner;
	int rc;

	t->secret = has_secret(json_member(m, "inputsSchema"));
	t->file_spots = file_schema_find(json_member(m, "inputsSchema"));
	if (t->file_spots != NULL)
		file_schema_expand(json_member(m, "inputsSchema"));
	rc = compile_schema(m, f, "inputsSchema", &t->inputs_json, &t->inputs);
	if (rc < 0 ||
	    mcp_param_headers_read(&t->mcp_headers, t->inputs_json, &inner))
		return rc;
	/* clients of MCP 2026-07-28 refuse a tool with a wrong "x-mcp-header" */
	pointer_error_join(&at, &inner);
	return fail(f, at.pointer, "\"x-mcp-header\" can be %s", at.expected);
}

static int check_outputs(struct template *t, struct json_object *m,
			 struct diagnostics *f)
{
	return compile_schema(m, f, "outputsSchema", &t->outputs_json,
			      &t->outputs);
}

static int check_prestart(struct template *t, struct json_object *m,
			  struct diagnostics *f)
{
	struct json_object *o = json_member(m, "prestart");

	t->prestart = o != NULL ? (unsigned)json_object_get_int(o) : 0;
	if (t->prestart > 0 && !runtimes[t->runtime]->has_shim)
		return fail(f, "/prestart",
			    "it is for programs: workers of %s templates are "
			    "always spawned ahead of their run",
			    runtimes[t->runtime]->title);
	return 0;
}

/* The property of the inputs that names a notebook, or NULL; clients see a pattern. */
static const char *find_notebook(struct json_object *m)
{
	struct json_object *all =
	    json_member(json_member(m, "inputsSchema"), "properties");

	if (all == NULL)
		return NULL;
	json_object_object_foreach(all, key, value) {
		const char *format = json_member_str(value, "format");

		if (format == NULL || strcmp(format, "paddock-notebook") != 0)
			continue;
		/* some clients refuse a schema with a format of nobody else's */
		json_object_object_del(value, "format");
		if (json_member(value, "pattern") == NULL)
			json_add(value, "pattern:s", "^[A-Za-z0-9._-]{1,64}$");
		return key;
	}
	return NULL;
}

static int check_resident(struct template *t, struct json_object *m,
			  struct diagnostics *f)
{
	bool asks = json_member(m, "resident") != NULL;

	t->notebook = find_notebook(m);
	if (asks != (t->notebook != NULL))
		return fail(f, "/resident",
			    "a template has \"resident\" and a property of "
			    "its inputsSchema with the format "
			    "\"paddock-notebook\", or neither");
	return 0;
}

/*
 * Read "retry": a run is tried again only when the author says that a second
 * try does no harm.
 */
static int check_retry(struct template *t, struct json_object *m,
		       struct diagnostics *f)
{
	struct json_object *o = json_member(m, "retry");
	struct json_object *on = json_member(o, "on");

	if (o == NULL)
		return 0;
	if (!json_member_bool(json_member(m, "annotations"), "idempotentHint"))
		return fail(f, "/retry",
			    "only a template whose \"annotations\" have "
			    "\"idempotentHint\": true is tried again, since "
			    "what it does may then be done twice");
	t->retry.attempts = (unsigned)json_member_int(o, "attempts");
	t->retry.backoff_ms = json_member(o, "backoffMs") != NULL
				  ? json_member_int(o, "backoffMs")
				  : RETRY_BACKOFF_MS;
	json_each(one, on)
		t->retry.on |= 1u << choice_of(json_object_get_string(one),
					       causes, ARRAY_LEN(causes), 0);
	if (on == NULL)
		t->retry.on = RETRY_INTERRUPTED | RETRY_CRASHED;
	return 0;
}

/*
 * The checks, in their order. A check relies on the manifest's schema for its
 * members, so a check is left out when one of its members has an error already.
 */
static const struct {
	int (*ask)(struct template *t, struct json_object *m,
		   struct diagnostics *f);
	const char *members[6];
} checks[] = {
    {check_template_id, {"templateId", "name", "description"}},
    {check_template_version, {"version"}},
    {check_runtime, {"runtime"}},
    {check_modes,
     {"trustLevelSupport", "executionMode", "taskSupport", "stream",
      "supportsPartialSuccess", "partialSuccessThreshold"}},
    {check_prestart, {"prestart", "runtime"}},
    {check_resident, {"resident", "inputsSchema", "runtime"}},
    {check_auto, {"autoAsync"}},
    {check_retry, {"retry", "annotations"}},
    {manifest_limits_read, {"limits"}},
    {manifest_permissions_read, {"permissions", "runtime"}},
    {check_inputs, {"inputsSchema"}},
    {check_outputs, {"outputsSchema"}},
    {manifest_content_resources, {"resources"}},
    {manifest_content_prompts, {"prompts"}},
};

/* Does an error lie in the member KEY, or is a required KEY missing? */
static bool is_wrong(const struct diagnostics *f, struct json_object *m,
		     const char *key)
{
	size_t len = strlen(key);

	for (size_t i = 0; i < f->n; i++) {
		const char *p = f->all[i].pointer;

		if (p != NULL && *p == '/' && strncmp(p + 1, key, len) == 0 &&
		    (p[1 + len] == '\0' || p[1 + len] == '/'))
			return true;
	}
	return manifest_shape_lacks(m, key);
}

/* Find every fault, up to the bound of the diagnostics. */
static void check_all(struct template *t, struct json_object *m,
		      struct diagnostics *f)
{
	manifest_shape_check(m, f);
	if (!json_object_is_type(m, json_type_object))
		return;
	if (has_nul(m)) {
		fail(f, "",
		     "a string has the character U+0000; "
		     "leave it out");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		bool wrong = f->more;

		for (size_t j = 0; j < ARRAY_LEN(checks[i].members); j++)
			wrong = wrong || (checks[i].members[j] != NULL &&
					  is_wrong(f, m, checks[i].members[j]));
		if (!wrong)
			checks[i].ask(t, m, f);
	}
}

struct template *manifest_parse(const char *text, size_t len,
				struct diagnostics *f)
{
	struct template *t = xcalloc(1, sizeof(*t));
	struct json_error err = {0};

	t->users = 1;
	if (json_parse(&t->manifest, text, len, &err) < 0) {
		diagnostics_not_json(f, MANIFEST_FILE, text, len, &err);
		goto bad;
	}
	check_all(t, t->manifest, f);
	diagnostics_place(f, MANIFEST_FILE, text, len);
	if (diagnostics_errors(f) > 0)
		goto bad;
	t->annotations = json_member(t->manifest, "annotations");
	t->resources = json_member(t->manifest, "resources");
	t->prompts = json_member(t->manifest, "prompts");
	return t;
bad:
	template_unref(t);
	return NULL;
}
