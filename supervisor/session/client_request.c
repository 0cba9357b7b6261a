/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_request.c - a request of ours to a client until its response, deadline
 * or cancellation. client_task.c sends them for a template's questions. Too
 * many under way is NULL; a client that is silent, answers an error or goes is
 * one callback each.
 */
#include "supervisor/session/client_request.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"

#define NAME_BYTES 32 /* of an id: "paddock-N", in its quotes */

struct client_request {
	struct session *session;
	char id[NAME_BYTES]; /* raw JSON text */
	void *stream;
	client_request_done done;
	void *arg;
	struct event *deadline;
	LIST_ENTRY(client_request) link; /* in session.askeds */
};

static void client_request_free(struct client_request *a)
{
	LIST_REMOVE(a, link);
	a->session->n_client_requests--;
	event_free(a->deadline);
	free(a);
}

static void finish(struct client_request *a, enum client_request_end end,
		   struct rpc_msg *m)
{
	client_request_done done = a->done;
	void *arg = a->arg;

	client_request_free(a);
	done(arg, end, m);
}

static void tell_cancelled(struct client_request *a, const char *reason)
{
	struct json_object *params = json_pack(
	    "requestId:S reason:s", a->id + 1, strlen(a->id) - 2, reason);

	session_tell(a->session, a->stream, "notifications/cancelled", params);
	json_object_put(params);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct client_request *a = arg;

	(void)fd, (void)what;
	tell_cancelled(a, "no answer came in time");
	finish(a, CLIENT_REQUEST_EXPIRED, NULL);
}

struct client_request *client_request_send(struct session *s, void *stream,
					   const char *method,
					   struct json_object *params,
					   int64_t timeout_ms,
					   client_request_done done, void *arg)
{
	struct buf out = {0};
	struct client_request *a;

	if (s->n_client_requests >= SESSION_CLIENT_REQUESTS_MAX)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	*a = (struct client_request){
	    .session = s, .stream = stream, .done = done, .arg = arg};
	snprintf(a->id, sizeof(a->id), "\"paddock-%" PRIu64 "\"",
		 ++s->last_asked);
	a->deadline = evtimer_new(s->ctx->base, on_deadline, a);
	evtimer_add(a->deadline, CLOCK_TIMEVAL(timeout_ms));
	LIST_INSERT_HEAD(&s->client_requests, a, link);
	s->n_client_requests++;
	rpc_put_request(&out, a->id, method, params);
	s->ops->send(s->arg, stream, buf_data(&out), buf_len(&out));
	buf_fini(&out);
	return a;
}

void client_request_drop(struct client_request *a, const char *reason)
{
	if (reason != NULL)
		tell_cancelled(a, reason);
	client_request_free(a);
}

/* The key of our ids is what their text is, less the quote at its end. */
static bool is_for(const struct client_request *a, const struct rpc_msg *m)
{
	size_t len = strlen(a->id) - 1;

	return m->id_key_len == len && memcmp(m->id_key, a->id, len) == 0;
}

bool client_request_response(struct session *s, struct rpc_msg *m)
{
	struct client_request *a;

	LIST_FOREACH(a, &s->client_requests, link)
		if (m->id != NULL && is_for(a, m))
			break;
	if (a == NULL) {
		log_debug("session",
			  "requestor=%s response=\"%.64s\" ignored=yes",
			  s->requestor->name, m->id != NULL ? m->id : "null");
		return false;
	}
	if (json_object_is_type(m->result, json_type_object))
		finish(a, CLIENT_REQUEST_RESULT, m);
	else
		finish(a, CLIENT_REQUEST_REFUSED, m);
	return true;
}

void client_requests_gone(struct session *s)
{
	struct client_request *a;

	while ((a = LIST_FIRST(&s->client_requests)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): they leave it */
		finish(a, CLIENT_REQUEST_GONE, NULL);
}
