/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subscriptions.c - resources/subscribe and unsubscribe: the subscriber of a
 * session, and its notifications. methods.c calls it, http_session_store.c
 * keeps the URIs. The URI of no resource is not found; a URI over the bound is
 * refused.
 */
#include "supervisor/mcp/methods/methods.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "supervisor/mcp/methods/resources.h"
#include "supervisor/mcp/methods/subscriber.h"

struct session_subscriptions {
	struct session *session; /* borrowed */
	struct subscriber *uris;
	struct session_observer observer;
};

static enum subscriber_told tell_session(void *arg, const char *uri)
{
	struct session *s = arg;
	struct json_object *params;

	if (session_is_backlogged(s)) /* told when the client reads again */
		return SUBSCRIBER_LATER;
	if (!session_has_push_stream(s))
		return SUBSCRIBER_NO_STREAM;
	params = json_pack("uri:s", uri);
	session_tell(s, NULL, "notifications/resources/updated", params);
	json_object_put(params);
	return SUBSCRIBER_TOLD;
}

static const struct subscriber_ops session_ops = {.tell = tell_session};

static void on_gone(struct session_observer *observer)
{
	struct session_subscriptions *own =
	    CONTAINER(observer, struct session_subscriptions, observer);
	struct session *s = own->session;

	session_unobserve(s, observer);
	s->subscriptions = NULL;
	subscriber_free(own->uris);
	free(own);
}

static void on_push_open(struct session_observer *observer)
{
	subscriber_tell_missed(
	    CONTAINER(observer, struct session_subscriptions, observer)->uris);
}

static const struct session_observer_ops observer_ops = {
    .on_gone = on_gone, .on_push_open = on_push_open};

static struct subscriber *of_session(struct session *s)
{
	struct session_subscriptions *own = s->subscriptions;

	if (own == NULL) {
		own = s->subscriptions = xcalloc(1, sizeof(*own));
		own->session = s;
		own->uris = subscriber_new(s, &session_ops, s);
		session_observe(s, &own->observer, &observer_ops);
	}
	return own->uris;
}

static void done(struct request *req)
{
	request_result(req, json_object_new_object());
}

static const char *uri_of(const struct request *req)
{
	return json_member_str(req->msg.params, "uri");
}

/* Return REQ's uri; NULL: missing, and REQ was answered. */
static const char *need_uri(struct request *req)
{
	const char *uri = uri_of(req);

	if (uri == NULL)
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "%s needs params.uri, a string", req->msg.method);
	return uri;
}

static void on_added(struct request *req, enum subscribed what)
{
	if (what == SUBSCRIBED_NOT_FOUND) {
		resources_not_found(req, uri_of(req));
	} else if (what == SUBSCRIBED_TOO_MANY) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "this session has %d subscriptions, which is the "
			      "most; resources/unsubscribe ends one",
			      SUBSCRIPTIONS_MAX);
	} else {
		session_changed(req->session);
		done(req);
	}
}

void subscriptions_add(struct request *req)
{
	const char *uri = need_uri(req);

	if (uri != NULL)
		subscriber_add(of_session(req->session), req, uri, on_added);
}

void subscriptions_drop(struct request *req)
{
	const char *uri = need_uri(req);

	if (uri == NULL)
		return;
	if (subscriber_drop(of_session(req->session), uri))
		session_changed(req->session);
	done(req);
}

/* ---- after a restart ---- */

struct json_object *subscriptions_list(const struct session *s, size_t bytes)
{
	return s->subscriptions != NULL
		   ? subscriber_list(s->subscriptions->uris, bytes)
		   : json_object_new_array();
}

void subscriptions_restore(struct session *s, struct json_object *uris)
{
	size_t n = json_length(uris);

	for (size_t i = 0; i < n && i < SUBSCRIPTIONS_MAX; i++) {
		struct json_object *uri = json_object_array_get_idx(uris, i);

		if (json_object_is_type(uri, json_type_string))
			subscriber_restore(of_session(s),
					   json_object_get_string(uri));
	}
}
