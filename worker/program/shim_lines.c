/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_lines.c - the messages that a program writes to descriptor 3, a JSON object in
 * each line, for shim_pipes.c. A wrong line ends the run with the number and the reason;
 * a refused artifact may be answered.
 */
#include "worker/program/shim_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/text/json_scan.h"
#include "base/mem.h"
#include "base/text/mime.h"
#include "worker/progress.h"
#include "worker/report.h"
#include "worker/text.h"

#define PATH_MAX_BYTES 4096

static struct buf reply;
static bool replied;

/* Copy the string member NAME of OBJ, or OTHERWISE; the caller frees the text. */
static char *string_member(struct json_view obj, const char *name, size_t *len,
			   const char *otherwise)
{
	struct json_view v;
	char *text;

	*len = 0;
	if (!json_view_member(obj, name, &v)) {
		*len = otherwise != NULL ? strlen(otherwise) : 0;
		return otherwise != NULL ? xstrdup(otherwise) : NULL;
	}
	if (!json_view_is_string(v))
		return NULL;
	text = xcalloc(1, v.n + 1);
	*len = json_view_unquote(v, text);
	return text;
}

/* Read the integer member NAME, or 0 if missing. False: no integer. */
static bool uint_member(struct json_view obj, const char *name, uint64_t *out)
{
	struct json_view v;

	*out = 0;
	return !json_view_member(obj, name, &v) || json_view_uint(v, out);
}

static const char *on_progress(struct shim *s, struct json_view v)
{
	uint64_t done, total;
	char *message;
	size_t n;

	(void)s;
	if (!uint_member(v, "done", &done) || !uint_member(v, "total", &total))
		return "done and total are integers from 0 to 2^53";
	message = string_member(v, "message", &n, "");
	if (message == NULL)
		return "a message is a string";
	progress_set(done, total, message, n);
	free(message);
	return NULL;
}

static const char *on_step(struct shim *s, struct json_view v)
{
	size_t name_n, state_n, code_n, message_n;
	char *name = string_member(v, "name", &name_n, NULL);
	char *state = string_member(v, "state", &state_n, NULL);
	char *code = string_member(v, "code", &code_n, "");
	char *message = string_member(v, "message", &message_n, "");
	const char *errmsg = "a step has a name and a state, both strings";

	(void)s;
	if (name != NULL && state != NULL && code != NULL && message != NULL)
		errmsg = shim_step((struct str){name, name_n}, state,
				   (struct str){code, code_n},
				   (struct str){message, message_n});
	free(name);
	free(state);
	free(code);
	free(message);
	return errmsg;
}

static const char *on_log(struct shim *s, struct json_view v)
{
	static const char *const levels[] = {"emergency", "alert",   "critical",
					     "error",	  "warning", "notice",
					     "info",	  "debug"};
	size_t level_n, n, i = 0;
	char *level = string_member(v, "level", &level_n, "info");
	char *message = string_member(v, "message", &n, NULL);
	const char *errmsg = NULL;

	(void)s;
	while (level != NULL && i < ARRAY_LEN(levels) &&
	       strcmp(level, levels[i]) != 0)
		i++;
	if (level == NULL || i == ARRAY_LEN(levels))
		errmsg = "a log's level is emergency, alert, critical, error, "
			 "warning, notice, info or debug";
	else if (message == NULL)
		errmsg = "a log's message is a string";
	else
		shim_log((unsigned)i, message, n);
	free(level);
	free(message);
	return errmsg;
}

/* The line has the bytes, or the path of a file in /work. */
static const char *make_artifact(struct shim *s, struct json_view v,
				 struct str name, struct str mime, char *id)
{
	size_t path_n, data_n, coded_n, n;
	char *path = string_member(v, "path", &path_n, NULL);
	char *data = string_member(v, "data", &data_n, NULL);
	char *coded = string_member(v, "base64", &coded_n, NULL);
	const char *errmsg = "an artifact has one of path, data and base64, a "
			     "string";

