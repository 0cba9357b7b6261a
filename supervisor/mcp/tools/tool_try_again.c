/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_try_again.c - retry_task_run: makes a run like an earlier run, from the
 * inputs in its row and the inputs in the call. contract_tools.c calls it by
 * its table; tool_run.c makes the run. A run which is unknown, has not ended or
 * lacks inputs is refused, with what to give again.
 */
#include "supervisor/mcp/tools/tool_run_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/json/json_pointer.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/mcp/tools/run_lookup.h"

/* in the message's params, beside the arguments */
#define INPUTS "inputs"
#define JOURNAL "journal"
#define DEEPEST 16 /* most tokens in a pointer of "members" */

/*
 * Inputs being merged on a thread; the request is held, and *lends* its
 * message.
 */
struct merging {
	struct request *request;
	struct template *template; /* a reference of its own */
	char *kept;		   /* JSON; owned; NULL: no inputs were kept */
	struct json_object *given; /* *lent* by the message; or NULL */
	struct json_object *members; /* *lent*: values by pointers */
	char *wrong; /* the first pointer of MEMBERS without a place */
	struct json_object *tree; /* owned: the merged inputs */
	char *text;		  /* owned: the text of TREE, or NULL */
	size_t len;
	bool told;
};

static struct json_object *args_of(const struct request *req)
{
	return json_member(req->msg.params, "arguments");
}

/* ---- refusals ---- */

static void refuse_inputs(struct request *req, const struct schema_error *err,
			  struct json_object *more)
{
	struct tool_error r = {0};

	contract_tools_invalid(&r, "", err);
	if (more != NULL) {
		json_object_object_foreach(more, key, value)
			json_object_object_add(r.details, key,
					       json_object_get(value));
		json_object_put(more);
	}
	request_tool_error(req, &r);
}

static void refuse_open(struct request *req, const char *status)
{
	struct schema_error err = {.pointer = "/runId",
				   .keyword = "status",
				   .expected = "a run that has ended"};

	snprintf(err.text, sizeof(err.text),
		 "the run is %s: it can be run again once it has ended",
		 status);
	refuse_inputs(req, &err, NULL);
}

/* Refuse REQ: no input was kept; LACK may have the reason. */
static void refuse_all(struct request *req, struct json_object *lack)
{
	struct schema_error err = {.pointer = "/inputs",
				   .keyword = "required",
				   .expected =
				       "all inputs, as run_task_template "
				       "takes them"};
	int64_t allowed = json_member_int(lack, "allowed");
	const char *who = json_member_str(lack, "whoCanRaise");

	if (who == NULL)
		snprintf(err.text, sizeof(err.text),
			 "the inputs of the run were not kept by the server "
			 "that ran it; give all of them again");
	else if (allowed == 0)
		snprintf(err.text, sizeof(err.text),
			 "the inputs of the run were not kept, since this "
			 "server keeps none (who can change that is %s); give "
			 "all of them again",
			 who);
	else
		snprintf(err.text, sizeof(err.text),
			 "the inputs of the run were not kept: they have %lld "
			 "bytes, and as many as %lld are kept (who can raise "
			 "that is %s); give all of them again",
			 (long long)json_member_int(lack, "bytes"),
			 (long long)allowed, who);
	refuse_inputs(req, &err, json_object_get(lack));
}

/* Refuse REQ, which lacks the secret inputs MISSING (*taken*). */
static void refuse_secret(struct request *req, struct json_object *missing)
{
	struct schema_error err = {.pointer = "/inputs", .keyword = "required"};
	struct buf names = {0};

	json_each(one, missing)
		buf_printf(&names, "%s%s", buf_len(&names) > 0 ? ", " : "",
			   json_object_get_string(one));
	buf_add(&names, "", 1);
	snprintf(err.expected, sizeof(err.expected), "values for: %.200s",
		 buf_data(&names));
	snprintf(err.text, sizeof(err.text),
		 "some inputs of the run are secret, so they were not kept; "
		 "give these again: %.200s",
		 buf_data(&names));
	buf_fini(&names);
	refuse_inputs(req, &err, json_pack("missing:o", missing));
}

