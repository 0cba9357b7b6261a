/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_elsewhere.c - a session over HTTP is one at each machine that a request of its
 * comes to. What one of them has asked the client is answered by a POST to any: that one
 * sees by the id who asked, and writes there. An answer that cannot be sent is lost, as
 * one that never came, and the log says so.
 */
#include "supervisor/session/client_elsewhere.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/os/log.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/exec/runs.h"
#include "supervisor/session/client_request.h"
#include "supervisor/store/store_shared.h"
#include "supervisor/threads/rpc_async.h"

#define OURS "paddock-"
#define LETTER_MAX (1u << 20) /* bytes: it is read at once */
#define LETTER_MS 60000	      /* nobody who lives takes that long to read it */

/* May another machine have S? */
static bool is_shared(const struct session *s)
{
	return s->ops->key != NULL && s->ctx->store != NULL &&
	       store_is_shared(s->ctx->store);
}

void client_elsewhere_name(char *out, size_t size, struct session *s)
{
	uint64_t n = ++s->last_asked;

	if (!is_shared(s)) {
		snprintf(out, size, "\"" OURS "%" PRIu64 "\"", n);
		return;
	}
	snprintf(out, size, "\"" OURS "%s-%" PRIu64 "\"", s->ctx->instance, n);
	runs_expect_mail(s->ctx->runs);
}

/* ---- from here ---- */

/* Who asked by ID, JSON text, to OUT; false: nobody else. */
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

static void on_sent(void *arg, const struct store_result *res)
{
	(void)arg;
	if (res->rc != 0)
		log_rarely("session", "response=lost err=\"%s\"", res->errmsg);
}

void client_elsewhere_forward(struct session *s, const struct rpc_msg *m)
{
	char asker[ID_SIZE], key[SESSION_KEY_SIZE];
	struct json_object *letter;
	const char *text;
	size_t len;

	if (!is_shared(s) || !asker_of(asker, m->id, s->ctx->instance))
		return;
	if (json_weigh(m->root, LETTER_MAX) > LETTER_MAX) {
		log_rarely(
		    "session",
		    "requestor=%s response=lost err=\"it has %zu bytes, "
		    "and another server than the one that asked is given "
		    "at most %u, which is fixed\"",
		    s->requestor->name, m->bytes, LETTER_MAX);
		return;
	}
	s->ops->key(s->arg, key);
	letter = json_pack("session:s requestor:s response:O", key,
			   s->requestor->name, m->root);
	text = json_text(letter, &len);
	store_send_to(s->ctx->store, asker, text, clock_wall_ms() + LETTER_MS,
		      on_sent, NULL);
	json_object_put(letter);
}

/* ---- to here ---- */

static bool is_of(const struct session *s, struct json_object *letter)
{
	char key[SESSION_KEY_SIZE];

	if (s->client_requests == NULL || !is_shared(s) ||
	    !json_member_is(letter, "requestor", s->requestor->name))
		return false;
	s->ops->key(s->arg, key);
	return json_member_is(letter, "session", key);
}

void client_elsewhere_hear(struct context *ctx, const char *body)
{
	struct json_object *letter = NULL;
	struct session *s = NULL;
	struct rpc_msg m;
	const char *text;
	size_t len;

	if (json_parse(&letter, body, strlen(body), NULL) != 0)
		return;
	LIST_FOREACH(s, &ctx->sessions->all, link)
		if (is_of(s, letter))
			break;
	text = json_text(json_member(letter, "response"), &len);
	if (s != NULL) {
		rpc_parse(&m, text, len);
		if (m.kind == RPC_RESPONSE)
			client_request_response(s, &m);
		rpc_async_free(ctx->thread_pool, s->requestor, &m);
	}
	json_object_put(letter);
}
