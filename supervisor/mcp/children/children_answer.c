/* SPDX-License-Identifier: Apache-2.0 */
/*
 * children_answer.c - makes the answer to a run's call of a template: the child's
 * output, or an error. The view of a child is not parsed, since it may be large.
 * children.c calls; an answer that is too long becomes an error that names the run.
 */
#include "supervisor/mcp/children/children_private.h"

#include <string.h>

#include "base/mem.h"
#include "ipc/msg.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_write.h"
#include "proto/mcp/rpc.h"
#include "supervisor/run/record/run_json.h"

#define REST 65536	     /* bytes of an answer beside the output */
#define VIEW_REST (4u << 20) /* bytes of a view beside the output, at most */

struct span {
	const char *text;
	size_t len;
};

static struct span member_of(struct span whole, const char *key)
{
	struct json_span at;

	if (whole.text == NULL ||
	    json_find(&at, whole.text, whole.len, key) < 0)
		return (struct span){0};
	return (struct span){whole.text + at.off, at.len};
}

/* Return the member KEY of WHOLE as a tree, the caller's; NULL: missing, or too long. */
static struct json_object *tree_of(struct span whole, const char *key)
{
	struct span v = member_of(whole, key);
	struct json_object *tree = NULL;

	if (v.text != NULL && v.len < REST)
		json_parse(&tree, v.text, v.len, NULL);
	return tree;
}

/* Make an error of CODE; DETAILS is taken. */
static void set_error(struct child_answer *out, const char *code,
		      const char *message, struct json_object *details)
{
	out->ok = false;
	json_open(&out->text, NULL);
	json_write(&out->text, "code:s message:s details?o", code, message,
		   details);
	json_close(&out->text);
}

static void put_raw(struct buf *out, const char *key, struct span v)
{
	if (v.text != NULL)
		json_write_raw(out, key, v.text, v.len);
}

static void set_too_large(struct child_answer *out,
			  const struct run_result_source *a, size_t bytes)
{
	char *uri = xasprintf("paddock://runs/%s/result", a->id);
	char *errmsg = xasprintf(
	    "the output of the called run %s has %zu bytes, and a call "
	    "answers with at most %d: have the called template keep an "
	    "artifact and answer with the artifact's id",
	    a->id, bytes, (int)MSG_ANSWER_MAX - REST);

	set_error(out, "ANSWER_TOO_LARGE", errmsg,
		  json_pack("runId:s status:s resultUri:s resultBytes:i", a->id,
			    run_json_status(a->status), uri, bytes));
	free(errmsg);
	free(uri);
}

static void set_failure(struct child_answer *out,
			const struct run_result_source *a, struct span view)
{
	struct json_object *e = tree_of(view, "error");
	struct json_object *id = tree_of(view, "templateId");
	struct json_object *details = json_member(e, "details");
	/* for RUN_CANCELED a worker would take the caller as cancelled */
	const char *code = a->status == STORE_CANCELED
			       ? "CALL_CANCELED"
			       : json_member_str(e, "errorCode");
	const char *message = json_member_str(e, "message");

	details = details != NULL ? json_object_get(details)
				  : json_object_new_object();
	json_add(details, "runId:s templateId:O status:s", a->id, id,
		 run_json_status(a->status));
	set_error(out, code != NULL ? code : "EXECUTION_ERROR",
		  message != NULL ? message
				  : "the called template answered with an "
				    "error of its own",
		  details);
	json_object_put(id);
	json_object_put(e);
}

void child_answer_run(struct child_answer *out,
		      const struct run_result_source *a)
{
	struct span view = {a->view, strlen(a->view)};
	struct span output, artifacts;

	if (a->status == STORE_FAILED || a->status == STORE_CANCELED) {
		set_failure(out, a, view);
		return;
	}
	/* the search for members goes through all bytes */
	if (view.len > MSG_ANSWER_MAX + VIEW_REST) {
		set_too_large(out, a, view.len);
		return;
	}
	output = member_of(view, "result");
	artifacts = member_of(view, "artifacts");
	if (output.len + artifacts.len > MSG_ANSWER_MAX - REST) {
		set_too_large(out, a, output.len + artifacts.len);
	} else {
		out->ok = true;
		json_open(&out->text, NULL);
		json_write(&out->text, "runId:s status:s", a->id,
			   run_json_status(a->status));
		put_raw(&out->text, "output", output);
		put_raw(&out->text, "artifacts", artifacts);
		json_close(&out->text);
	}
}

/* Make an answer of a tool's refusal {error, errorCode, details?}, JSON in TEXT. */
static void set_refusal(struct child_answer *out, const char *text)
{
	struct json_object *o =
	    text != NULL ? json_unpack(text, strlen(text)) : NULL;
	const char *code = json_member_str(o, "errorCode");
	const char *message = json_member_str(o, "error");

	set_error(out, code != NULL ? code : "CALL_FAILED",
		  message != NULL ? message : "the call was not answered",
		  json_object_get(json_member(o, "details")));
	json_object_put(o);
}

static void set_rpc_error(struct child_answer *out, struct json_object *e)
{
	struct json_object *data = json_member(e, "data");
	const char *code = json_member_str(data, "errorCode");

	if (code == NULL)
		code = json_member_int(e, "code") == RPC_INVALID_PARAMS
			   ? "INVALID_PARAMETER"
			   : "CALL_FAILED";
	set_error(out, code, json_member_str(e, "message"),
		  json_object_get(data));
}

/* O: the response to a call that was refused. */
static void set_refused(struct child_answer *out, struct json_object *o)
{
	struct json_object *e = json_member(o, "error");
	struct json_object *content =
	    json_member(json_member(o, "result"), "content");

	if (e != NULL)
		set_rpc_error(out, e);
	else
		set_refusal(
		    out, json_member_str(json_object_array_get_idx(content, 0),
					 "text"));
}

static void set_found(struct child_answer *out, struct span found)
{
	if (found.len <= MSG_ANSWER_MAX) {
		out->ok = true;
		buf_add(&out->text, found.text, found.len);
	} else {
		set_error(out, "ANSWER_TOO_LARGE",
			  "what the tool answered does not fit into an answer "
			  "to a run: ask for less, by limit, detail or length",
			  NULL);
	}
}

void child_answer_response(struct child_answer *out, const char *text,
			   size_t len)
{
	struct span result = member_of((struct span){text, len}, "result");
	struct span found = member_of(result, "structuredContent");
	struct json_object *o;

	if (found.text != NULL && member_of(result, "isError").len != 4) {
		set_found(out, found);
		return;
	}
	o = json_unpack(text, len);
	set_refused(out, o);
	json_object_put(o);
}

void child_answer_refusal(struct child_answer *out, struct tool_error *e)
{
	set_error(out, e->code, e->message, json_object_get(e->details));
	tool_error_fini(e);
}
