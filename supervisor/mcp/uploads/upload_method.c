/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_method.c - files on streams of lines, for methods.c. A refusal before
 * the first byte is the answer; a later failure is a notification, and the
 * remaining bytes are dropped. Over HTTP such bytes cannot follow, and the
 * answer names the alternative.
 */
#include "supervisor/mcp/uploads/upload_method.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/artifacts/artifact_source.h"
#include "supervisor/mcp/uploads/download.h"
#include "supervisor/mcp/uploads/upload.h"

#define LIST_MAX 100
#define BYTES_MAX ((int64_t)1 << 53) /* no disk has more */

/* An upload under way; of its session until the session or the file ends. */
struct receiving {
	struct session_observer observer;
	struct session *session; /* NULL: the client has gone */
	struct upload *upload;	 /* NULL: over; further bytes are dropped */
	bool coming;		 /* more bytes are due */
	char id[ID_SIZE];
};

static void refuse_upload(struct request *req, struct tool_error *e)
{
	request_error(req, RPC_INVALID_REQUEST,
		      json_pack("errorCode:s details?O", e->code, e->details),
		      "%s", e->message);
	tool_error_fini(e);
}

/* ---- incoming bytes ---- */

static void settle_upload(struct receiving *v)
{
	if (v->upload != NULL || (v->coming && v->session != NULL))
		return;
	if (v->session != NULL)
		session_unobserve(v->session, &v->observer);
	free(v);
}

static char *room(void *arg, size_t *n)
{
	static char nowhere[1 << 16];
	struct receiving *v = arg;

	if (v->upload != NULL)
		return upload_room(v->upload, n);
	*n = sizeof(nowhere);
	return nowhere;
}

static void wrote(void *arg, size_t n)
{
	struct receiving *v = arg;

	if (v->upload != NULL)
		upload_wrote(v->upload, n);
}

static void end_bytes(void *arg)
{
	struct receiving *v = arg;

	v->coming = false;
	if (v->upload != NULL)
		upload_end(v->upload);
	settle_upload(v);
}

static const struct session_bytes bytes = {room, wrote, end_bytes};

/* ---- the end of an upload ---- */

static void on_room(void *arg)
{
	const struct receiving *v = arg;

	v->session->ops->bytes_room(v->session->arg);
}

static void on_done(void *arg, struct json_object *artifact,
		    struct tool_error *err)
{
	struct receiving *v = arg;
	struct json_object *told = json_pack("uploadId:s", v->id);

	v->upload = NULL;
	if (artifact != NULL)
		json_add(told, "artifact:O", artifact);
	else
		json_add(told, "error:s errorCode:s details?O", err->message,
			 err->code, err->details);
	session_tell(v->session, NULL, "notifications/paddock/artifact", told);
	json_object_put(told);
	if (v->coming)
		on_room(v); /* for the bytes to drop */
	settle_upload(v);
}

static const struct upload_ops upload_ops = {on_room, on_done};

static void on_gone(struct session_observer *o)
{
	struct receiving *v = CONTAINER(o, struct receiving, observer);

	upload_cancel(v->upload);
	v->upload = NULL;
	session_unobserve(v->session, o);
	free(v);
}

static const struct session_observer_ops observer_ops = {.on_gone = on_gone};

/* Return what is wrong with PARAMS, or NULL. */
static const char *params_fault(struct json_object *params)
{
	struct json_object *size = json_member(params, "bytes");
	struct json_object *sha256 = json_member(params, "sha256");

	if (!json_object_is_type(size, json_type_int) ||
	    json_object_get_int64(size) < 0 ||
	    json_object_get_int64(size) > BYTES_MAX)
		return "params.bytes has to be how many bytes are to come";
	if (sha256 != NULL && (!json_object_is_type(sha256, json_type_string) ||
			       strlen(json_object_get_string(sha256)) != 64 ||
			       strspn(json_object_get_string(sha256),
				      "0123456789abcdefABCDEF") != 64))
		return "params.sha256 has to be 64 hexadecimal digits";
	return NULL;
}

void upload_method_put(struct request *req)
{
	struct json_object *params = req->msg.params;
	struct session *s = req->session;
	struct upload_ask ask = {.name = json_member_str(params, "name"),
				 .mime_type =
				     json_member_str(params, "mimeType"),
				 .size = json_member_int(params, "bytes"),
				 .sha256 = json_member_str(params, "sha256")};
	const char *errmsg = params_fault(params);
	struct tool_error err = {0};
	struct receiving *v;

	if (errmsg == NULL && (s->ops->take_bytes == NULL))
		errmsg = "bytes follow on a socket or stdio alone; over HTTP "
			 "send them by PUT /artifacts";
	if (errmsg != NULL) {
		request_error(req, RPC_INVALID_PARAMS, NULL, "%s", errmsg);
		return;
	}
	v = xcalloc(1, sizeof(*v));
	v->session = s;
	v->upload =
	    upload_begin(req->ctx, req->requestor, &ask, &upload_ops, v, &err);
	if (v->upload == NULL) {
		free(v);
		refuse_upload(req, &err);
		return;
	}
	id_new(v->id, "upl");
	v->coming = ask.size > 0;
	if (v->coming && !s->ops->take_bytes(s->arg, ask.size, &bytes, v)) {
		upload_cancel(v->upload);
		free(v);
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "another file is on its way by this connection; "
			      "send this one when it has come");
		return;
	}
	session_observe(s, &v->observer, &observer_ops);
	request_result(req, json_pack("uploadId:s", v->id));
	if (!v->coming)
		upload_end(v->upload);
}