	if ((path != NULL) + (data != NULL) + (coded != NULL) != 1) {
		;
	} else if (path != NULL) {
		errmsg = strlen(path) == path_n && path_n < PATH_MAX_BYTES
			     ? shim_file(s, path, name, mime, id)
			     : "an artifact's path is too long, or has a NUL";
	} else if (data != NULL) {
		errmsg = shim_bytes(s, data, data_n, name, mime, id);
	} else {
		data = xcalloc(1, coded_n / 4 * 3 + 1);
		errmsg = base64_decode(data, &n, coded, coded_n) == 0
			     ? shim_bytes(s, data, n, name, mime, id)
			     : "an artifact's base64 is not base64 (RFC 4648, "
			       "padded)";
	}
	free(path);
	free(data);
	free(coded);
	return errmsg;
}

/* Tell the program, which may continue, the artifact's id ART, or the refusal ERRMSG. */
static void answer_artifact(struct shim *s, struct json_view id,
			    const char *art, const char *errmsg)
{
	static char text[2 * MSG_TEXT_MAX + 512];
	struct text t = {.p = text, .size = sizeof(text)};

	text_add(&t, "{\"id\":");
	text_add_n(&t, id.p, id.n);
	if (errmsg == NULL) {
		text_add(&t, ",\"ok\":true,\"value\":");
		text_add_quoted(&t, art, strlen(art));
	} else {
		text_add(&t, ",\"ok\":false,\"error\":{\"code\":");
		text_add_quoted(&t, s->refusal, strlen(s->refusal));
		text_add(&t, ",\"message\":");
		text_add_quoted(&t, errmsg, strlen(errmsg));
		text_add(&t, "}");
	}
	text_add(&t, "}");
	if (!t.full)
		shim_answer_to(s, shim_speaking(), text, t.n);
}

/* Is the message correct, but refused? */
static bool is_refusal(const struct shim *s)
{
	return s->refused == BY_LIMIT || s->refused == BY_SUPERVISOR;
}

static const char *on_artifact(struct shim *s, struct json_view v)
{
	static char id[MSG_TEXT_MAX + 1];
	size_t name_n, mime_n, path_n;
	struct json_view ask;
	char *path = string_member(v, "path", &path_n, NULL);
	char *name = string_member(v, "name", &name_n, path);
	char *mime = string_member(v, "mimeType", &mime_n, "");
	const char *errmsg = "an artifact's name and mimeType are strings, and "
			     "only one with a path may lack its name";
	const char *guess = name != NULL ? mime_of(name, name_n) : "";
	bool asks = json_view_member(v, "id", &ask);

	s->refused = NOT_REFUSED;
	if (asks && !shim_is_id(ask))
		errmsg = "an artifact's id is a string or a number, of at most "
			 "256 bytes";
	else if (name != NULL && mime != NULL)
		errmsg = make_artifact(s, v, (struct str){name, name_n},
				       mime_n > 0
					   ? (struct str){mime, mime_n}
					   : (struct str){guess, strlen(guess)},
				       id);
	if (errmsg != NULL && s->refused == BY_LIMIT)
		/* the artifact was not sent to the supervisor */
		report_lost(&(struct msg_lost){.kind = MSG_LOST_LIMIT,
					       .told = true,
					       .count = 1,
					       .size = s->over_bytes -
						       s->artifact_bytes,
					       .name = {name, name_n}});
	if (asks && (errmsg == NULL || is_refusal(s))) {
		answer_artifact(s, ask, id, errmsg);
		errmsg = NULL;
	}
	free(path);
	free(name);
	free(mime);
	return errmsg;
}

/* Append ,"NAME":VALUE, or nothing if the member KEY of V is missing. */
static void add_argument(struct buf *args, const char *name, struct json_view v,
			 const char *key)
{
	struct json_view value;

	if (!json_view_member(v, key, &value))
		return;
	(void)buf_printf(args, "%s\"%s\":", buf_len(args) > 1 ? "," : "", name);
	(void)buf_add(args, value.p, value.n);
}

/* Call the supervisor's tool TOOL with the members of V that PAIRS list: {argument, member}. */
static const char *call_contract(struct json_view v, struct json_view id,
				 const char *tool, const char *const pairs[][2])
{
	struct msg m = {.type = MSG_CALL, .call.tool = {tool, strlen(tool)}};
	struct buf args = {0};
	const char *errmsg;

	(void)buf_add(&args, "{", 1);
	for (size_t i = 0; pairs[i][0] != NULL; i++)
		add_argument(&args, pairs[i][0], v, pairs[i][1]);
	(void)buf_add(&args, "}", 1);
	errmsg = shim_ask(&m, id,
			  (struct json_view){buf_data(&args), buf_len(&args)});
	buf_fini(&args);
	return errmsg;
}

