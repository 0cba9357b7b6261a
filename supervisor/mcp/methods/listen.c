/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.c - subscriptions/listen, called by methods.c: a request which stays
 * open, and by whose stream the client is told of changes. Items the client may
 * not listen to are left out of the acknowledgement, without a reason. A
 * request over the bound is refused; a client which does not read is told
 * later.
 */
#include "supervisor/mcp/methods/methods.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/config/config.h"
#include "supervisor/mcp/tasks/listen_tasks.h"
#include "supervisor/mcp/methods/subscriber.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/session/request_backlog.h"

#define TOLD_IN_A_TURN 8
/* for a requestor with too many: a request may have ended */
#define RETRY_MS 1000

struct listen { /* request.state */
	struct request *request;
	struct server_observer server;
	unsigned lists;		 /* to report: a set of SESSION_LIST_* bits */
	unsigned changed;	 /* of LISTS, changed and not reported yet */
	struct subscriber *uris; /* NULL: the request has ended */
	struct listen_tasks *tasks;
	struct json_object *wanted_uris, *wanted_ids; /* *lent*, or NULL */
	struct json_object *uris_found, *ids_found; /* the part found so far */
	size_t next;	   /* index in both arrays together, to look for next */
	bool acknowledged; /* no notification is sent before */
	bool telling;
	bool ending; /* answer as soon as possible */
};

static void close_listen(struct listen *l)
{
	struct request *req = l->request;

	if (l->uris == NULL)
		return;
	req->requestor->n_listens--;
	sessions_unobserve(req->ctx->sessions, &l->server);
	subscriber_free(l->uris);
	listen_tasks_free(l->tasks);
	l->uris = NULL;
}

static void dropped(struct request *req)
{
	close_listen(req->state);
}

static void listen_free(void *state)
{
	struct listen *l = state;

	close_listen(l);
	json_object_put(l->uris_found);
	json_object_put(l->ids_found);
	free(l);
}

static const struct request_ops request_ops = {.dropped = dropped,
					       .free = listen_free};

/* ---- the end ---- */

static void finish_listen(struct listen *l)
{
	struct request *req = l->request;
	struct session *s = req->session;
	char *id = req->stream == NULL ? xstrdup(req->msg.id) : NULL;
	struct json_object *result = json_object_new_object(), *params;

	mcp_add_subscription(result, req->msg.id);
	/* first: after the answer, clients ignore the cancellation */
	request_result(req, result);
	if (id == NULL)
		return;
	/* over lines, cancel as well, as a page of the specification asks */
	params = json_pack("requestId:o reason:s", mcp_raw(id, strlen(id)),
			   "the server ends");
	mcp_add_subscription(params, id);
	session_tell(s, NULL, "notifications/cancelled", params);
	json_object_put(params);
	free(id);
}

/* ---- notifications ---- */

static void pump(struct listen *l);

static void listen_again(evutil_socket_t fd, short what, void *arg)
{
	struct request *req = arg;

	(void)fd, (void)what;
	pump(req->state);
}

static bool listen_is_due(const struct listen *l)
{
	return l->changed != 0 || listen_tasks_wait_ms(l->tasks) == 0;
}

/* Tell changes while the client reads, a few in a turn. */
static void tell_some(struct listen *l)
{
	struct request *req = l->request;
	struct json_object *params;
	int64_t wait_ms;

	for (int i = 0;
	     i < TOLD_IN_A_TURN && (listen_is_due(l) || req->backlogged); i++) {
		if (request_backlog_holds(req, listen_again))
			return;
		if (l->changed != 0) {
			params = json_object_new_object();
			mcp_add_subscription(params, req->msg.id);
			session_tell_lists(req->session, req->stream,
					   l->changed, params);
			json_object_put(params);
			l->changed = 0;
		} else if (listen_is_due(l)) {
			listen_tasks_tell(l->tasks);
		}
	}
	wait_ms = l->changed != 0 ? 0 : listen_tasks_wait_ms(l->tasks);
	if (wait_ms >= 0)
		request_set_timer(req, wait_ms, listen_again);
}

static void pump(struct listen *l)
{
	/* a notification may complete at once and call pump() again */
	if (l->telling)
		return;
	l->telling = true;
	if (l->acknowledged)
		tell_some(l);
	l->telling = false;
	if (l->ending && l->request->refs == 0)
		finish_listen(l);
}

static void on_task_due(struct request *req, bool now)
{
	struct listen *l = req->state;

	if (now)
		pump(l);
	else
		request_set_timer(req, 0, listen_again);
}

