/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc.c - reads and writes JSON-RPC messages, for the supervisor's sessions and
 * for the command as a client. Parsing never fails: text that is no message
 * becomes RPC_BROKEN with the error to answer. Writing beyond the buffer's
 * bound gives -EMSGSIZE and leaves the buffer as it was.
 */
#include "proto/mcp/rpc.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "proto/mcp/rpc_unread.h"

__attribute__((format(printf, 3, 4))) static bool
broken(struct rpc_msg *m, int code, const char *fmt, ...)
{
	va_list ap;

	m->kind = RPC_BROKEN;
	m->code = code;
	va_start(ap, fmt);
	vsnprintf(m->text, sizeof(m->text), fmt, ap);
	va_end(ap);
	return false;
}

static bool has_member(const struct rpc_msg *m, const char *key)
{
	return json_object_object_get_ex(m->root, key, NULL);
}

/* Name the type of the value at KEY, for people. */
static const char *member_text(const struct rpc_msg *m, const char *key)
{
	static const char *const names[] = {
	    [json_type_null] = "null",	      [json_type_boolean] = "a boolean",
	    [json_type_double] = "a number",  [json_type_int] = "an integer",
	    [json_type_object] = "an object", [json_type_array] = "an array",
	    [json_type_string] = "a string",
	};

	if (!has_member(m, key))
		return "none";
	return names[json_object_get_type(json_member(m->root, key))];
}

/* Return the string at KEY; NULL for no string, or one with a NUL in it. */
static const char *plain_str(const struct rpc_msg *m, const char *key)
{
	struct json_object *v = json_member(m->root, key);
	const char *s = json_member_str(m->root, key);

	if (s == NULL || strlen(s) != (size_t)json_object_get_string_len(v))
		return NULL;
	return s;
}

/* Is N bytes of JSON at P, a string or a number, fit to be an id? */
static bool is_id(const char *p, size_t n)
{
	if (p[0] == '"')
		return true;
	for (size_t i = 0; i < n; i++)
		if (p[i] != '-' && (p[i] < '0' || p[i] > '9'))
			return false;
	return true;
}

size_t rpc_id_key(char out[RPC_ID_MAX + 1], struct json_object *value)
{
	enum json_type type = json_object_get_type(value);
	const char *text;
	size_t len;

	if (type == json_type_string) {
		text = json_object_get_string(value);
		len = (size_t)json_object_get_string_len(value);
	} else if (type == json_type_int || type == json_type_double) {
		text = json_text(value, &len);
	} else {
		return 0;
	}
	if (len > RPC_ID_MAX)
		return 0;
	out[0] = type == json_type_string ? '"' : '0';
	memcpy(out + 1, text, len);
	return len + 1;
}

/* Keep the id's text. A value unfit as an id is left to check_rpc_id(). */
static void take_msg_id(struct rpc_msg *m, const char *text, size_t len)
{
	struct json_object *value = json_member(m->root, "id");
	enum json_type type = json_object_get_type(value);
	char key[RPC_ID_MAX + 1];
	struct json_span at;

	if (type != json_type_string && type != json_type_int &&
	    type != json_type_double)
		return;
	if (json_find(&at, text, len, "id") != 0 ||
	    !is_id(text + at.off, at.len))
		return;
	m->id_too_long = at.len > RPC_ID_MAX;
	if (m->id_too_long)
		return;
	m->id = xstrndup(text + at.off, at.len);
	m->id_key_len = rpc_id_key(key, value);
	m->id_key = xcalloc(m->id_key_len, 1);
	memcpy(m->id_key, key, m->id_key_len);
}

static bool check_rpc_version(struct rpc_msg *m)
{
	const char *version = plain_str(m, "jsonrpc");

	if (version != NULL && strcmp(version, "2.0") == 0)
		return true;
	return broken(m, RPC_INVALID_REQUEST,
		      "\"jsonrpc\" must be the string "
		      "\"2.0\", found %s",
		      json_member_str(m->root, "jsonrpc") != NULL
			  ? "another string"
			  : member_text(m, "jsonrpc"));
}

/* Set the kind: a message has exactly one of method, result and error. */
static bool check_kind(struct rpc_msg *m)
{
	bool method = has_member(m, "method"), result = has_member(m, "result"),
	     error = has_member(m, "error");

	if (method + result + error != 1)
		return broken(m, RPC_INVALID_REQUEST,
			      "a message has one of \"method\", \"result\" and "
			      "\"error\", found %s",
			      method || result || error ? "several" : "none");
	if (!method)
		m->kind = RPC_RESPONSE;
	else
		m->kind = has_member(m, "id") ? RPC_REQUEST : RPC_NOTIFICATION;
	return true;
}

