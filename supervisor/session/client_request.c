/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/session/client_request.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/log.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "supervisor/server.h"

#define NAME_BYTES 32 /* of an id: "paddock-N", in its quotes */

struct asked {
	struct session *session;
	char id[NAME_BYTES]; /* raw JSON text */
	void *route;
	asked_done done;
	void *arg;
	struct event *deadline;
	LIST_ENTRY(asked) link; /* in session.askeds */
};

static void asked_free(struct asked *a)
{
	LIST_REMOVE(a, link);
	a->session->n_askeds--;
	event_free(a->deadline);
	free(a);
}

static void finish(struct asked *a, enum asked_end end, struct rpc_msg *m)
{
	asked_done done = a->done;
	void *arg = a->arg;

	asked_free(a);
	done(arg, end, m);
}

static void tell_cancelled(struct asked *a, const char *reason)
{
	struct json_object *params = json_object_new_object();
	size_t len = strlen(a->id);

	json_object_object_add(
	    params, "requestId",
	    json_object_new_string_len(a->id + 1, (int)len - 2));
	json_object_object_add(params, "reason", json_object_new_string(reason));
	session_tell(a->session, a->route, "notifications/cancelled", params);
	json_object_put(params);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct asked *a = arg;

	(void)fd, (void)what;
	tell_cancelled(a, "no answer came in time");
	finish(a, ASKED_EXPIRED, NULL);
}

struct asked *asked_send(struct session *s, void *route, const char *method,
			 struct json_object *params, int64_t timeout_ms,
			 asked_done done, void *arg)
{
	struct timeval tv = {.tv_sec = timeout_ms / 1000,
			     .tv_usec = timeout_ms % 1000 * 1000};
	struct buf out = {0};
	struct asked *a;

	if (s->n_askeds >= SESSION_ASKEDS_MAX)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	*a = (struct asked){
	    .session = s, .route = route, .done = done, .arg = arg};
	snprintf(a->id, sizeof(a->id), "\"paddock-%" PRIu64 "\"",
		 ++s->last_asked);
	a->deadline = evtimer_new(s->server->base, on_deadline, a);
	evtimer_add(a->deadline, &tv);
	LIST_INSERT_HEAD(&s->askeds, a, link);
	s->n_askeds++;
	rpc_put_request(&out, a->id, method, params);
	s->ops->send(s->arg, route, buf_data(&out), buf_len(&out));
	buf_fini(&out);
	return a;
}

void asked_drop(struct asked *a, const char *reason)
{
	if (reason != NULL)
		tell_cancelled(a, reason);
	asked_free(a);
}

/* The key of our ids is what their text is, less the quote at its end. */
static bool is_for(const struct asked *a, const struct rpc_msg *m)
{
	size_t len = strlen(a->id) - 1;

	return m->id_key_len == len && memcmp(m->id_key, a->id, len) == 0;
}

bool asked_answer(struct session *s, struct rpc_msg *m)
{
	struct asked *a;

	LIST_FOREACH(a, &s->askeds, link)
		if (m->id != NULL && is_for(a, m))
			break;
	if (a == NULL) {
		log_debug("session", "requestor=%s response=\"%.64s\" ignored=yes",
			  s->requestor->name, m->id != NULL ? m->id : "null");
		return false;
	}
	if (json_object_is_type(m->result, json_type_object))
		finish(a, ASKED_RESULT, m);
	else
		finish(a, ASKED_REFUSED, m);
	return true;
}

void asked_all_gone(struct session *s)
{
	struct asked *a;

	while ((a = LIST_FIRST(&s->askeds)) != NULL)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): they leave it */
		finish(a, ASKED_GONE, NULL);
}
