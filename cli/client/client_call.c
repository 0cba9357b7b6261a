/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_call.c - the commands' questions to a server: tools, methods,
 * resources and their changes, long results in parts, and when to ask again. client.c carries the
 * messages. When the connection ends, client.c prints the reason, and each
 * function here is negative or returns the exit status.
 */
#include "cli/client/client.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client_private.h"
#include "proto/json/json_pack.h"

#define NO_REQUEST (-1) /* an id that no answer has */
#define LIMITED_LEAST_MS 50
#define LIMITED_MOST_MS 10000

/* ---- sending ---- */

static struct json_object *tool_params(const struct client *c, const char *tool,
				       struct json_object *args)
{
	return json_pack("_meta:o name:s arguments:o",
			 json_pack("progressToken:i", c->last_id + 1), tool,
			 args);
}

int64_t client_send_tool(struct client *c, const char *tool,
			 struct json_object *args)
{
	return client_request(c, "tools/call", tool_params(c, tool, args));
}

int64_t client_send_answers(struct client *c, const char *tool,
			    struct json_object *args, const char *state,
			    struct json_object *responses)
{
	struct json_object *params = tool_params(c, tool, args);

	json_add(params, "requestState?s inputResponses:o", state, responses);
	return client_request(c, "tools/call", params);
}

void client_cancel(struct client *c, int64_t id)
{
	client_notify(c, "notifications/cancelled",
		      json_pack("requestId:i", id));
}

/* ---- waiting ---- */

/* ---- results too long for one message ---- */

/*
 * Read the part of URI from byte FROM on. While the server limits the rate,
 * wait and ask again.
 */
static int read_part(struct client *c, const char *uri, size_t from,
		     struct tool_result *a)
{
	char *part = xasprintf("%s?offset=%zu", uri, from);
	int rc;

	do {
		rc = client_wait(c,
				 client_request(c, "resources/read",
						json_pack("uri:s", part)),
				 CLIENT_FOREVER, a);
		if (rc == 0)
			rc = client_ask_again(c, INT64_MAX, a);
	} while (rc > 0);
	free(part);
	return rc;
}

int client_read_text(struct client *c, const char *uri, size_t from,
		     struct buf *out, struct tool_result *a)
{
	for (;;) {
		int rc = read_part(c, uri, from, a);
		struct json_object *text;
		size_t n;

		if (rc < 0 || !a->good)
			return rc;
		text = json_member(a->value, "text");
		n = text != NULL ? (size_t)json_object_get_string_len(text) : 0;
		buf_add(out, n > 0 ? json_object_get_string(text) : "", n);
		from += n;
		if (n == 0 || json_member_str(json_member(a->value, "_meta"),
					      "paddock/next") == NULL)
			return 0;
		tool_result_fini(a);
	}
}

/*
 * If A is a run whose result is only named by a resultUri, read the result and
 * put it into A; on a refusal A becomes the refusal. 0, or -errno: the server
 * is gone.
 */
static int read_full_result(struct client *c, struct tool_result *a)
{
	const char *uri = json_member_str(a->value, "resultUri");
	struct json_object *result = NULL;
	struct buf text = {0};
	struct tool_result part;
	int rc;

	if (uri == NULL || json_member_str(a->value, "runId") == NULL)
		return 0;
	rc = client_read_text(c, uri, 0, &text, &part);
	if (rc < 0) {
		buf_fini(&text);
		return rc;
	}
	if (part.good &&
	    json_parse(&result, buf_data(&text), buf_len(&text), NULL) < 0)
		part.good = false; /* never: the server parsed the result */
	buf_fini(&text);
	if (!part.good) {
		tool_result_fini(a);
		*a = part;
		return 0;
	}
	tool_result_fini(&part);
	json_add(a->value, "result:o", result);
	json_object_object_del(a->value, "resultUri");
	json_object_object_del(a->value, "resultBytes");
	json_object_object_del(a->value, "resultOmitted");
	return 0;
}

