/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.c - makes large answers, and answers with pictures, on the threads of
 * thread_pool.c. request.c, tasks.c, resources.c and the contract's tools call it.
 * The request is held meanwhile, so drop_response() frees it if the client goes. With
 * too many jobs of the requestor the request is refused, or gets no pictures.
 */
#include "supervisor/session/response.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/run/record/task_json.h"
#include "supervisor/packages/templates/catalogue.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"

#define CPU_MS 5000 /* far above the time for the longest output */
#define ANSWER_COPIES                                                          \
	4 /* of a text while its answer is made: the text may come twice */

#define REST 32768 /* of an answer, beside pictures and the texts of the run */

struct made {
	struct request *request; /* held by a reference */
	struct response m;	 /* with copies of its texts */
	struct buf answer;
	bool told;
	struct requestor *who;
	size_t held; /* bytes counted in WHO's memory: text and answer */
	struct run_pictures pictures;
};

/* Put M's error as the answer to ID, without the error's data if too long. */
static void put_error(struct buf *answer, const char *id, struct response *m)
{
	int code = (int)json_member_int(m->error, "code");
	const char *errmsg = json_member_str(m->error, "message");

	rpc_put_error(answer, id, code, errmsg, json_member(m->error, "data"));
	if (buf_len(answer) > m->max) {
		buf_fini(answer);
		rpc_put_error(answer, id, code, errmsg, NULL);
	}
	json_object_put(m->error);
	m->error = NULL;
}

/* Put M's answer to ID, shortened as needed; nothing if M has a fault. */
static void put_answer(struct buf *answer, const char *id, struct response *m)
{
	for (m->level = 0;;) {
		struct json_object *result = m->make(m);

		if (m->error != NULL)
			put_error(answer, id, m);
		if (result == NULL)
			return;
		if (m->method != NULL) {
			mcp_add_subscription(result, id);
			rpc_put_notification(answer, m->method, result);
		} else {
			mcp_finish_result(result, m->revision);
			rpc_put_result(answer, id, result);
		}
		json_object_put(result);
		if (!m->gives_way || buf_len(answer) <= m->max)
			return;
		if (m->answer.pictures != NULL)
			m->answer.pictures = NULL; /* before texts are cut */
		else if (++m->level == RESPONSE_LEVELS)
			return;
		buf_fini(answer);
	}
}

static void leave_response(struct request *req, struct buf *answer,
			   const struct response *m)
{
	struct session *s = req->session;

	if (m->method != NULL) { /* a notification, unless too long */
		if (buf_len(answer) <= m->max)
			s->ops->send(s->arg, req->stream, buf_data(answer),
				     buf_len(answer));
		buf_fini(answer);
		m->told(req, m->arg, true);
	} else if (m->fault[0] != '\0') {
		request_error(req, RPC_INVALID_PARAMS, NULL, "%s", m->fault);
	} else {
		request_send_message(req, answer);
	}
}

/* ---- on a thread ---- */

static void make_response(struct thread_pool_job *j, void *arg)
{
	struct made *d = arg;

	(void)j;
	put_answer(&d->answer, d->request->msg.id, &d->m);
}

/* ---- on the loop ---- */

static void on_made(void *arg, const struct thread_pool_result *end)
{
	struct made *d = arg;

	(void)end;
	d->told = true;
	if (request_unref(d->request))
		leave_response(d->request, &d->answer, &d->m);
}

static void drop_response(void *arg)
{
	struct made *d = arg;

	if (!d->told) /* the server ends; no client waits */
		request_unref(d->request);
	memory_give(&d->who->memory, d->held);
	run_pictures_fini(&d->pictures);
	buf_fini(&d->answer);
	json_object_put(d->m.head);
	free((char *)d->m.text);
	free((char *)d->m.answer.id);
	free((char *)d->m.answer.node);
	free((char *)d->m.uri);
	free((char *)d->m.mime_type);
	free(d);
}

static const struct thread_pool_kind kind = {.name = "answer",
					     .cpu_ms = CPU_MS,
					     .work = make_response,
					     .done = on_made,
					     .drop = drop_response};