/* Are all inputs in ROW or in GIVEN? False: REQ was answered. */
static bool has_all(struct request *req, const struct store_run *row,
		    struct json_object *given)
{
	struct json_object *lack = NULL, *missing = json_object_new_array();
	bool all = row->inputs != NULL || given != NULL;

	if (row->inputs_lack != NULL)
		json_parse(&lack, row->inputs_lack, strlen(row->inputs_lack),
			   NULL);
	json_each(name, row->inputs != NULL ? lack : NULL)
		if (json_member(given, json_object_get_string(name)) == NULL)
			json_object_array_add(missing, json_object_get(name));
	if (!all)
		refuse_all(req, lack);
	else if (json_object_array_length(missing) > 0)
		refuse_secret(req, json_object_get(missing));
	all = all && json_object_array_length(missing) == 0;
	json_object_put(missing);
	json_object_put(lack);
	return all;
}

/* ---- the inputs ---- */

static void submit_again(struct request *req, struct template *t)
{
	tool_run_submit(
	    req, t,
	    &(struct tool_run_order){
		.inputs = json_member(req->msg.params, INPUTS),
		.options = json_member(args_of(req), "options"),
		.retried_from = json_member_str(args_of(req), "runId"),
		.journal = json_member_str(req->msg.params, JOURNAL),
		.form = STORE_TASK_VIEW});
}

static struct json_object *copy_value(struct json_object *value)
{
	struct json_object *copy = NULL;

	if (value != NULL && json_object_deep_copy(value, &copy, NULL) < 0)
		abort();
	return copy;
}

/*
 * Put VALUE at POINTER in TREE, through objects alone; missing objects are
 * made. False: POINTER has no place.
 */
static bool put_member(struct json_object *tree, const char *pointer,
		       struct json_object *value)
{
	for (int depth = 0; pointer[0] == '/' && depth < DEEPEST; depth++) {
		char *token = json_pointer_token(&pointer);
		struct json_object *next = json_member(tree, token);

		if (pointer[0] == '\0') {
			json_object_object_add(tree, token, copy_value(value));
			free(token);
			return true;
		}
		if (next == NULL) {
			next = json_object_new_object();
			json_object_object_add(tree, token, next);
		}
		free(token);
		if (!json_object_is_type(next, json_type_object))
			return false;
		tree = next;
	}
	return false;
}

/* Merge; on a thread too, which has the only references to M's trees. */
static void merge_inputs(struct merging *m)
{
	if (m->kept != NULL)
		json_parse(&m->tree, m->kept, strlen(m->kept), NULL);
	if (!json_object_is_type(m->tree, json_type_object)) {
		json_object_put(m->tree);
		m->tree = json_object_new_object();
	}
	if (m->given != NULL) {
		json_object_object_foreach(m->given, key, value)
			json_object_object_add(m->tree, key, copy_value(value));
	}
	if (m->members != NULL) {
		json_object_object_foreach(m->members, key, value)
			if (m->wrong == NULL &&
			    !put_member(m->tree, key, value))
				m->wrong = xstrdup(key);
	}
}

static void continue_merging(struct merging *m)
{
	struct request *req = m->request;
	struct schema_error err = {
	    .pointer = "/members",
	    .keyword = "members",
	    .expected = "JSON Pointers through objects of the run's inputs"};

	if (m->wrong != NULL) {
		snprintf(err.text, sizeof(err.text),
			 "members has \"%.200s\", which leads through no "
			 "objects of the run's inputs; a JSON Pointer such as "
			 "/files/data.csv does, of at most %d names",
			 m->wrong, DEEPEST);
		refuse_inputs(req, &err, NULL);
		return;
	}
	free(req->msg
		 .inputs); /* these were only the call's part of the inputs */
	req->msg.inputs = m->text;
	req->msg.inputs_len = m->len;
	json_object_object_add(req->msg.params, INPUTS, m->tree);
	m->text = NULL;
	m->tree = NULL;
	tool_run_check_inputs(req,
			      &(struct tool_run_inputs){.template = m->template,
							.in = req->msg.params,
							.key = INPUTS,
							.prefix = "/inputs",
							.pass = submit_again});
}

static void merging_free(struct merging *m)
{
	template_unref(m->template);
	json_object_put(m->tree);
	free(m->kept);
	free(m->wrong);
	free(m->text);
	free(m);
}

