/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_request.c - a request of the server to a client until the response,
 * the deadline or the cancellation. client_task.c sends them for the questions
 * of templates. With too many under way NULL is returned; a client which is
 * silent, answers an error or goes ends a request by one callback.
 */
#include "supervisor/session/client_request.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/run/exec/cluster.h"

#define NAME_BYTES 80 /* of an id, with its quotes */

struct client_request {
	struct session *session;
	char id[NAME_BYTES]; /* raw JSON text */
	void *stream;
	client_request_done done;
	void *arg;
	struct event *deadline;
	struct session_observer observer;
	UT_hash_handle hh; /* in session.client_requests */
};

static void client_request_free(struct client_request *a)
{
	session_unobserve(a->session, &a->observer);
	HASH_DEL(a->session->client_requests, a);
	event_free(a->deadline);
	a->session->ctx->client_requests--;
	free(a);
}

static void finish_question(struct client_request *a,
			    enum client_request_end end, struct rpc_msg *m)
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
	finish_question(a, CLIENT_REQUEST_EXPIRED, NULL);
}

static void on_gone(struct session_observer *o)
{
	finish_question(CONTAINER(o, struct client_request, observer),
			CLIENT_REQUEST_GONE, NULL);
}

static const struct session_observer_ops observer_ops = {.on_gone = on_gone};

struct client_request *client_request_send(struct session *s, void *stream,
					   const char *method,
					   struct json_object *params,
					   int64_t timeout_ms,
					   client_request_done done, void *arg)
{
	const struct cluster *c = s->ctx->cluster;
	struct buf out = {0};
	struct client_request *a;

	if (HASH_COUNT(s->client_requests) >= SESSION_CLIENT_REQUESTS_MAX)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	*a = (struct client_request){
	    .session = s, .stream = stream, .done = done, .arg = arg};
	s->last_asked++;
	if (c == NULL ||
	    !c->name_request(a->id, sizeof(a->id), s, s->last_asked))
		snprintf(a->id, sizeof(a->id),
			 "\"" CLIENT_REQUEST_NAME "%" PRIu64 "\"",
			 s->last_asked);
	s->ctx->client_requests++;
	a->deadline = evtimer_new(s->ctx->base, on_deadline, a);
	evtimer_add(a->deadline, CLOCK_TIMEVAL(timeout_ms));
	session_observe(s, &a->observer, &observer_ops);
	/* the key of a text id: its JSON text without the closing quote */
	HASH_ADD_KEYPTR(hh, s->client_requests, a->id, strlen(a->id) - 1, a);
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

bool client_request_response(struct session *s, struct rpc_msg *m)
{
	struct client_request *a = NULL;

	if (m->id != NULL)
		HASH_FIND(hh, s->client_requests, m->id_key, m->id_key_len, a);
	if (a == NULL) {
		log_debug("session",
			  "requestor=%s response=\"%.64s\" ignored=yes",
			  s->requestor->name, m->id != NULL ? m->id : "null");
		return false;
	}
	if (json_object_is_type(m->result, json_type_object))
		finish_question(a, CLIENT_REQUEST_RESULT, m);
	else
		finish_question(a, CLIENT_REQUEST_REFUSED, m);
	return true;
}