static const char *call_template(struct json_view v)
{
	static const char *const pairs[][2] = {{"templateId", "template"},
					       {"templateVersion", "version"},
					       {"inputs", "inputs"},
					       {"options", "options"},
					       {NULL, NULL}};
	struct json_view id, inputs;

	if (!json_view_member(v, "id", &id) ||
	    !json_view_member(v, "inputs", &inputs) ||
	    !json_view_is_object(inputs))
		return "a call of a template has an id, a template and "
		       "inputs, an object";
	return call_contract(v, id, "run_task_template", pairs);
}

static const char *call_search(struct json_view v)
{
	static const char *const pairs[][2] = {{"query", "search"},
					       {"limit", "limit"},
					       {"detail", "detail"},
					       {NULL, NULL}};
	struct json_view id;

	if (!json_view_member(v, "id", &id))
		return "a search has an id, and the words in search";
	return call_contract(v, id, "search_task_templates", pairs);
}

static const char *call_tool(struct json_view v)
{
	struct msg m = {.type = MSG_CALL};
	struct json_view id, args;
	const char *errmsg = "a call has an id, and a tool and args, a "
			     "template and inputs, or a search";
	char *tool = string_member(v, "tool", &m.call.tool.n, NULL);

	m.call.tool.p = tool;
	if (tool != NULL && json_view_member(v, "id", &id) &&
	    json_view_member(v, "args", &args) && json_view_is_object(args))
		errmsg = shim_ask(&m, id, args);
	free(tool);
	return errmsg;
}

static const char *on_call(struct shim *s, struct json_view v)
{
	struct json_view value;

	(void)s;
	if (json_view_member(v, "template", &value))
		return call_template(v);
	if (json_view_member(v, "search", &value))
		return call_search(v);
	return call_tool(v);
}

/* Ask a question: all members but the id are parameters. */
static const char *ask_supervisor(struct json_view v, enum msg_input_kind kind)
{
	struct msg m = {.type = MSG_INPUT, .input = {.kind = kind}};
	struct json_view id, key, value;
	struct buf params = {0};
	const char *errmsg;
	size_t at = 0;

	if (!json_view_member(v, "id", &id))
		return "a question has an id";
	(void)buf_add(&params, "{", 1);
	while (json_view_next(v, &at, &key, &value)) {
		if (json_view_equal(key, "id"))
			continue;
		if (buf_len(&params) > 1)
			(void)buf_add(&params, ",", 1);
		(void)buf_add(&params, key.p, key.n);
		(void)buf_add(&params, ":", 1);
		(void)buf_add(&params, value.p, value.n);
	}
	(void)buf_add(&params, "}", 1);
	errmsg = shim_ask(
	    &m, id, (struct json_view){buf_data(&params), buf_len(&params)});
	buf_fini(&params);
	return errmsg;
}

static const char *on_drop(struct shim *s, struct json_view v)
{
	struct json_view id;

	(void)s;
	if (!json_view_member(v, "id", &id))
		return "a drop has the id of a question";
	shim_drop_question(id);
	return NULL;
}

static const char *on_reply(struct shim *s, struct json_view v)
{
	if (shim_stays())
		return "a resident ends its run by result or failed";
	reply.max = (size_t)s->run.output_bytes;
	buf_drop(&reply, buf_len(&reply));
	if (buf_add(&reply, v.p, v.n) < 0)
		shim_limit("output_bytes", v.n, s->run.output_bytes, "bytes",
			   "template limits.maxOutputBytes, or the server's "
			   "[limits]",
			   "the program's reply is larger than it may be");
	replied = true;
	return NULL;
}

const struct buf *shim_reply(void)
{
	return replied ? &reply : NULL;
}