static bool check_rpc_id(struct rpc_msg *m)
{
	/* the error of a peer that could not read our id has no id */
	bool may_lack =
	    m->kind == RPC_NOTIFICATION ||
	    (has_member(m, "error") && json_member(m->root, "id") == NULL);

	if (m->id_too_long)
		return broken(
		    m, RPC_INVALID_REQUEST,
		    "\"id\" has more than %d bytes, which is the most "
		    "that this server takes",
		    RPC_ID_MAX);
	if (m->id != NULL || may_lack)
		return true;
	return broken(m, RPC_INVALID_REQUEST,
		      "\"id\" must be a string or an "
		      "integer, found %s",
		      member_text(m, "id"));
}

static bool check_call(struct rpc_msg *m)
{
	m->method = plain_str(m, "method");
	if (m->method == NULL)
		return broken(m, RPC_INVALID_REQUEST,
			      "\"method\" must be a "
			      "string without \\u0000, found %s",
			      json_member_str(m->root, "method") != NULL
				  ? "one with"
				  : member_text(m, "method"));
	m->params = json_member(m->root, "params");
	if (!has_member(m, "params") ||
	    json_object_is_type(m->params, json_type_object))
		return true;
	m->params = NULL;
	return broken(m, RPC_INVALID_PARAMS,
		      "\"params\" must be an object or "
		      "left out, found %s",
		      member_text(m, "params"));
}

static bool check_response(struct rpc_msg *m)
{
	m->result = json_member(m->root, "result");
	m->error = json_member(m->root, "error");
	if (!has_member(m, "error") ||
	    json_object_is_type(m->error, json_type_object))
		return true;
	m->error = NULL;
	return broken(m, RPC_INVALID_REQUEST,
		      "\"error\" must be an object, "
		      "found %s",
		      member_text(m, "error"));
}

static void check_one(struct rpc_msg *m, const char *text, size_t len)
{
	if (json_object_is_type(m->root, json_type_array)) {
		m->kind = RPC_BATCH;
		m->n_parts = json_object_array_length(m->root);
		if (m->n_parts == 0)
			broken(m, RPC_INVALID_REQUEST,
			       "a batch holds at least one message");
		return;
	}
	if (!json_object_is_type(m->root, json_type_object)) {
		broken(m, RPC_INVALID_REQUEST, "a message is a JSON object");
		return;
	}
	take_msg_id(m, text, len);
	if (!check_rpc_version(m) || !check_kind(m) || !check_rpc_id(m))
		return;
	if (m->kind == RPC_RESPONSE)
		check_response(m);
	else
		check_call(m);
}

/*
 * JSON that is not taken, such as half of a surrogate pair that a model left,
 * is answered by its id, since a client on stdio would wait for that.
 */
static void not_json(struct rpc_msg *m, const char *text, size_t len,
		     const struct json_error *err)
{
	struct json_span at;
	struct json_object *id;

	broken(m, RPC_PARSE_ERROR, "not JSON as this server takes it: %s",
	       err->text);
	if (!err->unfit || rpc_unread_id(&at, text, len) != 0 ||
	    at.len > RPC_ID_MAX ||
	    json_parse(&id, text + at.off, at.len, NULL) != 0)
		return;
	if ((json_object_is_type(id, json_type_string) ||
	     json_object_is_type(id, json_type_int) ||
	     json_object_is_type(id, json_type_double)) &&
	    is_id(text + at.off, at.len))
		m->id = xstrndup(text + at.off, at.len);
	json_object_put(id);
}

/* Parse a message; SKIM: without the values below the message's members. */
static void parse_one(struct rpc_msg *m, const char *text, size_t len,
		      bool skim)
{
	struct json_error err;
	int rc;

	*m = (struct rpc_msg){.bytes = len};
	rc = skim ? json_skim(&m->root, text, len, &err)
		  : json_parse_cost(&m->root, text, len, JSON_VALUES_MAX,
				    &m->cost, &err);
	if (rc != 0)
		not_json(m, text, len, &err);
	else
		check_one(m, text, len);
}

/*
 * Parse each part of the batch M as a message; the tree of the whole batch is
 * freed first.
 */
static void parse_parts(struct rpc_msg *m, const char *text, size_t len)
{
	struct json_span span;
	size_t at = 0;

	json_object_put(m->root);
	m->root = NULL;
	m->cost = 0;
	if (m->n_parts > RPC_BATCH_MAX)
		return;
	m->parts = xcalloc(m->n_parts, sizeof(*m->parts));
	for (size_t i = 0; json_next(&span, text, len, &at) == 0; i++) {
		struct rpc_msg *part = &m->parts[i];

		assert(i < m->n_parts); /* the two parsers read the same text */
		parse_one(part, text + span.off, span.len, false);
		if (part->kind == RPC_BATCH)
			broken(part, RPC_INVALID_REQUEST,
			       "a batch holds messages, not batches");
	}
}

