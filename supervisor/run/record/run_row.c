/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_row.c - writes a run as a row of the store, and makes a queued run of
 * such a row for another instance. Of the inputs the row keeps none above the
 * bound, and no possible secret; in doubt an input is secret. exec/ calls it. When
 * a row cannot be written the store tells the caller's callback; no function here
 * waits.
 */
#include "supervisor/run/record/run_row.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/run/record/task_json.h"

/* ---- the inputs that the row keeps ---- */

static bool is_one_of(const char *key, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], key) == 0)
			return true;
	return false;
}

/* May a value of SCHEMA, or a part of the value, be secret? */
static bool may_be_secret(struct json_object *schema)
{
	static const char *const refs[] = {"$ref", "$dynamicRef",
					   "$recursiveRef"};

	json_each(one, schema)
		if (may_be_secret(one))
			return true;
	if (!json_object_is_type(schema, json_type_object))
		return false;
	json_object_object_foreach(schema, key, value) {
		if ((strcmp(key, "writeOnly") == 0 &&
		     json_object_get_boolean(value)) ||
		    is_one_of(key, refs, ARRAY_LEN(refs)) ||
		    may_be_secret(value))
			return true;
	}
	return false;
}

/* Has SCHEMA a rule beside its properties by which any member may be secret? */
static bool all_may_be_secret(struct json_object *schema)
{
	static const char *const apart[] = {"properties", "$defs",
					    "definitions"};
	struct json_object *rest = json_object_new_object();
	bool yes;

	json_object_object_foreach(schema, key, value) {
		if (!is_one_of(key, apart, ARRAY_LEN(apart)))
			json_object_object_add(rest, key,
					       json_object_get(value));
	}
	yes = may_be_secret(rest);
	json_object_put(rest);
	return yes;
}

struct json_object *run_row_open_inputs(struct json_object *tree,
					struct json_object *schema,
					struct json_object *lack)
{
	struct json_object *open = json_object_new_object();
	struct json_object *properties = json_member(schema, "properties");
	bool none = !json_object_is_type(schema, json_type_object) ||
		    all_may_be_secret(schema);

	json_object_object_foreach(tree, key, value) {
		if (none || may_be_secret(json_member(properties, key)))
			json_object_array_add(lack, json_text_new(key));
		else
			json_object_object_add(open, key,
					       json_object_get(value));
	}
	return open;
}

static char *inputs_text(struct json_object *v)
{
	char *text = xstrdup(json_text(v, NULL));

	json_object_put(v);
	return text;
}

void run_row_keep_inputs(struct run *r, struct json_object *tree,
			 const struct config *config)
{
	int64_t own = r->requestor->section->keep_inputs_bytes;
	bool is_own = own > 0 && own < config->keep_inputs_bytes;
	int64_t allowed = is_own ? own : config->keep_inputs_bytes;
	struct json_object *lack;
	char *who;

	free(r->kept.lack);
	r->kept.lack = NULL;
	r->kept.whole = false;
	if ((int64_t)r->inputs_len > allowed) {
		who = xasprintf("the operator: keep_inputs_bytes in [%s%s%s]",
				is_own ? "requestor \"" : "limits",
				is_own ? r->requestor->name : "",
				is_own ? "\"" : "");
		r->kept.lack = inputs_text(
		    json_pack("bytes:i allowed:i whoCanRaise:s",
			      (int64_t)r->inputs_len, allowed, who));
		free(who);
	} else if (r->template->secret) {
		lack = json_object_new_array();
		r->kept.text = inputs_text(
		    run_row_open_inputs(tree, r->template->inputs_json, lack));
		if (json_object_array_length(lack) > 0)
			r->kept.lack = xstrdup(json_text(lack, NULL));
		json_object_put(lack);
	} else {
		r->kept.whole = true;
	}
}

/* ---- from run to row ---- */

/*
 * May another instance have to start R? R is queued, or is running and may be
 * interrupted.
 */
static bool is_to_start(const struct run *r)
{
	return r->state == RUN_QUEUED ||
	       (!run_terminal(r) && run_may_resume(r));
}

static struct store_run row_of(const struct run *r)
{
	struct store_run row = {
	    .requestor = r->requestor->name,
	    .template_id = r->template->id,
	    .version = r->template->version_text,
	    .digest = r->template->digest,
	    .status = run_stored_status(r),
	    .created_ms = r->created_ms,
	    .started_ms = r->started_ms,
	    .updated_ms = r->updated_ms,
	    .finished_ms = r->finished_ms,
	    .expires_ms = r->expires_ms,
	    .idem_key = r->idem.key,
	    .idem_digest = r->idem.digest,
	    .refused = r->record.refused,
	    .cancelling = r->state == RUN_CANCELLING,
	    .task = task_json_form(r),
	    .task_ttl_ms = r->task.ttl_ms,
	    .task_expires_ms = r->task.expires_ms,
	    .retried_from = r->retried_from[0] != '\0' ? r->retried_from : NULL,
	    .parent_run_id = r->family.parent_id,
	    .depth = r->family.depth,
	    .journal = r->family.journal.id,
	    .inputs_lack = r->kept.lack,
	    .view = r->view,
	    .cpu_ms = r->attempts.cpu_ms + r->use.cpu_ms,
	    .began_here = r->attempts.here,
	};

