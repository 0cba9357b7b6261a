/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - completion/complete: values for arguments of prompts and of
 * paddock's resources. methods.c calls it by its table. An unknown argument and
 * a store without an answer give an empty list, since completion is only a
 * help.
 */
#include "supervisor/mcp/methods/methods.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/session/result/resource_uri.h"
#include "supervisor/mcp/methods/prompts.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/mcp/tools/tools.h"
#include "supervisor/session/response.h"

/* ---- the answer ---- */

struct values {
	struct json_object *list;
	/* the beginning of each value; borrowed from the call */
	const char *begin;
	size_t total;
};

static struct values values_of(const struct request *req)
{
	struct json_object *arg = json_member(req->msg.params, "argument");

	return (struct values){.list = json_object_new_array(),
			       .begin = json_member_str(arg, "value")};
}

static void offer(struct values *v, const char *text)
{
	if (text == NULL || strncmp(text, v->begin, strlen(v->begin)) != 0)
		return;
	if (v->total++ < COMPLETION_MAX)
		json_object_array_add(v->list, json_text_new(text));
}

static struct json_object *result_of(const struct values *v)
{
	return json_pack("completion:o",
			 json_pack("values:o total:i hasMore:b", v->list,
				   v->total, v->total > COMPLETION_MAX));
}

static void answer_values(struct request *req, struct values *v)
{
	request_result(req, result_of(v));
}

static const char *argument_name(const struct request *req)
{
	return json_member_str(json_member(req->msg.params, "argument"),
			       "name");
}

/* ---- prompts ---- */

static void complete_prompt(struct request *req, struct json_object *ref)
{
	const char *name = json_member_str(ref, "name");
	const struct catalogue_entry *o =
	    name != NULL ? prompts_find(req, name) : NULL;
	struct json_object *list;
	struct values v;

	if (o == NULL) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.ref.name is no prompt here; prompts/list "
			      "names them");
		return;
	}
	list = json_member(json_member(o->def, "complete"), argument_name(req));
	v = values_of(req);
	for (size_t i = 0; list != NULL && i < json_object_array_length(list);
	     i++)
		offer(&v, json_object_get_string(
			      json_object_array_get_idx(list, i)));
	answer_values(req, &v);
}

/* ---- resources ---- */

static void nothing(struct request *req)
{
	struct values v = values_of(req);

	answer_values(req, &v);
}

static void on_runs(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct values v;

	if (!request_unref(req))
		return;
	v = values_of(req);
	for (size_t i = 0; i < res->n_runs; i++)
		offer(&v, res->runs[i].id);
	answer_values(req, &v);
}

static void complete_run(struct request *req)
{
	struct context *ctx = req->session->ctx;
	struct store_filter f = {.requestor = req->session->requestor->name,
				 .status = -1,
				 .limit = COMPLETION_MAX};

	request_ref_large(req);
	store_list_runs(ctx->store, &f, on_runs, req);
}

/*
 * Offer the artifacts which the view M->text of an ended run names; M->head is
 * the beginning of each. The view has the result, too, of any size, so a thread
 * may call this.
 */
static struct json_object *make_artifacts(struct response *m)
{
	struct values v = {.list = json_object_new_array(),
			   .begin = json_object_get_string(m->head)};
	struct json_object *list = NULL;
	struct json_span at;
	size_t n;

	if (json_find(&at, m->text, m->len, "artifacts") == 0)
		(void)json_parse(&list, m->text + at.off, at.len, NULL);
	n = json_length(list);
	for (size_t i = 0; i < n; i++)
		offer(&v, json_member_str(json_object_array_get_idx(list, i),
					  "artifactId"));
	json_object_put(list);
	return result_of(&v);
}

static void on_view(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	const char *view = res->rc == 0 ? res->runs[0].view : NULL;
	struct values none;

	if (!request_unref(req))
		return;
	if (res->rc == -ENOENT)
		requestor_missed(req->session->requestor);
	none = values_of(req);
	if (view == NULL) {
		answer_values(req, &none);
		return;
	}
	response_send(req,
		      &(struct response){.make = make_artifacts,
					 .text = view,
					 .len = strlen(view),
					 .head = json_text_new(none.begin)});
	json_object_put(none.list);
}

static void complete_artifact(struct request *req)
{
	struct json_object *context = json_member(req->msg.params, "context");
	const char *run_id =
	    json_member_str(json_member(context, "arguments"), "runId");
	struct context *ctx = req->session->ctx;
	struct values v;
	struct run *r;

	if (run_id == NULL || !id_ok(run_id, "run")) {
		nothing(req);
		return;
	}
	r = runs_find(ctx->runs, req->session->requestor, run_id);
	if (r == NULL) {
		request_ref_large(req);
		store_get_run(ctx->store, req->session->requestor->name, run_id,
			      on_view, req);
		return;
	}
	v = values_of(req);
	for (size_t i = 0; i < r->n_artifacts; i++)
		offer(&v, r->artifacts[i].id);
	answer_values(req, &v);
}

static const struct {
	const char *name;
	void (*complete)(struct request *req);
} own[] = {{"runId", complete_run}, {"artifactId", complete_artifact}};

static void complete_resource(struct request *req, struct json_object *ref)
{
	const char *uri = json_member_str(ref, "uri");
	const struct catalogue_index *offers =
	    req->session->ctx->catalogue->offers;
	const struct catalogue_entry *o;

	if (uri == NULL) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.ref needs uri, a string");
		return;
	}
	if (strncmp(uri, RESOURCE_URI_RUNS, strlen(RESOURCE_URI_RUNS)) == 0) {
		for (size_t i = 0; i < ARRAY_LEN(own); i++)
			if (strcmp(own[i].name, argument_name(req)) == 0) {
				own[i].complete(req);
				return;
			}
		nothing(req);
		return;
	}
	o = tools_offer(req->session, &offers->patterns, uri);
	if (o != NULL)
		nothing(req); /* templates list no values */
	else
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.ref.uri is no resource template here; "
			      "resources/templates/list names them");
}

static const struct {
	const char *type;
	void (*complete)(struct request *req, struct json_object *ref);
} refs[] = {{"ref/prompt", complete_prompt},
	    {"ref/resource", complete_resource}};

void completion_complete(struct request *req)
{
	struct json_object *arg = json_member(req->msg.params, "argument");
	struct json_object *ref = json_member(req->msg.params, "ref");
	const char *type = json_member_str(ref, "type");

	for (size_t i = 0; type != NULL && i < ARRAY_LEN(refs); i++) {
		if (strcmp(refs[i].type, type) != 0)
			continue;
		if (json_member_str(arg, "name") == NULL ||
		    json_member_str(arg, "value") == NULL)
			break;
		refs[i].complete(req, ref);
		return;
	}
	request_error(
	    req, RPC_INVALID_PARAMS, NULL,
	    "completion/complete needs params.ref, with the type "
	    "ref/prompt or ref/resource, and params.argument with name "
	    "and value, strings");
}