static char *copy_text(const char *text, size_t len)
{
	char *to = xcalloc(len + 1, 1);

	memcpy(to, text, len);
	return to;
}

/* Hold REQ and a copy of M until the answer is made. */
static struct made *hold(struct request *req, const struct response *m)
{
	struct made *d = xcalloc(1, sizeof(*d));

	d->request = req;
	d->who = req->requestor;
	d->held = ANSWER_COPIES * m->len;
	memory_add(&d->who->memory, d->held);
	d->m = *m;
	d->m.text = m->taken ? m->text : copy_text(m->text, m->len);
	d->m.answer.id = xstrdup_opt(m->answer.id);
	d->m.answer.node = xstrdup_opt(m->answer.node);
	d->m.uri = xstrdup_opt(m->uri);
	d->m.mime_type = xstrdup_opt(m->mime_type);
	request_ref_large(req);
	return d;
}

static void refuse(struct made *d)
{
	struct request *req = d->request;
	struct response m = d->m;

	drop_response(d);
	if (m.method != NULL)
		m.told(req, m.arg, false);
	else
		request_error(
		    req, RPC_INTERNAL_ERROR, NULL,
		    "too many large answers of yours are being made; ask for "
		    "this one again when others have come");
}

static void make_later(struct made *d)
{
	if (thread_pool_submit(d->request->ctx->thread_pool,
			       d->request->requestor, &kind, d) != NULL)
		return;
	d->m.answer.pictures = NULL;
	if (rpc_async_is_large(d->m.len)) {
		refuse(d);
		return;
	}
	make_response(NULL, d);
	on_made(d, NULL);
	drop_response(d);
}

/* ---- pictures ---- */

static void on_pictures(void *arg)
{
	struct made *d = arg;
	struct request *req = d->request;

	d->told = true;
	if (!request_unref(req)) {
		drop_response(d);
		return;
	}
	d->told = false;
	d->m.answer.pictures = &d->pictures;
	request_ref_large(req);
	make_later(d);
}

/*
 * Return the bytes of pictures that fit into M's message as base64, beside the texts
 * of the run, which may come twice.
 */
static int64_t room_for_pictures(const struct response *m)
{
	int64_t room = ((int64_t)m->max - 2 * (int64_t)m->len - REST) / 4 * 3;

	return room < RUN_PICTURES_BYTES ? room : RUN_PICTURES_BYTES;
}

/* Read the pictures of the run in M first, if it has any. */
static bool show_pictures(struct request *req, const struct response *m)
{
	struct run_pictures pictures;
	struct made *d;

	if (m->answer.view == NULL ||
	    run_pictures_choose(&pictures, req->requestor, m->text, m->len,
				req->ctx->config->inline_image_bytes,
				room_for_pictures(m)) == 0)
		return false;
	d = hold(req, m);
	d->pictures = pictures;
	run_pictures_read(&d->pictures, req->ctx->store, on_pictures, d);
	return true;
}

void response_send(struct request *req, const struct response *m)
{
	struct response now = *m;
	struct buf answer = {0};

	now.max = request_max_bytes(req);
	now.revision = req->terms->revision;
	if (show_pictures(req, &now))
		return;
	if (rpc_async_is_large(m->len)) {
		make_later(hold(req, &now));
		return;
	}
	put_answer(&answer, req->msg.id, &now);
	json_object_put(now.head);
	if (m->taken)
		free((char *)m->text);
	leave_response(req, &answer, &now);
}

/* ---- a tree ---- */

static struct json_object *make_tree(struct response *m)
{
	struct json_object *result = m->head;

	m->head = NULL;
	return result;
}

void response_tree(struct request *req, struct json_object *result, size_t len)
{
	response_send(req,
		      &(struct response){.make = make_tree,
					 .taken = true, /* no text to copy */
					 .len = len,
					 .head = result});
}

/* ---- a tool's ---- */

#define BEGINNING 65536 /* bytes of a text which is too long to come twice */