	memcpy(row.id, r->id, sizeof(row.id));
	if (r->remote.place == RUN_QUEUE)
		row.waits = r->remote.lack != NULL ? STORE_WAITS_ELSEWHERE
			    : r->remote.pinned	   ? STORE_WAITS_PINNED
			    : r->record.revived	   ? STORE_WAITS_LEFT
						   : STORE_WAITS_ANYWHERE;
	row.weight = r->requestor->lane.weight;
	row.vtime = r->remote.vtime;
	row.queued_most = r->remote.most;
	row.notebook = r->notebook.name;
	memcpy(row.home, r->remote.home, sizeof(row.home));
	/* the kept inputs, until a row has them; and, while R waits, all inputs,
	   for another instance to start R */
	if (r->kept.text != NULL)
		row.inputs = r->kept.text;
	else if (r->kept.whole)
		row.inputs = run_is_durable(r) ? NULL : r->inputs;
	else if (is_to_start(r) && !r->template->secret)
		row.inputs = r->inputs;
	if (row.inputs == NULL)
		row.inputs_before = r->kept.bytes;
	return row;
}

/*
 * Returns the options for another instance to start R, as text; the caller's.
 * By them store_recover() sees whether a running R may be resumed.
 */
static char *run_options(const struct run *r)
{
	char *text;
	struct json_object *o = json_pack(
	    "timeoutMs:i ttlMs:i sessionId?s trust:s capabilities?O "
	    "files?o attempts?O attemptStartedAt?i allowWrites?b "
	    "callers?o callerAt?s",
	    r->limits.timeout_ms, r->limits.ttl_ms, r->session_id,
	    trust_name(r->trust), r->task.capabilities,
	    run_files_describe(r->files), r->attempts.ended,
	    r->attempts.started_ms, r->family.allows_writes,
	    run_family_callers(r),
	    r->family.caller_at[0] != '\0' ? r->family.caller_at : NULL);
	text = xstrdup(json_text(o, NULL));
	json_object_put(o);
	return text;
}

/*
 * Returns the rounds for clients to come back with after R's end; and, for a
 * run of several instances, whether the result is a whole reply, which no view
 * says. The caller's text, or NULL.
 */
static char *rounds_of(const struct run *r)
{
	bool reply = r->output.is_reply &&
		     (r->record.revived || r->remote.heard != NULL);
	const char *heard =
	    r->remote.heard != NULL ? json_text(r->remote.heard, NULL) : "[]";

	if (!run_terminal(r) ||
	    (r->rounds.given % RUN_ROUNDS_EACH == 0 && !reply))
		return NULL;
	return xasprintf("{\"roundsUsed\":%u,\"heard\":%s%s}", r->rounds.used,
			 heard, reply ? ",\"reply\":true" : "");
}

