/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete_runs.c - serves paddock/deleteRuns: runs that are named, or all that
 * ended before a time. methods.c calls it. The store is asked for one step after
 * the other, so that nobody waits for all of them; who is gone meanwhile ends it.
 * A run that is not deleted is in the answer, with why.
 */
#include "supervisor/methods/delete_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/exec/artifact_save.h"
#include "supervisor/run/audit.h"
#include "supervisor/run/run_json.h"
#include "supervisor/tools/run_lookup.h"

struct deletion { /* request.state */
	struct request *request;
	struct json_object *ids; /* lent by the request; NULL: by time */
	size_t at;		 /* of these: the next */
	int64_t before_ms;
	struct store_filter f; /* its texts are the request's, but… */
	char from[ID_SIZE];    /* …these two */
	char before[ID_SIZE];
	const char *status;
	int64_t deleted;
	struct json_object *kept;
};

/* ---- what came of it ---- */

static void deletion_free(void *state)
{
	struct deletion *d = state;
	struct request *c = d->request;

	if (d->deleted > 0) {
		if (d->ids == NULL)
			audit_deleted(c->requestor, NULL, d->f.template_id,
				      d->status, d->before_ms, d->deleted);
		artifact_save_count(c->ctx->store, c->requestor);
	}
	json_object_put(d->kept);
	free(d);
}

static const struct request_ops deletion_ops = {.free = deletion_free};

static void keep(struct deletion *d, const char *id, const char *code,
		 const char *reason)
{
	json_object_array_add(d->kept, json_pack("runId:s errorCode:s reason:s",
						 id, code, reason));
}

static void answer(struct deletion *d)
{
	request_result(d->request,
		       json_pack("deleted:i kept:O", d->deleted, d->kept));
}

/* ---- by their ids ---- */

static void next_id(struct deletion *d);

/* Why the store has not deleted ID. */
static void keep_stored(struct deletion *d, const char *id, int rc)
{
	char reason[160];

	if (rc == -ENOENT) {
		requestor_missed(d->request->requestor);
		snprintf(reason, sizeof(reason), "you have no run \"%.64s\"",
			 id);
		keep(d, id, "RUN_NOT_FOUND", reason);
	} else if (rc == -EBUSY) {
		keep(d, id, "RUN_NOT_ENDED",
		     "the run goes on at another server; cancel it first");
	} else {
		snprintf(reason, sizeof(reason),
			 "the store cannot delete it now: %s", store_says(rc));
		keep(d, id, "STORE_UNAVAILABLE", reason);
	}
}

static void on_one(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	struct deletion *d = c->state;
	const char *id = json_object_get_string(
	    json_object_array_get_idx(d->ids, d->at - 1));

	if (res->rc == 0) {
		d->deleted++;
		audit_deleted(c->requestor, id, NULL, NULL, 0, 1);
	}
	if (!request_unref(c))
		return;
	if (res->rc != 0)
		keep_stored(d, id, res->rc);
	next_id(d);
}

/* R is ours, so that its row is not the last word on it. */
static void keep_ours(struct deletion *d, const struct run *r)
{
	keep(d, r->id, "RUN_NOT_ENDED",
	     run_terminal(r) ? "the run has ended, but that is not recorded "
			       "yet; delete it in a moment"
			     : "the run goes on; cancel it first");
}

static void next_id(struct deletion *d)
{
	struct request *c = d->request;

	while (d->at < json_object_array_length(d->ids)) {
		const char *id = json_object_get_string(
		    json_object_array_get_idx(d->ids, d->at++));
		const struct run *r = run_lookup_ours(c, id);

		if (r != NULL) {
			keep_ours(d, r);
			continue;
		}
		request_ref(c);
		store_delete_run(c->ctx->store, c->requestor->name, id, on_one,
				 c);
		return;
	}
	answer(d);
}

/* ---- by their time ---- */

static void next_step(struct deletion *d);

static void on_step(void *arg, const struct store_result *res)
{
	struct request *c = arg;
	struct deletion *d = c->state;

	d->deleted += res->rc == 0 ? res->total : 0;
	if (!request_unref(c))
		return;
	if (res->rc != 0) {
		request_error(c, RPC_INTERNAL_ERROR,
			      json_pack("errorCode:s deleted:i",
					"STORE_UNAVAILABLE", d->deleted),
			      "the store cannot delete runs now: %s",
			      store_says(res->rc));
		return;
	}
	for (size_t i = 0; i < res->n_runs; i++)
		keep_stored(d, res->runs[i].id, -EIO);
	if (res->next == NULL) {
		answer(d);
		return;
	}
	snprintf(d->from, sizeof(d->from), "%s", res->next);
	next_step(d);
}

static void next_step(struct deletion *d)
{
	struct request *c = d->request;

	request_ref(c);
	store_delete_ended(c->ctx->store, &d->f, d->before_ms, on_step, c);
}

/* ---- what is asked for ---- */

/* NULL, or what is wrong with PARAMS. */
static const char *wrong_ids(struct json_object *params,
			     struct json_object *ids)
{
	if (json_member(params, "before") != NULL)
		return "params.runIds and params.before cannot go together; "
		       "ask for one of them at a time";
	if (!json_object_is_type(ids, json_type_array))
		return "params.runIds has to be an array of strings";
	if (json_length(ids) > DELETE_RUNS_MAX)
		return "params.runIds has more than 1000 ids; ask again with "
		       "the others";
	json_each(id, ids)
		if (!json_object_is_type(id, json_type_string))
			return "params.runIds has to be an array of strings";
	return NULL;
}

static const char *wrong_filter(struct json_object *params, int *status)
{
	struct json_object *before = json_member(params, "before");
	struct json_object *template = json_member(params, "templateId");
	struct json_object *of = json_member(params, "status");

	*status = -1;
	if (!json_object_is_type(before, json_type_int) ||
	    json_object_get_int64(before) < 0)
		return "paddock/deleteRuns needs params.runIds, an array of "
		       "ids, or params.before, milliseconds since 1970";
	if (template != NULL &&
	    !json_object_is_type(template, json_type_string))
		return "params.templateId has to be a string";
	if (of != NULL && json_object_is_type(of, json_type_string))
		*status = run_json_status_parse(json_object_get_string(of));
	if (of != NULL && *status <= STORE_RUNNING)
		return "params.status has to be that of a run that has ended: "
		       "succeeded, partial_success, failed or canceled";
	return NULL;
}

static void begin(struct request *c, struct json_object *ids, int status)
{
	struct json_object *params = c->msg.params;
	struct deletion *d = xcalloc(1, sizeof(*d));

	*d = (struct deletion){
	    .request = c,
	    .ids = ids,
	    .before_ms = json_member_int(params, "before"),
	    .f = {.requestor = c->requestor->name,
		  .status = status,
		  .template_id = json_member_str(params, "templateId")},
	    .status = json_member_str(params, "status"),
	    .kept = json_object_new_array(),
	};
	d->f.from = d->from;
	d->f.before = d->before;
	/* what began later has not ended before that */
	id_since(d->before, "run", d->before_ms);
	request_set_state(c, &deletion_ops, d);
	(ids != NULL ? next_id : next_step)(d);
}

void delete_runs(struct request *c)
{
	struct json_object *ids = json_member(c->msg.params, "runIds");
	int status = -1;
	const char *errmsg = ids != NULL ? wrong_ids(c->msg.params, ids)
					 : wrong_filter(c->msg.params, &status);

	if (errmsg != NULL)
		request_error(c, RPC_INVALID_PARAMS, NULL, "%s", errmsg);
	else
		begin(c, ids, status);
}