static void on_lists_changed(struct server_observer *o)
{
	struct listen *l = CONTAINER(o, struct listen, server);

	l->changed = l->lists;
	pump(l);
}

static void on_end(struct server_observer *o)
{
	struct listen *l = CONTAINER(o, struct listen, server);

	/* runs under way are awaited, and their ends told */
	if (!l->request->ctx->flush_until_ms && listen_tasks_any(l->tasks))
		return;
	l->ending = true;
	pump(l);
}

static const struct server_observer_ops server_ops = {
    .on_lists_changed = on_lists_changed, .on_end = on_end};

static enum subscriber_told tell_uri(void *arg, const char *uri)
{
	struct listen *l = arg;
	struct request *req = l->request;

	if (!l->acknowledged || session_is_backlogged(req->session))
		return SUBSCRIBER_LATER;
	request_notify(req, "notifications/resources/updated",
		       json_pack("uri:s", uri));
	return SUBSCRIBER_TOLD;
}

static const struct subscriber_ops subscriber_ops = {.tell = tell_uri};

/* ---- the items to listen to ---- */

static const struct {
	const char *name;
	unsigned list;
} flags[] = {
    {"toolsListChanged", SESSION_LIST_TOOLS},
    {"promptsListChanged", SESSION_LIST_PROMPTS},
    {"resourcesListChanged", SESSION_LIST_RESOURCES},
};

static void acknowledge(struct listen *l)
{
	struct json_object *honoured = json_object_new_object();

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if ((l->lists & flags[i].list) != 0)
			json_object_object_add(honoured, flags[i].name,
					       json_object_new_boolean(true));
	if (l->wanted_uris != NULL)
		json_add(honoured, "resourceSubscriptions:o",
			 json_object_get(l->uris_found));
	if (l->wanted_ids != NULL)
		json_add(honoured, "taskIds:o", json_object_get(l->ids_found));
	request_notify(l->request, "notifications/subscriptions/acknowledged",
		       json_pack("notifications:o", honoured));
	l->acknowledged = true;
	pump(l);
}

static void look_at_changes(struct listen *l);

static bool array_has(struct json_object *array, const char *text)
{
	for (size_t i = 0; i < json_length(array); i++)
		if (strcmp(text, json_object_get_string(
				     json_object_array_get_idx(array, i))) == 0)
			return true;
	return false;
}

static const char *wanted_uri(struct json_object *array, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(array, i));
}

static void on_uri(struct request *req, enum subscribed what)
{
	struct listen *l = req->state;
	const char *uri = wanted_uri(l->wanted_uris, l->next++);

	if (what == SUBSCRIBED_NOT_FOUND)
		requestor_missed(req->requestor);
	else if (what == SUBSCRIBED && !array_has(l->uris_found, uri))
		json_object_array_add(l->uris_found, json_text_new(uri));
	look_at_changes(l);
}

static const char *wanted_id(const struct listen *l)
{
	return wanted_uri(l->wanted_ids, l->next - json_length(l->wanted_uris));
}

static void on_task(struct request *req, bool found)
{
	struct listen *l = req->state;

	if (found)
		json_object_array_add(l->ids_found,
				      json_text_new(wanted_id(l)));
	l->next++;
	look_at_changes(l);
}

/* Look for the next item; the store has other requests between. */
static void look_at_changes(struct listen *l)
{
	struct request *req = l->request;
	size_t uris = json_length(l->wanted_uris);
	size_t all = uris + json_length(l->wanted_ids);

	while (l->next >= uris && l->next < all &&
	       array_has(l->ids_found, wanted_id(l)))
		l->next++;
	if (l->ending)
		pump(l);
	else if (l->next < uris)
		subscriber_add(l->uris, req,
			       wanted_uri(l->wanted_uris, l->next), on_uri);
	else if (l->next < all)
		listen_tasks_add(l->tasks, wanted_id(l), on_task);
	else
		acknowledge(l);
}

/* ---- the request ---- */

/* Read the lists in FILTER. False: REQ was answered. */
static bool read_filter_flags(struct request *req, struct json_object *filter,
			      unsigned *lists)
{
	struct json_object *v;

	*lists = 0;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
		v = json_member(filter, flags[i].name);
		if (v != NULL && !json_object_is_type(v, json_type_boolean)) {
			request_error(req, RPC_INVALID_PARAMS, NULL,
				      "%s takes true or false as "
				      "params.notifications.%s",
				      req->msg.method, flags[i].name);
			return false;
		}
		if (json_object_get_boolean(v))
			*lists |= flags[i].list;
	}
	return true;
}

