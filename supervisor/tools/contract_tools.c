/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract_tools.c - the list of the contract's tools and ours beside them, from
 * contract_tools.json, and those of them that are not about runs: get_artifact
 * and get_runtime_profile. tools.c calls each by its row. Our own JSON that
 * does not parse aborts; a failing store is answered as STORE_UNAVAILABLE.
 */
#include "supervisor/tools/contract_tools.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/embed.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/browser/browser.h"
#include "supervisor/config/config_keys.h"
#include "supervisor/session/response.h"
#include "supervisor/state/disk_space.h"
#include "supervisor/health/health.h"
#include "supervisor/grants/grants.h"
#include "supervisor/worker/interpreters.h"
#include "supervisor/worker/programs.h"
#include "supervisor/tools/tools.h"

EMBED(contract_json, "supervisor/tools/contract_tools.json");

static void get_artifact(struct request *c, struct json_object *args);
static void get_profile(struct request *c, struct json_object *args);

static struct contract_tool tools[CONTRACT_TOOLS] = {
    {.name = "list_task_templates", .serve = tool_templates_list},
    {.name = "run_task_template", .serve = tool_run_template},
    {.name = "get_task_run", .serve = tool_runs_get},
    {.name = "list_task_runs", .serve = tool_runs_list},
    {.name = "cancel_task_run", .serve = tool_runs_cancel},
    {.name = "get_artifact", .serve = get_artifact},
    {.name = "get_runtime_profile", .serve = get_profile},
    {.name = "retry_task_run", .serve = tool_try_again, .answers_run = true},
};

static struct json_object *definitions;

/* Of run_task_template's answer. */
static struct json_object *run_schema(void)
{
	for (size_t i = 0; i < CONTRACT_TOOLS; i++)
		if (tools[i].serve == tool_run_template)
			return json_member(tools[i].definition, "outputSchema");
	return NULL;
}

const struct contract_tool *contract_tools(void)
{
	struct schema_error err = {0};

	if (definitions != NULL)
		return tools;
	if (json_parse(&definitions, contract_json,
		       (size_t)(contract_json_end - contract_json), NULL) < 0)
		abort();
	for (size_t i = 0; i < CONTRACT_TOOLS; i++) {
		struct json_object *d =
		    json_object_array_get_idx(definitions, i);

		assert(strcmp(json_member_str(d, "name"), tools[i].name) == 0);
		tools[i].definition = d;
		if (tools[i].answers_run)
			json_add(d, "outputSchema:O", run_schema());
		if (schema_compile(&tools[i].input,
				   json_member(d, "inputSchema"), NULL,
				   &err) < 0) {
			log_error("contract", "tool=%s schema=\"%s\"",
				  tools[i].name, err.text);
			abort();
		}
	}
	return tools;
}

void contract_tools_fini(void)
{
	for (size_t i = 0; i < CONTRACT_TOOLS; i++) {
		schema_free(tools[i].input);
		tools[i].input = NULL;
	}
	json_object_put(definitions);
	definitions = NULL;
}

void contract_tools_invalid(struct tool_error *r, const char *prefix,
			    const struct schema_error *err)
{
	char *pointer = xasprintf("%s%s", prefix, err->pointer);

	tool_error_set(r, "INVALID_PARAMETER",
		       json_pack("pointer:s keyword:s expected:s", pointer,
				 err->keyword, err->expected),
		       "%s", err->text);
	free(pointer);
}

/* ---- get_artifact ---- */

static void refuse_artifact(struct request *c, const char *id,
			    const struct store_result *res)
{
	struct tool_error r = {0};
	struct schema_error err = {.pointer = "/offset", .keyword = "maximum"};

	switch (res->rc) {
	case -ENOENT:
		requestor_missed(c->session->requestor);
		tool_error_set(&r, "ARTIFACT_NOT_FOUND", NULL,
			       "you have no artifact \"%.64s\"", id);
		break;
	case -ESTALE:
		tool_error_set(
		    &r, "ARTIFACT_EXPIRED", NULL,
		    "the artifact %s has passed its time and is gone", id);
		break;
	case -ERANGE:
		snprintf(err.expected, sizeof(err.expected), "at most %lld",
			 (long long)res->artifact->size);
		snprintf(err.text, sizeof(err.text),
			 "/offset is beyond the artifact's %lld bytes",
			 (long long)res->artifact->size);
		contract_tools_invalid(&r, "", &err);
		break;
	default:
		tool_error_set(&r, "STORE_UNAVAILABLE", NULL,
			       "the artifact cannot be read now: %s",
			       store_says(res->rc));
	}
	request_tool_error(c, &r);
}

static struct json_object *make_artifact(struct response *m)
{
	char *data = xcalloc(1, BASE64_LEN(m->len) + 1);
	struct json_object *v = m->head, *result;
	bool structured = mcp_has(m->revision, MCP_STRUCTURED);
	const char *text;
	size_t len;

	m->head = NULL;
	base64_encode(data, m->text, m->len);
	json_add(v, "data:s", data);
	free(data);
	text = json_text(v, &len);
	result =
	    mcp_tool_result(text, len, structured ? text : NULL, len, false);
	json_object_put(v);
	return result;
}

