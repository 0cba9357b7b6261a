/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_run_inputs.c - checks the inputs of a call by the template's schema, for
 * tool_run.c. A long check is done on a thread; inputs which fail, or cost too
 * much to check, are refused.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/requestor/admission.h"
#include "supervisor/run/threads/validation.h"

/* request.state during a check on a thread */
struct checked {
	struct request *request;
	struct validation_job *job; /* NULL: done */
	struct tool_run_inputs inputs;
};

static void checked_free(void *state)
{
	struct checked *k = state;

	if (k->job != NULL)
		validation_cancel(k->job);
	free(k);
}

static const struct request_ops checked_ops = {.free = checked_free};

static void settle_inputs(struct request *req, const struct tool_run_inputs *i,
			  const struct validation *v)
{
	struct tool_error r = {0};
	struct json_object *d;
	char *pointer, *text;

	if (v->rc == 0) {
		i->pass(req, i->template);
		return;
	}
	if (v->rc == -EINVAL) {
		contract_tools_invalid(&r, i->prefix, &v->err);
	} else {
		d = validation_details(v, "inputsSchema");
		pointer = xasprintf("%s%s", i->prefix, v->err.pointer);
		text = validation_message(v, i->template, "inputsSchema");
		json_add(d, "pointer:s", pointer);
		tool_error_set(&r, "RESOURCE_LIMIT", d, "%s", text);
		free(pointer);
		free(text);
	}
	request_tool_error(req, &r);
}

static void on_checked(void *arg, const struct validation *v,
		       struct json_object *tree)
{
	struct checked *k = arg;
	struct tool_run_inputs i = k->inputs;
	struct request *req = k->request;

	k->job = NULL;
	checked_free(request_take_state(req));
	json_object_object_add(i.in, i.key, tree);
	settle_inputs(req, &i, v);
}

/* Check on a thread, which needs the only reference to the tree. */
static void check_later(struct request *req, const struct tool_run_inputs *i,
			const struct validation *v)
{
	struct json_object *tree;
	struct tool_error r = {0};
	struct checked *k;

	if (!admission_check_cpu(req->session->requestor, &r)) {
		request_tool_error(req, &r);
		return;
	}
	tree = json_object_get(json_member(i->in, i->key));
	k = xcalloc(1, sizeof(*k));
	json_object_object_del(i->in, i->key);
	*k = (struct checked){.request = req, .inputs = *i};
	k->job = validation_submit(
	    req->session->ctx->thread_pool, req->session->requestor, v,
	    i->template, i->template->inputs, tree, tree, on_checked, k);
	request_set_state(req, &checked_ops, k);
	if (k->job != NULL)
		return;
	json_object_put(tree);
	validation_refuse_busy(&r);
	request_tool_error(req, &r);
}

void tool_run_check_inputs(struct request *req, const struct tool_run_inputs *i)
{
	struct validation v;

	if (validation_try(&v, req->session->requestor, i->template->inputs,
			   json_member(i->in, i->key)))
		settle_inputs(req, i, &v);
	else
		check_later(req, i, &v);
}