void rpc_parse(struct rpc_msg *m, const char *text, size_t len)
{
	parse_one(m, text, len, false);
	if (m->kind == RPC_BATCH)
		parse_parts(m, text, len);
}

void rpc_refuse(struct rpc_msg *m, int code, const char *errmsg)
{
	bool answered = m->kind == RPC_REQUEST;
	struct rpc_msg refused = {.bytes = m->bytes,
				  .id = answered ? m->id : NULL};

	if (answered)
		m->id = NULL;
	rpc_fini(m);
	*m = refused;
	broken(m, code, "%s", errmsg);
}

void rpc_parse_refused(struct rpc_msg *m, const char *text, size_t len,
		       int code, const char *errmsg)
{
	parse_one(m, text, len, true);
	if (m->kind != RPC_BROKEN)
		rpc_refuse(m, code, errmsg);
}

void rpc_fini(struct rpc_msg *m)
{
	for (size_t i = 0; m->parts != NULL && i < m->n_parts; i++)
		rpc_fini(&m->parts[i]);
	free(m->parts);
	free(m->inputs);
	json_object_put(m->root);
	free(m->id);
	free(m->id_key);
	*m = (struct rpc_msg){0};
}

/*
 * A message under construction: after a piece that does not fit, no more is
 * added.
 */
struct draft {
	struct buf *out;
	size_t held; /* bytes in OUT before the message */
	int rc;
};

static void put_draft(struct draft *d, const char *s, size_t n)
{
	if (d->rc == 0)
		d->rc = buf_add(d->out, s, n);
}

static void put_str(struct draft *d, const char *s)
{
	put_draft(d, s, strlen(s));
}

/* Add V behind KEY, which is the text before the value: ",\"params\":". */
static void put_draft_value(struct draft *d, const char *key,
			    struct json_object *v)
{
	size_t n;
	const char *text = json_text(v, &n);

	put_str(d, key);
	put_draft(d, text, n);
}

/* Add S as a JSON string, cut at the first byte that is not UTF-8. */
static void put_quoted(struct draft *d, const char *key, const char *s)
{
	size_t n = utf8_valid_len(s, strlen(s));
	struct json_object *v = json_object_new_string_len(s, (int)n);

	if (v == NULL)
		abort();
	put_draft_value(d, key, v);
	json_object_put(v);
}

static struct draft begin_draft(struct buf *out)
{
	struct draft d = {.out = out, .held = buf_len(out)};

	put_str(&d, "{\"jsonrpc\":\"2.0\"");
	return d;
}

static void put_id(struct draft *d, const char *id)
{
	put_str(d, ",\"id\":");
	put_str(d, id != NULL ? id : "null");
}

/* Close the message, or remove its part from the buffer after a failure. */
static int finish_draft(struct draft *d)
{
	put_draft(d, "}", 1);
	if (d->rc != 0)
		d->out->len = d->out->off + d->held;
	return d->rc;
}

int rpc_put_result(struct buf *out, const char *id, struct json_object *result)
{
	struct draft d = begin_draft(out);

	put_id(&d, id);
	if (result != NULL)
		put_draft_value(&d, ",\"result\":", result);
	else
		put_str(&d, ",\"result\":{}");
	return finish_draft(&d);
}

int rpc_put_error(struct buf *out, const char *id, int code,
		  const char *message, struct json_object *data)
{
	struct draft d = begin_draft(out);
	char number[16];

	put_id(&d, id);
	snprintf(number, sizeof(number), "%d", code);
	put_str(&d, ",\"error\":{\"code\":");
	put_str(&d, number);
	put_quoted(&d, ",\"message\":", message);
	if (data != NULL)
		put_draft_value(&d, ",\"data\":", data);
	put_str(&d, "}");
	return finish_draft(&d);
}

int rpc_put_notification(struct buf *out, const char *method,
			 struct json_object *params)
{
	return rpc_put_request(out, NULL, method, params);
}

int rpc_put_request(struct buf *out, const char *id, const char *method,
		    struct json_object *params)
{
	struct draft d = begin_draft(out);

	if (id != NULL)
		put_id(&d, id);
	put_quoted(&d, ",\"method\":", method);
	if (params != NULL)
		put_draft_value(&d, ",\"params\":", params);
	return finish_draft(&d);
}
