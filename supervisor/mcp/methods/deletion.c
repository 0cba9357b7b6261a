/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deletion.c - paddock/deleteRuns and paddock/deleteArtifacts: deletes runs or
 * uploads by id, or all which ended or came before a time. methods.c calls it.
 * The store deletes step by step, so that no other request waits for all of
 * them; a client which goes ends the deletion. The answer says what was kept,
 * and why.
 */
#include "supervisor/mcp/methods/methods.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/exec/artifact_save.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/record/run_json.h"
#include "supervisor/mcp/tools/run_lookup.h"

struct deletion;

/* A kind of thing to delete, with its names and functions. */
struct kind {
	/* names of members: in params, and of a kept thing */
	const char *method, *ids, *id;
	const char *unknown; /* error code for an unknown id */
	const char *noun;
	/* Is ID a local run, whose row is not final? Then keep ID. */
	bool (*is_busy)(struct deletion *d, const char *id);
	void (*one)(struct store *s, const char *requestor, const char *id,
		    store_done done, void *arg);
	void (*some)(struct deletion *d, store_done done);
};

struct deletion { /* request.state */
	struct request *request;
	const struct kind *kind;
	/* *lent* by the request; NULL: delete by time */
	struct json_object *ids;
	size_t at; /* the next index in IDS */
	int64_t before_ms;
	/* of runs; the request *lends* its texts, but for FROM and BEFORE */
	struct store_filter f;
	char from[ID_SIZE]; /* of F */
	char before[ID_SIZE];
	const char *status;
	int64_t deleted;
	struct json_object *kept;
};

/* ---- the outcome ---- */

static void note_deleted(const struct deletion *d, const char *id, int64_t n)
{
	const struct requestor *q = d->request->requestor;

	if (d->kind->is_busy == NULL)
		audit_uploads_deleted(q, id, id != NULL ? 0 : d->before_ms, n);
	else
		audit_deleted(q, id, d->f.template_id, d->status,
			      id != NULL ? 0 : d->before_ms, n);
}

static void deletion_free(void *state)
{
	struct deletion *d = state;
	struct request *req = d->request;

	if (d->deleted > 0) {
		if (d->ids == NULL)
			note_deleted(d, NULL, d->deleted);
		artifact_save_count(req->ctx->store, req->requestor);
	}
	json_object_put(d->kept);
	free(d);
}

static const struct request_ops deletion_ops = {.free = deletion_free};

static void note_kept(struct deletion *d, const char *id, const char *code,
		      const char *reason)
{
	struct json_object *one =
	    json_pack("errorCode:s reason:s", code, reason);

	json_object_object_add(one, d->kind->id, json_text_new(id));
	json_object_array_add(d->kept, one);
}

static void answer_deletion(struct deletion *d)
{
	request_result(d->request,
		       json_pack("deleted:i kept:O", d->deleted, d->kept));
}

/* ---- by id ---- */

static void next_id(struct deletion *d);

/*
 * Note why the store did not delete ID. RUN: the run of an artifact, if known.
 */
static void keep_stored(struct deletion *d, const char *id, int rc,
			const char *run)
{
	char reason[160];

	if (rc == -ENOENT) {
		requestor_missed(d->request->requestor);
		snprintf(reason, sizeof(reason), "you have no %s \"%.64s\"",
			 d->kind->noun, id);
		note_kept(d, id, d->kind->unknown, reason);
	} else if (rc == -EBUSY) {
		note_kept(d, id, "RUN_NOT_ENDED",
			  "the run goes on at another server; cancel it first");
	} else if (rc == -EPERM) {
		snprintf(reason, sizeof(reason),
			 "the run %s made it, and it goes with that one", run);
		note_kept(d, id, "ARTIFACT_OF_RUN", reason);
	} else {
		snprintf(reason, sizeof(reason),
			 "the store cannot delete it now: %s", store_says(rc));
		note_kept(d, id, "STORE_UNAVAILABLE", reason);
	}
}

static void on_one(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct deletion *d = req->state;
	const char *id = json_object_get_string(
	    json_object_array_get_idx(d->ids, d->at - 1));

	if (res->rc == 0) {
		d->deleted++;
		note_deleted(d, id, 1);
	}
	if (!request_unref(req))
		return;
	if (res->rc != 0)
		keep_stored(d, id, res->rc,
			    res->artifact != NULL ? res->artifact->run_id : "");
	next_id(d);
}

static void next_id(struct deletion *d)
{
	struct request *req = d->request;

	while (d->at < json_object_array_length(d->ids)) {
		const char *id = json_object_get_string(
		    json_object_array_get_idx(d->ids, d->at++));

		if (d->kind->is_busy != NULL && d->kind->is_busy(d, id))
			continue;
		request_ref(req);
		d->kind->one(req->ctx->store, req->requestor->name, id, on_one,
			     req);
		return;
	}
	answer_deletion(d);
}

/* ---- by time ---- */

static void next_step(struct deletion *d);

