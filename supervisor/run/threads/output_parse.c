/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_parse.c - reads large results of workers on the threads of
 * thread_pool.c; runs.c hands a result in when the worker is gone. A fault in a
 * result is told to runs.c, and the run fails.
 */
#include "supervisor/run/threads/output_parse.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "base/text/errmsg.h"
#include "ipc/msg.h"
#include "proto/json/json.h"
#include "proto/mcp/mcp.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"

#define EXCERPT_BYTES 60 /* length of the quoted faulty text */
#define CPU_MS 20000 /* deadline, far above the time of the longest output */

struct output_parse_job {
	struct thread_pool *o;
	struct requestor *who;
	struct thread_pool_job *job;
	char *raw;
	size_t raw_len, values_max;
	bool is_reply;
	struct output_parsed out;
	output_parse_done done;
	void *arg;
};

static const char *error_fault(struct json_object *error)
{
	struct json_object *code = json_member(error, "code");
	struct json_object *errmsg = json_member(error, "message");

	if (!json_object_is_type(error, json_type_object))
		return "a reply whose error is not an object";
	if (!json_object_is_type(code, json_type_int) ||
	    !msg_reply_code_ok(json_object_get_int64(code)))
		return "a reply whose error has another code "
		       "than " MSG_REPLY_CODE_RULE;
	if (!json_object_is_type(errmsg, json_type_string) ||
	    json_object_get_string_len(errmsg) > (int)MSG_TEXT_MAX)
		return "a reply whose error has no message, or one of over "
		       "8192 bytes";
	return NULL;
}

const char *output_parse_reply_fault(struct json_object *reply)
{
	struct json_object *content = json_member(reply, "content");
	struct json_object *flag = json_member(reply, "isError");
	struct json_object *structured =
	    json_member(reply, "structuredContent");

	if (!json_object_is_type(reply, json_type_object))
		return "a reply that is not an object";
	if (json_member(reply, "error") != NULL)
		return content != NULL || flag != NULL || structured != NULL
			   ? "a reply that has both an error and a result"
			   : error_fault(json_member(reply, "error"));
	if (content != NULL && !json_object_is_type(content, json_type_array))
		return "a reply whose content is not an array";
	if (flag != NULL && !json_object_is_type(flag, json_type_boolean))
		return "a reply whose isError is not a boolean";
	if (structured != NULL &&
	    !json_object_is_type(structured, json_type_object))
		return "a reply whose structuredContent is not an object";
	return NULL;
}

bool output_parse_reply_failed(struct json_object *reply)
{
	return json_member(reply, "error") != NULL ||
	       json_object_get_boolean(json_member(reply, "isError"));
}

/* ---- a result that is not JSON ---- */

/*
 * Return the length of the excerpt around *AT: the line, shortened to
 * EXCERPT_BYTES. *AT moves to the beginning of the excerpt.
 */
static size_t excerpt(const char *text, size_t len, size_t *at)
{
	size_t from = *at, end;

	while (from > 0 && text[from - 1] != '\n' &&
	       *at - from < EXCERPT_BYTES / 2)
		from--;
	if (from > 0 && text[from - 1] != '\n')
		while (from < *at && ((unsigned char)text[from] & 0xC0) == 0x80)
			from++;
	*at = from;
	for (end = from; end < len && text[end] != '\n'; end++)
		if (end - from >= EXCERPT_BYTES)
			break;
	return utf8_cut(text + from, len - from, end - from);
}

void output_parse_why_stray(char errmsg[OUTPUT_PARSE_WHY_SIZE],
			    const char *text, size_t len,
			    struct json_error *err)
{
	size_t at = err->at, n = excerpt(text, len, &at);

	json_error_place(err, text);
	errmsg_set(errmsg, OUTPUT_PARSE_WHY_SIZE,
		   "%s, in \"%.*s%s\"; stdout is for the result alone, and log "
		   "lines belong on stderr",
		   err->text, (int)n, text + at,
		   at + n < len && text[at + n] != '\n' ? "\xE2\x80\xA6" : "");
}

/* ---- on a thread ---- */

static void let_tree_go(struct output_parsed *out)
{
	json_object_put(out->tree);
	out->tree = NULL;
}

static void parse_output(struct thread_pool_job *j, void *arg)
{
	struct output_parse_job *job = arg;
	struct output_parsed *out = &job->out;
	struct json_object *content;
	struct json_error err = {0};
	const char *text;

	out->content_at = -1;
	if (json_parse_cost(&out->tree, job->raw, job->raw_len, job->values_max,
			    &out->cost, &err) < 0) {
		out->too_many = err.too_many;
		out->fault = "a result that is not JSON";
		output_parse_why_stray(out->errmsg, job->raw, job->raw_len,
				       &err);
	}
	free(job->raw);
	job->raw = NULL;
	if (out->fault == NULL && job->is_reply) {
		content = json_member(out->tree, "content");
		out->fault = output_parse_reply_fault(out->tree);
		if (out->fault == NULL && content != NULL)
			out->content_at =
			    mcp_content_fault(content, &out->content_expected);
		if (out->fault != NULL || out->content_at >= 0)
			let_tree_go(out); /* a faulty reply is not passed on */
	}
	if (!thread_pool_may_continue(j)) { /* cancelled, or too slow */
		let_tree_go(out);
		out->fault = "a result that takes too long to read";
	}
	if (out->fault != NULL || out->content_at >= 0)
		return;
	text = json_text(out->tree, &out->len);
	out->text = xstrndup(text, out->len);
}

/* ---- on the loop ---- */

static void on_read(void *arg, const struct thread_pool_result *end)
{
	struct output_parse_job *job = arg;

	(void)end;
	job->done(job->arg, &job->out);
}

static void drop_output(void *arg)
{
	struct output_parse_job *job = arg;

	rpc_async_put(job->o, job->who, job->out.tree);
	free(job->out.text);
	free(job->raw);
	free(job);
}

static const struct thread_pool_kind kind = {.name = "output",
					     .cpu_ms = CPU_MS,
					     .work = parse_output,
					     .done = on_read,
					     .drop = drop_output};

struct output_parse_job *output_parse(struct thread_pool *o,
				      struct requestor *q, char *text,
				      size_t len, size_t values_max,
				      bool is_reply, output_parse_done done,
				      void *arg)
{
	struct output_parse_job *job = xcalloc(1, sizeof(*job));

	*job = (struct output_parse_job){.o = o,
					 .who = q,
					 .raw = text,
					 .raw_len = len,
					 .values_max = values_max,
					 .is_reply = is_reply,
					 .done = done,
					 .arg = arg};
	job->job = thread_pool_submit(o, q, &kind, job);
	if (job->job != NULL)
		return job;
	drop_output(job);
	return NULL;
}

void output_parse_cancel(struct output_parse_job *job)
{
	thread_pool_cancel(job->job);
}