uint32_t run_row_rounds_used(const struct store_run *row)
{
	struct json_object *o = NULL;
	int64_t n;

	if (row->options == NULL ||
	    json_parse(&o, row->options, strlen(row->options), NULL) < 0)
		return 0;
	n = json_member_int(o, "roundsUsed");
	json_object_put(o);
	return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

static void put_run_row(struct store *s, struct run *r, struct store_run row,
			enum store_urgency urgency, store_done done, void *arg)
{
	char *options = is_to_start(r) ? run_options(r) : rounds_of(r);
	char *note = NULL;
	int64_t bytes;

	row.options = options;
	if (run_terminal(r))
		row.task_note = note = task_json_note(r);
	if (r->log.text != NULL && run_terminal(r)) {
		buf_add(r->log.text, "", 1);
		row.log = buf_data(r->log.text);
	}
	bytes = store_row_bytes(&row);
	requestor_row(r->requestor, bytes - r->record.row_bytes);
	r->record.row_bytes = bytes;
	store_put_run(s, &row, urgency, done, arg);
	if (row.inputs != NULL && (r->kept.whole || r->kept.text != NULL))
		r->kept.bytes = (int64_t)strlen(row.inputs);
	free(r->kept.text);
	r->kept.text = NULL;
	free(options);
	free(note);
}

void run_row_put(struct store *s, struct run *r, enum store_urgency urgency,
		 store_done done, void *arg)
{
	put_run_row(s, r, row_of(r), urgency, done, arg);
}

void run_row_put_again(struct store *s, struct run *r, store_done done,
		       void *arg)
{
	struct store_run row = row_of(r);

	row.unsure = !run_is_durable(r);
	put_run_row(s, r, row, STORE_RETRY, done, arg);
}

void run_row_correct(struct store *s, struct run *r, store_done done, void *arg)
{
	struct store_run row = row_of(r);

	row.corrects = true;
	put_run_row(s, r, row, STORE_SYNC, done, arg);
}

/* ---- and back ---- */

/* R, of ROW with OPTIONS, was called by a run of another server, if by any run. */
static void revive_family(struct run *r, const struct store_run *row,
			  struct json_object *options)
{
	const char *at = json_member_str(options, "callerAt");

	r->family.allows_writes =
	    json_object_get_boolean(json_member(options, "allowWrites"));
	r->family.depth = row->depth;
	r->family.parent_id = xstrdup_opt(row->parent_run_id);
	r->family.callers = json_object_get(json_member(options, "callers"));
	snprintf(r->family.caller_at, sizeof(r->family.caller_at), "%s",
		 at != NULL ? at : "");
}

/*
 * Returns the trust NAME. Rows of older servers have no name: the least trust
 * of T's.
 */
static enum template_trust trust_of(const char *name, const struct template *t)
{
	if (name == NULL)
		return (t->trust & TRUST_REMOTE) != 0 ? TRUST_REMOTE
						      : TRUST_LOCAL;
	return strcmp(name, trust_name(TRUST_LOCAL)) == 0 ? TRUST_LOCAL
							  : TRUST_REMOTE;
}

void run_row_attempts(struct run *r, const struct store_run *row)
{
	struct json_object *options = NULL;
	uint32_t first;

	if (row->options != NULL)
		json_parse(&options, row->options, strlen(row->options), NULL);
	json_object_put(r->attempts.ended);
	r->attempts.ended = json_object_get(json_member(options, "attempts"));
	r->attempts.started_ms = json_member_int(options, "attemptStartedAt");
	r->attempts.here = false;
	r->attempts.cpu_ms = 0;
	json_each(ended, r->attempts.ended)
		r->attempts.cpu_ms += json_member_int(ended, "cpuMs");
	json_object_put(options);
	/* above all rounds of earlier attempts: an old round is not to be taken
	   for a new round */
	first = (uint32_t)(run_attempts(r) + (r->attempts.started_ms > 0)) *
		RUN_ROUNDS_EACH;
	if (r->rounds.given < first)
		r->rounds.given = r->rounds.used = first;
}

struct run *run_row_revive(const struct store_run *row,
			   struct requestor *requestor, struct template *t)
{
	struct json_object *options = NULL;
	struct run *r = run_new(requestor, t);

	if (row->options != NULL)
		json_parse(&options, row->options, strlen(row->options), NULL);
	r->limits.timeout_ms = json_member_int(options, "timeoutMs");
	r->limits.ttl_ms = json_member_int(options, "ttlMs");
	r->session_id = xstrdup_opt(json_member_str(options, "sessionId"));
	r->trust = trust_of(json_member_str(options, "trust"), t);
	memcpy(r->id, row->id, sizeof(r->id));
	r->created_ms = row->created_ms;
	r->task = (struct run_task){.form = row->task,
				    .ttl_ms = row->task_ttl_ms,
				    .expires_ms = row->task_expires_ms,
				    .told = row->task != STORE_TASK_NONE,
				    .capabilities = json_object_get(
					json_member(options, "capabilities"))};
	revive_family(r, row, options);
	r->family.journal.id = xstrdup_opt(row->journal);
	r->family.journal.resumes = row->journal != NULL;
	r->files = run_files_restore(t->file_spots, row->inputs,
				     json_member(options, "files"));
	json_object_put(options);
	run_row_attempts(r, row);
	r->idem.key = xstrdup_opt(row->idem_key);
	r->idem.digest = xstrdup_opt(row->idem_digest);
	r->inputs = xstrdup(row->inputs);
	r->inputs_len = strlen(row->inputs);
	r->kept.bytes = (int64_t)r->inputs_len;
	if (row->retried_from != NULL)
		snprintf(r->retried_from, sizeof(r->retried_from), "%s",
			 row->retried_from);
	run_record_row(r, ROW_COMMITTED);
	r->record.revived = true;
	r->record.row_bytes = store_row_bytes(row);
	return r;
}

void run_row_interrupt(struct store *s, const struct store_run *row,
		       int64_t ttl_ms)
{
	struct store_run dead = *row;

	dead.status = STORE_FAILED;
	dead.options = NULL;
	if (!store_keeps_inputs(row))
		dead.inputs = NULL;
	dead.finished_ms = dead.updated_ms = clock_wall_ms();
	dead.expires_ms = dead.finished_ms + ttl_ms;
	if (dead.expires_ms < dead.task_expires_ms)
		dead.expires_ms = dead.task_expires_ms;
	store_put_run(s, &dead, STORE_RETRY, NULL, NULL);
}