static bool all_texts(struct json_object *array, size_t most)
{
	size_t n = json_length(array);

	for (size_t i = 0; i < n; i++) {
		struct json_object *v = json_object_array_get_idx(array, i);

		if (!json_object_is_type(v, json_type_string) ||
		    strlen(json_object_get_string(v)) !=
			(size_t)json_object_get_string_len(v))
			return false;
	}
	return n <= most;
}

/*
 * Read the array NAME of FILTER to *ARRAY (*lent*, or NULL). False: REQ was
 * answered.
 */
static bool read_strings(struct request *req, struct json_object *filter,
			 const char *name, size_t most,
			 struct json_object **array)
{
	*array = json_member(filter, name);
	if (*array == NULL || (json_object_is_type(*array, json_type_array) &&
			       all_texts(*array, most)))
		return true;
	request_error(req, RPC_INVALID_PARAMS, NULL,
		      "%s takes an array of at most %zu strings as "
		      "params.notifications.%s",
		      req->msg.method, most, name);
	return false;
}

/*
 * Has REQ's requestor as many listening requests as allowed? Then REQ is answered.
 */
static bool too_many(struct request *req)
{
	const struct requestor *q = req->requestor;
	int64_t own = q->section->max_listen_streams;
	int64_t most = own > 0 ? own : req->ctx->config->max_listen_streams;
	struct json_object *data;
	char *who;

	if ((int64_t)q->n_listens < most)
		return false;
	who = own > 0 ? xasprintf("the operator: max_listen_streams in "
				  "[requestor \"%s\"]",
				  q->name)
		      : xstrdup("the operator: max_listen_streams in [limits]");
	data = tool_error_limit("max_listen_streams", (int64_t)q->n_listens,
				most, "requests", who);
	json_add(data, "errorCode:s retryAfterMs:i", "QUOTA_EXCEEDED",
		 (int64_t)RETRY_MS);
	req->hint.retry_ms = RETRY_MS;
	request_error(req, RPC_RATE_LIMITED, data,
		      "%zu requests of yours listen already, and %lld may: "
		      "cancel one, or close its stream; who can raise that is "
		      "%s",
		      q->n_listens, (long long)most, who);
	free(who);
	return true;
}

/*
 * Refuse TASKS from a client without the extension. Returns whether REQ was
 * answered.
 */
static bool lacks_tasks(struct request *req, struct json_object *tasks)
{
	if (tasks == NULL ||
	    mcp_declares(req->terms->capabilities, MCP_EXTENSION_TASKS))
		return false;
	request_error(
	    req, RPC_MISSING_CAPABILITY,
	    mcp_missing_capability(MCP_EXTENSION_TASKS),
	    "params.notifications.taskIds is for clients that declare "
	    "the extension io.modelcontextprotocol/tasks in each "
	    "request");
	return true;
}

/* Read REQ's filter to L. False: REQ was answered. */
static bool read_filter(struct request *req, struct listen *l)
{
	struct json_object *filter =
	    json_member(req->msg.params, "notifications");

	/* the filter would be kept in memory */
	if (rpc_async_is_large(req->msg.bytes)) {
		request_error(req, RPC_INVALID_PARAMS, NULL,
			      "%s has %zu bytes; at most %d are taken",
			      req->msg.method, req->msg.bytes, RPC_ASYNC_LARGE);
		return false;
	}
	if (json_object_is_type(filter, json_type_object))
		return read_filter_flags(req, filter, &l->lists) &&
		       read_strings(req, filter, "resourceSubscriptions",
				    LISTEN_URIS_MAX, &l->wanted_uris) &&
		       read_strings(req, filter, "taskIds", LISTEN_TASKS_MAX,
				    &l->wanted_ids) &&
		       !lacks_tasks(req, l->wanted_ids);
	request_error(req, RPC_INVALID_PARAMS, NULL,
		      "%s needs params.notifications, an object such as "
		      "{\"toolsListChanged\": true}",
		      req->msg.method);
	return false;
}

void listen_begin(struct request *req)
{
	struct listen asked = {.request = req}, *l;

	if (!read_filter(req, &asked) || too_many(req))
		return;
	l = xcalloc(1, sizeof(*l));
	*l = asked;
	l->uris_found = json_object_new_array();
	l->ids_found = json_object_new_array();
	l->uris = subscriber_new(req->session, &subscriber_ops, l);
	l->tasks = listen_tasks_new(req, on_task_due);
	req->requestor->n_listens++;
	request_set_state(req, &request_ops, l);
	sessions_observe(req->ctx->sessions, &l->server, &server_ops);
	look_at_changes(l);
}