static void on_step(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct deletion *d = req->state;

	d->deleted += res->rc == 0 ? res->total : 0;
	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		request_error(req, RPC_INTERNAL_ERROR,
			      json_pack("errorCode:s deleted:i",
					"STORE_UNAVAILABLE", d->deleted),
			      "the store cannot delete %ss now: %s",
			      d->kind->noun, store_says(res->rc));
		return;
	}
	for (size_t i = 0; i < res->n_runs; i++)
		keep_stored(d, res->runs[i].id, -EIO, "");
	for (size_t i = 0; i < res->n_artifacts; i++)
		keep_stored(d, res->artifacts[i].id, -EIO, "");
	if (res->next == NULL) {
		answer_deletion(d);
		return;
	}
	snprintf(d->from, sizeof(d->from), "%s", res->next);
	next_step(d);
}

static void next_step(struct deletion *d)
{
	request_ref(d->request);
	d->kind->some(d, on_step);
}

/* ---- runs ---- */

/* Keep ID if it is a local run, whose row is not final. */
static bool keep_ours(struct deletion *d, const char *id)
{
	const struct run *r = run_lookup_ours(d->request, id);

	if (r == NULL)
		return false;
	note_kept(d, r->id, "RUN_NOT_ENDED",
		  "the run goes on; cancel it first");
	return true;
}

static void some_runs(struct deletion *d, store_done done)
{
	store_delete_ended(d->request->ctx->store, &d->f, d->before_ms, done,
			   d->request);
}

static const struct kind runs = {"paddock/deleteRuns", "runIds", "runId",
				 "RUN_NOT_FOUND",      "run",	 keep_ours,
				 store_delete_run,     some_runs};

/* ---- uploads ---- */

static void some_uploads(struct deletion *d, store_done done)
{
	struct request *req = d->request;

	store_delete_uploads(req->ctx->store, req->requestor->name, d->from,
			     d->before_ms, done, req);
}

static const struct kind uploads = {
    "paddock/deleteArtifacts", "artifactIds", "artifactId",
    "ARTIFACT_NOT_FOUND",      "artifact",    NULL,
    store_delete_upload,       some_uploads};

/* ---- the request ---- */

/* Refuse REQ if IDS are malformed. Returns whether they are. */
static bool is_wrong_ids(struct request *req, const struct kind *k,
			 struct json_object *ids)
{
	const char *errmsg = NULL;

	if (json_member(req->msg.params, "before") != NULL)
		errmsg = "and params.before cannot go together; ask for one of "
			 "them at a time";
	else if (!json_object_is_type(ids, json_type_array))
		errmsg = "has to be an array of strings";
	else if (json_length(ids) > DELETION_MAX)
		errmsg = "has more than 1000 ids; ask again with the others";
	if (errmsg == NULL)
		json_each(id, ids)
			if (!json_object_is_type(id, json_type_string))
				errmsg = "has to be an array of strings";
	if (errmsg != NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL, "params.%s %s",
			      k->ids, errmsg);
	return errmsg != NULL;
}

static bool is_wrong_before(struct request *req, const struct kind *k)
{
	struct json_object *before = json_member(req->msg.params, "before");

	if (json_object_is_type(before, json_type_int) &&
	    json_object_get_int64(before) >= 0)
		return false;
	request_error(req, RPC_INVALID_PARAMS, NULL,
		      "%s needs params.%s, an array of ids, or params.before, "
		      "milliseconds since 1970",
		      k->method, k->ids);
	return true;
}

static bool is_wrong_filter(struct request *req, int *status)
{
	struct json_object *template =
	    json_member(req->msg.params, "templateId");
	struct json_object *of = json_member(req->msg.params, "status");
	const char *errmsg = NULL;

	*status = -1;
	if (of != NULL && json_object_is_type(of, json_type_string))
		*status = run_json_status_parse(json_object_get_string(of));
	if (template != NULL &&
	    !json_object_is_type(template, json_type_string))
		errmsg = "params.templateId has to be a string";
	else if (of != NULL && *status <= STORE_RUNNING)
		errmsg = "params.status has to be that of a run that has "
			 "ended: succeeded, partial_success, failed or "
			 "canceled";
	if (errmsg != NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL, "%s", errmsg);
	return errmsg != NULL;
}

static void begin_deletion(struct request *req, const struct kind *kind,
			   struct json_object *ids, int status)
{
	struct json_object *params = req->msg.params;
	struct deletion *d = xcalloc(1, sizeof(*d));

	*d = (struct deletion){
	    .request = req,
	    .kind = kind,
	    .ids = ids,
	    .before_ms = json_member_int(params, "before"),
	    .f = {.requestor = req->requestor->name,
		  .status = status,
		  .template_id = json_member_str(params, "templateId")},
	    .status = json_member_str(params, "status"),
	    .kept = json_object_new_array(),
	};
	d->f.from = d->from;
	d->f.before = d->before;
	/* a run which began later has not ended before that time */
	id_since(d->before, "run", d->before_ms);
	request_set_state(req, &deletion_ops, d);
	(ids != NULL ? next_id : next_step)(d);
}

static void delete (struct request *req, const struct kind *k)
{
	struct json_object *ids = json_member(req->msg.params, k->ids);
	int status = -1;

	if (ids != NULL ? is_wrong_ids(req, k, ids)
			: is_wrong_before(req, k) ||
			      (k == &runs && is_wrong_filter(req, &status)))
		return;
	begin_deletion(req, k, ids, status);
}

void deletion_runs(struct request *req)
{
	delete (req, &runs);
}

void deletion_artifacts(struct request *req)
{
	delete (req, &uploads);
}