static void on_artifact(void *arg, const struct store_result *res)
{
	const struct store_artifact *a = res->artifact;
	struct request *c = arg;
	struct json_object *v, *args;
	int64_t offset;

	if (!request_unref(c))
		return;
	args = json_member(c->msg.params, "arguments");
	if (res->rc != 0) {
		refuse_artifact(c, json_member_str(args, "artifactId"), res);
		return;
	}
	offset = json_member_int(args, "offset");
	v = json_pack("artifactId:s name:s mimeType:s size:i sha256:s "
		      "offset:i bytesReturned:i complete:b",
		      a->id, a->name, a->mime_type, a->size, a->sha256, offset,
		      res->len, offset + (int64_t)res->len >= a->size);
	response_send(c,
		      &(struct response){.make = make_artifact,
					 .text = res->len > 0 ? res->data : "",
					 .len = res->len,
					 .head = v});
}

static void get_artifact(struct request *c, struct json_object *args)
{
	struct context *ctx = c->session->ctx;
	struct json_object *given = json_member(args, "limit");
	int64_t most = config_inline_bytes(ctx->config);
	int64_t limit = given == NULL ? most : json_object_get_int64(given);
	struct schema_error err = {.pointer = "/limit", .keyword = "maximum"};
	struct tool_error r = {0};

	if (limit > most) {
		snprintf(err.expected, sizeof(err.expected), "at most %lld",
			 (long long)most);
		snprintf(
		    err.text, sizeof(err.text),
		    "/limit is %lld, but this server gives at most %lld "
		    "bytes at once (its max_artifact_inline_bytes, as far as "
		    "max_answer_bytes has room for it)",
		    (long long)limit, (long long)most);
		contract_tools_invalid(&r, "", &err);
		request_tool_error(c, &r);
		return;
	}
	request_ref_large(c);
	store_read_artifact(ctx->store, c->session->requestor->name,
			    json_member_str(args, "artifactId"),
			    json_member_int(args, "offset"), limit, on_artifact,
			    c);
}

/* ---- get_runtime_profile ---- */

/* max_cpu_ms is maxCpuMs to clients; the caller's. */
static char *camel(const char *key)
{
	char *text = xstrdup(key), *to = text;

	for (const char *s = key; *s != '\0'; s++) {
		*to = *s;
		if (*s == '_')
			*to = (char)toupper((unsigned char)*++s);
		to++;
	}
	*to = '\0';
	return text;
}

/* The keys of SECTION, whose struct is BASE, that clients see: from LEAST on. */
static struct json_object *limits_view(const char *section, const void *base,
				       int64_t least)
{
	struct json_object *v = json_object_new_object();
	size_t n;
	const struct config_key *keys = config_keys(&n);

	for (size_t i = 0; i < n; i++) {
		int64_t value;
		char *name;

		if (!keys[i].shown || strcmp(keys[i].section, section) != 0)
			continue;
		memcpy(&value, (const char *)base + keys[i].offset,
		       sizeof(value));
		if (value < least)
			continue;
		name = camel(keys[i].name);
		json_object_object_add(v, name, json_object_new_int64(value));
		free(name);
	}
	return v;
}

/* Can it be written, and is there room for all that runs may give? */
static struct json_object *store_view(const struct context *ctx)
{
	enum disk_space room = disk_space_lately(ctx->config);
	const char *sick = health_state(ctx->config, ctx->store);
	const char *reason = sick != NULL ? sick : disk_space_message(room);

	return json_pack("available:b reason?s",
			 sick == NULL && room != DISK_SPACE_SPENT, reason);
}

static void on_usage(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	struct requestor *q;
	const struct config *config;
	struct json_object *v, *usage, *limits;

	if (!request_unref(c))
		return;
	q = c->session->requestor;
	config = c->session->ctx->config;
	limits = limits_view("limits", config, 0);
	v = request_take_state(c); /* with the browser's part */
	usage = json_pack("running:i queued:i parked:i", q->lane.running,
			  q->lane.queued, q->parked);
	if (res->rc == 0)
		json_add(usage, "artifactBytes:i storeBytes:i",
			 res->artifact_bytes,
			 res->artifact_bytes + res->row_bytes);
	json_add(usage, "cpuMsThisHour:i", requestor_cpu_ms(q));
	json_add(limits, "maxArtifactInlineBytes:i",
		 config_inline_bytes(config));
	json_add(v,
		 "runtimeVersion:s limits:o requestorLimits:o requestor:s "
		 "trustLevel:s isolation:O",
		 PADDOCK_VERSION, limits,
		 limits_view(CONFIG_REQUESTOR, q->section, 1), q->name,
		 trust_name(session_trust(c->session)),
		 c->session->ctx->isolation->view);
	if (c->session->ctx->isolation->programs_known)
		json_add(v, "programs:o",
			 programs_view(c->session->ctx->isolation));
	json_add(v, "usage:o store:o health:o", usage,
		 store_view(c->session->ctx),
		 health_view(c->session->ctx,
			     session_trust(c->session) == TRUST_LOCAL));
	response_tool_result(c, v, false);
}

static void release_view(void *view)
{
	json_object_put(view);
}

static const struct request_ops profile_ops = {.free = release_view};

static void on_interpreters(void *arg, struct json_object *view)
{
	struct request *c = arg;
	struct json_object *v;

	if (!request_unref(c))
		return;
	v = request_take_state(c);
	json_add(v, "interpreters:O", view);
	request_set_state(c, &profile_ops, v);
	request_ref(c);
	store_usage(c->session->ctx->store, c->session->requestor->name,
		    on_usage, c);
}

static void on_browser(struct request *c, struct json_object *browser)
{
	request_set_state(c, &profile_ops, json_pack("browser:o", browser));
	request_ref(c);
	interpreters_ask(c->session->ctx->interpreters, on_interpreters, c);
}

static void get_profile(struct request *c, struct json_object *args)
{
	(void)args;
	browser_view(c, on_browser);
}