static const struct {
	const char *name;
	/* NULL, or the error (static). V is an object. A question has no function. */
	const char *(*take)(struct shim *s, struct json_view v);
	enum msg_input_kind question;
	bool is_end; /* only the program itself ends a run */
} kinds[] = {
    {"progress", on_progress, 0, false},
    {"step", on_step, 0, false},
    {"log", on_log, 0, false},
    {"artifact", on_artifact, 0, false},
    {"call", on_call, 0, false},
    {"drop", on_drop, 0, false},
    {"elicit", NULL, MSG_INPUT_ELICIT, false},
    {"sample", NULL, MSG_INPUT_SAMPLE, false},
    {"roots", NULL, MSG_INPUT_ROOTS, false},
    {"reply", on_reply, 0, true},
    {"state", shim_on_state, 0, true},
    {"result", shim_on_result, 0, true},
    {"failed", shim_on_failed, 0, true},
};

/* Handle LINE, an object with a single member whose name is the kind of message. */
static const char *take_program_line(struct shim *s, struct json_view line)
{
	struct json_view key, value, more;
	size_t at = 0;

	if (!json_view_is_object(line) ||
	    !json_view_next(line, &at, &key, &value) ||
	    json_view_next(line, &at, &more, &more))
		return "it is not an object with one member";
	if (!json_view_is_object(value))
		return "its member is not an object";
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (json_view_equal(key, kinds[i].name) &&
		    !(kinds[i].is_end && shim_speaking() != 0))
			return kinds[i].take != NULL
				   ? kinds[i].take(s, value)
				   : ask_supervisor(value, kinds[i].question);
	return "there is no such message: progress, step, log, artifact, call, "
	       "drop, elicit, sample, roots and reply are, and of a resident state, "
	       "result and failed";
}

struct str shim_first_id(struct str line)
{
	static const enum json_event before[] = {JSON_OBJECT, JSON_KEY,
						 JSON_OBJECT, JSON_KEY};
	struct json_scan scan = {.p = line.p, .end = line.p + line.n};
	struct json_view token, id;
	const char *errmsg;
	size_t at;

	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		if (json_scan_next(&scan) != before[i])
			return (struct str){0};
	token = (struct json_view){scan.token, (size_t)(scan.p - scan.token)};
	if (!json_view_equal(token, "id") ||
	    json_scan_next(&scan) == JSON_FAULT)
		return (struct str){0};
	token = (struct json_view){scan.token, (size_t)(scan.p - scan.token)};
	if (!json_view_check(token, &id, &errmsg, &at) || !shim_is_id(id))
		return (struct str){0};
	return (struct str){id.p, id.n};
}

const char *shim_line_of_caller(struct shim *s, struct str line, struct str *id)
{
	static char text[128];
	struct json_view value, key, body, found;
	const char *errmsg;
	size_t at;

	if (shim_is_blank(line.p, line.n))
		return NULL;
	if (!json_view_check((struct json_view){line.p, line.n}, &value,
			     &errmsg, &at)) {
		snprintf(text, sizeof(text),
			 "the line is not JSON: %s (byte %zu)", errmsg, at);
		*id = shim_first_id(line);
		return text;
	}
	at = 0;
	if (json_view_is_object(value) &&
	    json_view_next(value, &at, &key, &body) &&
	    json_view_is_object(body) && json_view_member(body, "id", &found) &&
	    shim_is_id(found))
		*id = (struct str){found.p, found.n};
	return take_program_line(s, value);
}

bool shim_is_blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memchr(" \t\r\n", p[i], strlen(" \t\r\n")) == NULL)
			return false;
	return true;
}

void shim_line(struct shim *s, struct str line, uint64_t number)
{
	char details[64];
	struct json_view value;
	const char *errmsg;
	size_t at;

	if (shim_is_blank(line.p, line.n))
		return;
	if (!json_view_check((struct json_view){line.p, line.n}, &value,
			     &errmsg, &at))
		shim_fail("EXECUTION_ERROR", NULL,
			  "line %llu of descriptor 3 is not JSON: %s (byte "
			  "%zu)",
			  (unsigned long long)number, errmsg, at);
	errmsg = take_program_line(s, value);
	if (errmsg == NULL)
		return;
	/* a refusal without an answer; details are only for the shim's own limit */
	snprintf(details, sizeof(details),
		 "{\"limit\":\"artifact_bytes\",\"used\":%llu}",
		 (unsigned long long)s->over_bytes);
	shim_fail(is_refusal(s) ? s->refusal : "EXECUTION_ERROR",
		  s->refused == BY_LIMIT ? details : NULL,
		  "line %llu of descriptor 3: %s", (unsigned long long)number,
		  errmsg);
}