static void on_thread(struct thread_pool_job *j, void *arg)
{
	struct merging *m = arg;
	const char *text;

	(void)j;
	merge_inputs(m);
	text = json_text(m->tree, &m->len);
	m->text = xstrndup(text, m->len);
}

static void on_merged(void *arg, const struct thread_pool_result *end)
{
	struct merging *m = arg;

	(void)end;
	m->told = true;
	if (request_unref(m->request))
		continue_merging(m);
}

static void drop_merging(void *arg)
{
	struct merging *m = arg;

	if (!m->told) /* the server ends; no client waits */
		request_unref(m->request);
	merging_free(m);
}

#define MERGE_CPU_MS 5000 /* far above the time for inputs and a message */

static const struct thread_pool_kind merge_kind = {.name = "merge",
						   .cpu_ms = MERGE_CPU_MS,
						   .work = on_thread,
						   .done = on_merged,
						   .drop = drop_merging};

static void merge_large(struct merging *m)
{
	struct request *req = m->request;

	request_ref(req);
	if (thread_pool_submit(req->ctx->thread_pool, req->requestor,
			       &merge_kind, m) != NULL)
		return;
	request_unref(req);
	merging_free(m);
	request_error(req, RPC_INTERNAL_ERROR, NULL, RPC_ASYNC_FULL);
}

/* ---- the run ---- */

/* Return the version asked for, else the run's own, else NULL: the newest. */
static const char *version_of(const struct request *req,
			      const struct store_run *row)
{
	const char *asked = json_member_str(args_of(req), "templateVersion");

	if (asked != NULL)
		return asked;
	return catalogue_find(req->session->ctx->catalogue, row->template_id,
			      row->version) != NULL
		   ? row->version
		   : NULL;
}

/*
 * Note where the new run finds the children of the run in ROW again. Whoever repeats a
 * success wants all of it done again.
 */
static void note_journal(struct request *req, const struct store_run *row)
{
	const char *journal = row->journal != NULL ? row->journal : row->id;

	json_object_object_del(req->msg.params, JOURNAL);
	if (row->status != STORE_SUCCEEDED)
		json_add(req->msg.params, JOURNAL ":s", journal);
}

static void on_inputs(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	const struct store_run *row = res->runs;
	struct template *t;
	struct merging *m;

	if (!request_unref(req) || tool_runs_failed(req, res))
		return;
	t = tool_run_wanted(req, row->template_id, version_of(req, row),
			    json_member(args_of(req), "options"));
	if (t == NULL || !has_all(req, row, json_member(args_of(req), INPUTS)))
		return;
	note_journal(req, row);
	m = xcalloc(1, sizeof(*m));
	*m = (struct merging){.request = req,
			      .template = template_ref(t),
			      .kept = xstrdup_opt(row->inputs),
			      .given = json_member(args_of(req), INPUTS),
			      .members = json_member(args_of(req), "members")};
	/* kept inputs count as if they came in the message */
	req->msg.bytes += m->kept != NULL ? strlen(m->kept) : 0;
	if (rpc_async_is_large(req->msg.bytes)) {
		merge_large(m);
		return;
	}
	merge_inputs(m);
	continue_merging(m);
	merging_free(m);
}

static void on_row_found(struct request *req, const struct run_found *f)
{
	if (f->run != NULL) {
		refuse_open(req, run_status(f->run));
		return;
	}
	if (tool_runs_failed(req, f->res))
		return;
	if (f->res->runs->status <= STORE_RUNNING) {
		refuse_open(req, run_json_status(f->res->runs->status));
		return;
	}
	request_ref_large(req);
	store_get_inputs(req->ctx->store, req->requestor->name,
			 f->res->runs->id, on_inputs, req);
}

/* Ask the owner of ROW only if it is dead: then the run has ended. */
static bool may_have_ended(const struct store_run *row)
{
	return row->owner == STORE_OWNER_DEAD;
}

void tool_try_again(struct request *req, struct json_object *args)
{
	run_lookup(req,
		   &(struct run_query){.want = RUN_LOOKUP_TASK,
				       .id = json_member_str(args, "runId"),
				       .found = on_row_found,
				       .fits = may_have_ended});
}