int client_wait(struct client *c, int64_t id, int ms, struct tool_result *a)
{
	struct rpc_msg m;
	int rc = client_wait_message(c, id, ms, &m);

	if (rc < 0)
		return rc;
	tool_result_read(a, &m);
	rpc_fini(&m);
	rc = read_full_result(c, a);
	if (rc < 0)
		tool_result_fini(a);
	return rc;
}

/*
 * In a session each subscription is a request that is answered; without a
 * session one subscriptions/listen stays open.
 */
int client_subscribe(struct client *c, const char *const *uris, size_t n)
{
	struct json_object *all = json_object_new_array();
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		struct tool_result a = {0};

		json_object_array_add(all, json_object_new_string(uris[i]));
		if (!c->stateless)
			rc = client_wait(
			    c,
			    client_request(c, "resources/subscribe",
					   json_pack("uri:s", uris[i])),
			    CLIENT_FOREVER, &a);
		tool_result_fini(&a);
	}
	if (!c->stateless)
		json_object_put(all);
	else
		client_request(
		    c, "subscriptions/listen",
		    json_pack("notifications:o",
			      json_pack("resourceSubscriptions:o", all)));
	return rc;
}

int client_wait_update(struct client *c, int ms)
{
	int64_t end = clock_mono_ms() + ms, left;

	while (!c->updated) {
		int rc;

		left = end - clock_mono_ms();
		rc = client_pump(c, left > 0 ? (int)left : 0);
		if (rc < 0)
			return rc;
	}
	c->updated = false;
	return 0;
}

int client_pause(struct client *c, int64_t ms)
{
	struct rpc_msg none;
	int rc = client_wait_message(c, NO_REQUEST, (int)ms, &none);

	return rc == -ETIMEDOUT ? 0 : rc;
}

/* ---- asking until there is an answer ---- */

int64_t client_limited(const struct tool_result *a)
{
	int64_t ms =
	    json_member_int(json_member(a->value, "details"), "retryAfterMs");

	if (a->good || !json_member_is(a->value, "errorCode", "RATE_LIMITED"))
		return 0;
	return ms < LIMITED_LEAST_MS  ? LIMITED_LEAST_MS
	       : ms > LIMITED_MOST_MS ? LIMITED_MOST_MS
				      : ms;
}

int client_ask_again(struct client *c, int64_t until_ms, struct tool_result *a)
{
	int64_t ms = client_limited(a);
	int rc;

	if (ms == 0 || clock_mono_ms() > until_ms)
		return 0;
	tool_result_fini(a);
	rc = client_pause(c, ms);
	return rc < 0 ? rc : 1;
}

int client_tool(struct client *c, const char *tool, struct json_object *args,
		struct tool_result *a)
{
	int64_t until_ms = clock_mono_ms() + CLIENT_PATIENCE_MS;
	int rc;

	do {
		rc = client_wait(
		    c, client_send_tool(c, tool, json_object_get(args)),
		    CLIENT_FOREVER, a);
		if (rc == 0)
			rc = client_ask_again(c, until_ms, a);
	} while (rc > 0);
	json_object_put(args);
	return rc < 0 ? client_trouble() : 0;
}

int client_method(struct client *c, const char *method,
		  struct json_object *params, struct tool_result *a)
{
	int64_t id, until_ms = clock_mono_ms() + CLIENT_PATIENCE_MS;
	struct rpc_msg m;
	int rc;

	do {
		id = client_request(c, method, json_object_get(params));
		rc = client_wait_message(c, id, CLIENT_FOREVER, &m);
		if (rc < 0)
			break;
		if (m.error != NULL)
			tool_result_read(a, &m);
		else
			*a = (struct tool_result){
			    .good = true, .value = json_object_get(m.result)};
		rpc_fini(&m);
		rc = client_ask_again(c, until_ms, a);
	} while (rc > 0);
	json_object_put(params);
	return rc < 0 ? client_trouble() : 0;
}
