/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forwarded_response.c - forwards a client's responses between servers which
 * share a store. A session over HTTP exists at each server which got a request
 * of it. The client may send its response to any server; the id says which
 * server asked, and the response is forwarded there through the store. A
 * response which cannot be forwarded is lost, and logged.
 */
#include "supervisor/cluster/forwarded_response.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/id.h"
#include "base/mem.h"
#include "base/os/log.h"
#include "proto/json/json.h"
#include "supervisor/context.h"
#include "supervisor/run/exec/runs.h"
#include "supervisor/session/client_request.h"
#include "supervisor/store/store_shared.h"
#include "supervisor/run/threads/rpc_async.h"

#define OURS CLIENT_REQUEST_NAME
#define MESSAGE_MS 60000 /* no living server takes so long to read a message */
/* bytes of a requestor's messages not yet in the database */
#define ON_THEIR_WAY_MAX (8u << 20)

/* May another server have S as well? */
static bool session_is_shared(const struct session *s)
{
	return s->ops->key != NULL && s->ctx->cluster != NULL;
}

bool forwarded_response_name(char *out, size_t size, const struct session *s,
			     uint64_t n)
{
	if (!session_is_shared(s))
		return false;
	snprintf(out, size, "\"" OURS "%s-%" PRIu64 "\"", s->ctx->instance, n);
	runs_expect_mail(s->ctx->runs);
	return true;
}

/* ---- to another server ---- */

/*
 * Write to OUT the instance which asked by ID, a JSON text. False: no instance
 * but SELF.
 */
static bool asker_of(char out[ID_SIZE], const char *id, const char *self)
{
	size_t len = ID_TEXT("inst");

	if (id == NULL || strncmp(id, "\"" OURS, strlen("\"" OURS)) != 0)
		return false;
	id += strlen("\"" OURS);
	if (strlen(id) <= len || id[len] != '-')
		return false;
	memcpy(out, id, len);
	out[len] = '\0';
	return id_ok(out, "inst") && strcmp(out, self) != 0;
}

struct sent {
	struct requestor *who;
	size_t bytes;
};

static void on_sent(void *arg, const struct store_result *res)
{
	struct sent *sent = arg;

	sent->who->message_bytes -= sent->bytes;
	if (res->rc != 0)
		log_rarely("session", "requestor=%s response=lost err=\"%s\"",
			   sent->who->name, res->errmsg);
	free(sent);
}

static void post(struct session *s, const char *asker, const char *text,
		 size_t len)
{
	struct sent *sent = xcalloc(1, sizeof(*sent));
	char key[SESSION_KEY_SIZE];
	struct buf body = {0};

	*sent = (struct sent){s->requestor, len};
	s->requestor->message_bytes += len;
	s->ops->key(s->arg, key);
	buf_printf(&body, "%s\n", key);
	buf_add(&body, text, len);
	buf_add(&body, "", 1);
	store_send_to(s->ctx->store, s->requestor->name, asker, buf_data(&body),
		      clock_wall_ms() + MESSAGE_MS, on_sent, sent);
	buf_fini(&body);
}

void forwarded_response_forward(struct session *s, const struct rpc_msg *m)
{
	char asker[ID_SIZE];
	/*
	 * a large M is sent by the text that came, since making the text anew would
	 * take the loop too long
	 */
	const char *text = m->inputs;
	size_t len = m->inputs_len;

	if (!session_is_shared(s) || !asker_of(asker, m->id, s->ctx->instance))
		return;
	if (text == NULL && !rpc_async_is_large(m->bytes))
		text = json_text(m->root, &len);
	if (text == NULL)
		log_rarely(
		    "session",
		    "requestor=%s response=lost err=\"it has %zu bytes, "
		    "and another server than the one that asked is given "
		    "at most %u, which is fixed\"",
		    s->requestor->name, m->bytes, RPC_ASYNC_TEXT_MAX);
	else if (s->requestor->message_bytes + len > ON_THEIR_WAY_MAX)
		log_rarely("session",
			   "requestor=%s response=lost err=\"%zu bytes of such "
			   "are on their way to other servers already, and at "
			   "most %u may be, which is fixed\"",
			   s->requestor->name, s->requestor->message_bytes,
			   ON_THEIR_WAY_MAX);
	else
		post(s, asker, text, len);
}

/* ---- from another server ---- */

const char *forwarded_response_open(char key[SESSION_KEY_SIZE],
				    const struct store_message *message)
{
	const char *body = message->body;

	key[0] = '\0';
	if (strcmp(message->run_id, STORE_MESSAGE_TO_SESSION) != 0 ||
	    strcspn(body, "\n") != SESSION_KEY_SIZE - 1 ||
	    body[SESSION_KEY_SIZE - 1] == '\0')
		return body;
	snprintf(key, SESSION_KEY_SIZE, "%s", body);
	return body + SESSION_KEY_SIZE;
}

/*
 * Return the session KEY of Q if it awaits a response of its client, or NULL.
 */
static struct session *find_target(const struct context *ctx,
				   const struct requestor *q, const char *key)
{
	char own[SESSION_KEY_SIZE];
	struct session *s;

	LIST_FOREACH(s, &ctx->sessions->all, link) {
		if (s->requestor != q || s->client_requests == NULL ||
		    !session_is_shared(s))
			continue;
		s->ops->key(s->arg, own);
		if (strcmp(own, key) == 0)
			return s;
	}
	return NULL;
}

bool forwarded_response_awaits(const struct context *ctx,
			       const struct requestor *q, const char *key)
{
	return find_target(ctx, q, key) != NULL;
}

void forwarded_response_hear(const struct context *ctx,
			     const struct requestor *q, const char *key,
			     struct rpc_msg *m)
{
	struct session *s = find_target(ctx, q, key);

	if (s != NULL && m->kind == RPC_RESPONSE)
		client_request_response(s, m);
}