static struct json_object *make_tool_result(struct response *m)
{
	bool structured = mcp_has(m->revision, MCP_STRUCTURED);
	size_t most = structured && m->level > 0 && m->len > BEGINNING
			  ? BEGINNING
			  : m->len;
	size_t len = utf8_cut(m->text, m->len, most);
	struct json_object *result = mcp_tool_result(
	    m->text, len, structured ? m->text : NULL, m->len, m->is_error);

	if (len < m->len)
		run_result_add_text(json_member(result, "content"),
				    "The text above is the beginning alone; "
				    "structuredContent has all of it.");
	if (m->note != NULL)
		run_result_add_text(json_member(result, "content"), m->note);
	return result;
}

static void send_object(struct request *req, struct json_object *obj,
			bool is_error, const char *note)
{
	size_t len;
	const char *text = json_text(obj, &len);

	response_send(req, &(struct response){.make = make_tool_result,
					      .gives_way = true,
					      .text = text,
					      .len = len,
					      .note = note,
					      .is_error = is_error});
	json_object_put(obj);
}

void response_tool_result(struct request *req, struct json_object *obj,
			  bool is_error)
{
	send_object(req, obj, is_error, NULL);
}

void response_tool_result_noted(struct request *req, struct json_object *obj,
				const char *note)
{
	send_object(req, obj, false, note);
}

void response_tool_text(struct request *req, char *text, size_t len)
{
	response_send(req, &(struct response){.make = make_tool_result,
					      .gives_way = true,
					      .text = text,
					      .taken = true,
					      .len = len});
}

/* ---- a run ---- */

static struct json_object *make_run(struct response *m)
{
	m->answer.view = m->text;
	m->answer.level = m->level;
	m->answer.max = m->max;
	m->error = run_result_error(&m->answer);
	return m->error == NULL ? run_result_make(&m->answer, m->revision)
				: NULL;
}

static struct json_object *make_of_task(struct response *m)
{
	struct json_object *result = make_run(m);
	struct json_object *meta = json_member(result, "_meta");

	if (result == NULL)
		return NULL;
	if (meta == NULL) {
		meta = json_object_new_object();
		json_add(result, "_meta:o", meta);
	}
	task_json_add_related(meta, m->answer.id);
	return result;
}

/*
 * Make the result of a task. MAKE is called for each level, so m->head is
 * copied.
 */
static struct json_object *make_detailed(struct response *m)
{
	struct json_object *task = NULL, *error;

	if (json_object_deep_copy(m->head, &task, NULL) < 0)
		abort();
	m->answer.view = m->text;
	m->answer.level = m->level;
	m->answer.max = m->max;
	error = run_result_error(&m->answer);
	task_json_add_end(
	    task,
	    error == NULL ? run_result_make(&m->answer, m->revision) : NULL,
	    error);
	return task;
}

static void answer_by(struct request *req, const struct run_result_source *a,
		      struct json_object *(*maker)(struct response *m))
{
	response_send(req, &(struct response){.make = maker,
					      .answer = *a,
					      .gives_way = true,
					      .text = a->view,
					      .len = strlen(a->view)});
}

void response_run(struct request *req, const struct run_result_source *a)
{
	if (req->session->ops->take_run != NULL)
		request_give_run(req, a);
	else
		answer_by(req, a, make_run);
}

void response_run_of_task(struct request *req,
			  const struct run_result_source *a)
{
	answer_by(req, a, make_of_task);
}

void response_task(struct request *req, struct json_object *task,
		   const struct run_result_source *a)
{
	response_tell_task(req, NULL, task, a, NULL, NULL);
}

void response_tell_task(struct request *req, const char *method,
			struct json_object *task,
			const struct run_result_source *a, response_told told,
			void *arg)
{
	response_send(req, &(struct response){.make = make_detailed,
					      .answer = *a,
					      .gives_way = true,
					      .text = a->view,
					      .len = strlen(a->view),
					      .head = task,
					      .method = method,
					      .told = told,
					      .arg = arg});
}

bool response_has_schema(const struct request *req, const char *template_id)
{
	const struct template *t =
	    catalogue_newest(req->ctx->catalogue, template_id);

	return t != NULL && template_promises(t);
}
