/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contract_tools.c - the tools of the contract and retry_task_run, from
 * contract_tools.json, and get_runtime_profile. tools.c calls each tool by its
 * row. A fault in contract_tools.json aborts; a failing store is answered as
 * STORE_UNAVAILABLE.
 */
#include "supervisor/mcp/tools/contract_tools.h"

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
#include "supervisor/store/state/disk_space.h"
#include "supervisor/run/health/health.h"
#include "supervisor/packages/grants/grants.h"
#include "supervisor/run/health/interpreters.h"
#include "supervisor/run/worker/programs.h"
#include "supervisor/mcp/proposals/proposals.h"
#include "supervisor/mcp/tools/tools.h"

EMBED(contract_json, "supervisor/mcp/tools/contract_tools.json");

static void get_profile(struct request *req, struct json_object *args);

static struct contract_tool tools[CONTRACT_TOOLS] = {
    {.name = "list_task_templates", .serve = tool_templates_list},
    {.name = "run_task_template", .serve = tool_run_template},
    {.name = "get_task_run", .serve = tool_runs_get},
    {.name = "list_task_runs", .serve = tool_runs_list},
    {.name = "cancel_task_run", .serve = tool_runs_cancel},
    {.name = "get_artifact", .serve = tool_artifact_get},
    {.name = "get_runtime_profile", .serve = get_profile},
    {.name = "retry_task_run", .serve = tool_try_again, .answers_run = true},
    {.name = "search_task_templates", .serve = tool_search},
    {.name = "propose_grant", .serve = tool_propose},
};

static struct json_object *definitions;

/* Return the outputSchema of run_task_template. */
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

/* ---- get_runtime_profile ---- */

/* Return KEY as clients see it (max_cpu_ms: maxCpuMs); the caller frees it. */
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

/*
 * List the public keys of SECTION, whose struct is BASE, from the value LEAST
 * on.
 */
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

/* Say whether the store can be written, with room for the results of runs. */
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
	struct request *req = arg;
	struct requestor *q;
	const struct config *config;
	struct json_object *v, *usage, *limits;

	if (!request_unref(req))
		return;
	q = req->session->requestor;
	config = req->session->ctx->config;
	limits = limits_view("limits", config, 0);
	v = request_take_state(req); /* a view with the browser's part */
	usage = json_pack("running:i queued:i parked:i",
			  q->lane.running + q->lane.lent[0], q->lane.queued,
			  q->parked);
	if (res->rc == 0)
		json_add(usage, "artifactBytes:i storeBytes:i",
			 res->artifact_bytes,
			 res->artifact_bytes + res->row_bytes);
	json_add(usage, "cpuMsThisHour:i memoryBytes:i memoryRefused:i",
		 requestor_cpu_ms(q), (int64_t)q->memory.held,
		 (int64_t)q->memory.refused);
	json_add(limits, "maxArtifactInlineBytes:i",
		 config_inline_bytes(config));
	json_add(v,
		 "runtimeVersion:s limits:o requestorLimits:o requestor:s "
		 "trustLevel:s isolation:O",
		 PADDOCK_VERSION, limits,
		 limits_view(CONFIG_REQUESTOR, q->section, 1), q->name,
		 trust_name(session_trust(req->session)),
		 req->session->ctx->isolation->view);
	if (req->session->ctx->isolation->programs_known)
		json_add(v, "programs:o",
			 programs_view(req->session->ctx->isolation));
	json_add(v, "usage:o store:o health:o", usage,
		 store_view(req->session->ctx),
		 health_view(req->session->ctx,
			     session_trust(req->session) == TRUST_LOCAL));
	response_tool_result(req, v, false);
}

static void release_view(void *view)
{
	json_object_put(view);
}

static const struct request_ops profile_ops = {.free = release_view};

static void on_interpreters(void *arg, struct json_object *view)
{
	struct request *req = arg;
	struct json_object *v;

	if (!request_unref(req))
		return;
	v = request_take_state(req);
	json_add(v, "interpreters:O", view);
	request_set_state(req, &profile_ops, v);
	request_ref(req);
	store_usage(req->session->ctx->store, req->session->requestor->name,
		    on_usage, req);
}

static void on_browser(struct request *req, struct json_object *browser)
{
	request_set_state(req, &profile_ops, json_pack("browser:o", browser));
	request_ref(req);
	interpreters_ask(req->session->ctx->interpreters, on_interpreters, req);
}

static void get_profile(struct request *req, struct json_object *args)
{
	(void)args;
	browser_view(req, on_browser);
}