/* ---- outgoing bytes ---- */

static void refuse_upload_artifact(struct request *req, int rc)
{
	struct tool_error e = {0};

	if (rc == -ENOENT) {
		requestor_missed(req->requestor);
		tool_error_set(&e, "ARTIFACT_NOT_FOUND", NULL,
			       "you have no artifact \"%.64s\"",
			       json_member_str(req->msg.params, "artifactId"));
	} else if (rc == -ESTALE) {
		tool_error_set(&e, "ARTIFACT_EXPIRED", NULL,
			       "the artifact has passed its time and is gone");
	} else if (rc == -EMFILE) {
		download_refuse(req->requestor, &e);
	} else if (rc == -ERANGE) {
		tool_error_set(&e, "INVALID_PARAMETER", NULL,
			       "params.offset is beyond the artifact's end");
	} else {
		tool_error_set(&e, "STORE_UNAVAILABLE", NULL,
			       "the artifact cannot be read now: %s",
			       store_says(rc));
	}
	refuse_upload(req, &e);
}

static void on_found(void *arg, const struct store_result *res);
static void on_found_again(void *arg, const struct store_result *res);

static void ask_store(struct request *req, store_done done)
{
	struct json_object *offset = json_member(req->msg.params, "offset");

	request_ref(req);
	store_read_artifact(req->ctx->store, req->requestor->name,
			    json_member_str(req->msg.params, "artifactId"),
			    json_object_get_int64(offset), 0, done, req);
}

/*
 * Handle RC of opening the file of a row. If the file is missing, the row is
 * read AGAIN, which may say why; the second time the file is lost.
 */
static void not_opened(struct request *req, int rc, bool again)
{
	if (rc != -ENOENT)
		refuse_upload_artifact(req, rc);
	else if (again)
		refuse_upload_artifact(req, -ENOMEDIUM);
	else
		ask_store(req, on_found_again);
}

static void on_upload_found(struct request *req, const struct store_result *res,
			    bool again)
{
	const struct store_artifact *a = res->artifact;
	struct artifact_source *source = NULL;
	int64_t offset;
	struct session *s;
	struct json_object *view;
	int rc = res->rc;

	if (!request_unref(req))
		return;
	s = req->session;
	if (s->ops->sends_bytes(s->arg)) {
		request_error(req, RPC_INVALID_REQUEST, NULL,
			      "another file is on its way by this connection; "
			      "ask for this one when it has come");
		return;
	}
	offset = json_member_int(req->msg.params, "offset");
	if (rc == 0)
		source = download_open(req->ctx, req->requestor, a, offset,
				       a->size - offset, &rc);
	if (rc != 0) {
		if (res->rc == 0)
			not_opened(req, rc, again);
		else
			refuse_upload_artifact(req, rc);
		return;
	}
	view = upload_view(a);
	json_add(view, "follows:i", artifact_source_left(source));
	request_result(req, view);
	(void)s->ops->send_bytes(s->arg, source);
}

static void on_found(void *arg, const struct store_result *res)
{
	on_upload_found(arg, res, false);
}

static void on_found_again(void *arg, const struct store_result *res)
{
	on_upload_found(arg, res, true);
}

void upload_method_read(struct request *req)
{
	const char *id = json_member_str(req->msg.params, "artifactId");
	struct json_object *offset = json_member(req->msg.params, "offset");
	const char *errmsg = NULL;

	if (id == NULL)
		errmsg = "params.artifactId has to be the id of an artifact";
	else if (offset != NULL && !json_object_is_type(offset, json_type_int))
		errmsg = "params.offset has to be a whole number of bytes";
	else if (req->batch != NULL)
		errmsg = "the bytes of an artifact follow its answer at once, "
			 "and the answers of a batch leave together; ask for "
			 "it in no batch";
	else if (req->session->ops->send_bytes == NULL)
		errmsg = "bytes follow on a socket or stdio alone; over HTTP "
			 "get them by GET /artifacts/ID";
	if (errmsg != NULL) {
		request_error(req, RPC_INVALID_PARAMS, NULL, "%s", errmsg);
		return;
	}
	ask_store(req, on_found);
}

/* ---- the list of artifacts ---- */

static void on_listed(void *arg, const struct store_result *res)
{
	struct request *req = arg;
	struct json_object *list;

	if (!request_unref(req))
		return;
	if (res->rc != 0) {
		refuse_upload_artifact(req, res->rc);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < res->n_artifacts; i++) {
		const struct store_artifact *a = &res->artifacts[i];
		struct json_object *view = upload_view(a);

		if (strcmp(a->run_id, a->id) != 0 && id_ok(a->run_id, "run"))
			json_add(view, "runId:s", a->run_id);
		json_object_array_add(list, view);
	}
	request_result(req, json_pack("artifacts:o more:b", list,
				      res->n_artifacts == LIST_MAX));
}

void upload_method_list(struct request *req)
{
	const char *prefix = json_member_str(req->msg.params, "idPrefix");
	const char *before = json_member_str(req->msg.params, "before");
	char after[ID_SIZE + 1];

	if (prefix != NULL && strlen(prefix) >= ID_SIZE) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "params.idPrefix has to be how an id begins");
		return;
	}
	if (prefix != NULL && before == NULL) {
		snprintf(after, sizeof(after), "%s" ID_AFTER_ALL, prefix);
		before = after;
	}
	request_ref(req);
	store_list_artifacts(req->ctx->store, req->requestor->name,
			     prefix != NULL, prefix, before, LIST_MAX,
			     on_listed, req);
}
