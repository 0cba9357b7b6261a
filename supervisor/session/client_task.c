/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_task.c - a request of the server which the client may answer by a task
 * of its own, which is then polled and fetched. input.c and asks.c ask by
 * it. A client which breaks its own task, or is silent too long, ends the
 * request with a sentence for the asker.
 */
#include "supervisor/session/client_task.h"

#include <event2/event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"
#include "supervisor/session/client_request.h"

#define ID_BYTES_MAX 1024 /* of an id given by the client */
#define POLL_MS 1000	  /* interval of polls if the client names none */
#define POLL_LEAST_MS 50
#define POLL_MOST_MS 30000
#define SLACK_MS 5000 /* added, so that the caller's own deadline comes first */

struct client_task {
	struct session *session;
	void *stream;
	bool augmented; /* the client may answer with a task */
	int64_t ttl_ms;
	/* the request or poll under way; NULL: between polls */
	struct client_request *asked;
	char *id; /* of the client's task, or NULL */
	int64_t poll_ms;
	struct event *again;
	client_task_done done;
	void *arg;
	struct session_observer observer;
};

static void task_free(struct client_task *t)
{
	session_unobserve(t->session, &t->observer);
	t->session->n_client_tasks--;
	if (t->again != NULL)
		event_free(t->again);
	free(t->id);
	free(t);
}

static void finish_client_task(struct client_task *t, enum client_task_end end,
			       struct rpc_msg *m, const char *errmsg)
{
	client_task_done done = t->done;
	void *arg = t->arg;

	task_free(t);
	done(arg, end, m, errmsg);
}

static void fail_client_task(struct client_task *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void fail_client_task(struct client_task *t, const char *fmt, ...)
{
	char errmsg[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(errmsg, sizeof(errmsg), fmt, ap);
	va_end(ap);
	utf8_mend(errmsg);
	finish_client_task(t, CLIENT_TASK_FAILED, NULL, errmsg);
}

/* Fail T, whose TASK has ended as HOW without a result. */
static void on_task_ended(struct client_task *t, struct json_object *task,
			  const char *how)
{
	const char *note = json_member_str(task, "statusMessage");

	fail_client_task(t, "the client's task %s%s%s", how,
			 note != NULL ? ": " : "", note != NULL ? note : "");
}

static struct client_request *
ask_about(struct client_task *t, const char *method, client_request_done done)
{
	struct json_object *params = json_pack("taskId:s", t->id);
	struct client_request *a =
	    client_request_send(t->session, t->stream, method, params,
				t->ttl_ms + SLACK_MS, done, t);

	json_object_put(params);
	return a;
}

/* Finish T after END, which is not a result. */
static void no_result(struct client_task *t, enum client_request_end end,
		      struct rpc_msg *m)
{
	if (end == CLIENT_REQUEST_REFUSED)
		finish_client_task(t, CLIENT_TASK_REFUSED, m, NULL);
	else if (end == CLIENT_REQUEST_GONE)
		finish_client_task(t, CLIENT_TASK_GONE, NULL, NULL);
	else
		fail_client_task(t, "the client did not answer");
}

/* ---- the client's task ---- */

static void on_fetched(void *arg, enum client_request_end end,
		       struct rpc_msg *m)
{
	struct client_task *t = arg;

	t->asked = NULL;
	if (end == CLIENT_REQUEST_RESULT)
		finish_client_task(t, CLIENT_TASK_RESULT, m, NULL);
	else
		no_result(t, end, m);
}

static void fetch(struct client_task *t)
{
	t->asked = ask_about(t, "tasks/result", on_fetched);
	if (t->asked == NULL)
		/* the next poll finds the task completed again */
		evtimer_add(t->again, CLOCK_TIMEVAL(t->poll_ms));
}

static void note_poll(struct client_task *t, struct json_object *task)
{
	struct json_object *ms = json_member(task, "pollInterval");
	int64_t wish = json_object_is_type(ms, json_type_int) ||
			       json_object_is_type(ms, json_type_double)
			   ? json_object_get_int64(ms)
			   : POLL_MS;

	t->poll_ms = wish < POLL_LEAST_MS  ? POLL_LEAST_MS
		     : wish > POLL_MOST_MS ? POLL_MOST_MS
					   : wish;
}

/* Act on TASK, the client's description of its task. */
static void on_status(struct client_task *t, struct json_object *task)
{
	const char *id = json_member_str(task, "taskId");
	const char *status = json_member_str(task, "status");

	if (id == NULL || status == NULL)
		fail_client_task(
		    t, "the client's task has no taskId or no status");
	else if (strcmp(id, t->id) != 0)
		fail_client_task(
		    t, "the client answered for another task than was asked");
	else if (strcmp(status, "completed") == 0)
		fetch(t);
	else if (strcmp(status, "failed") == 0)
		on_task_ended(t, task, "failed");
	else if (strcmp(status, "cancelled") == 0)
		on_task_ended(t, task, "was cancelled");
	else if (strcmp(status, "working") != 0 &&
		 strcmp(status, "input_required") != 0)
		fail_client_task(
		    t,
		    "the status of the client's task is not working, "
		    "input_required, completed, failed or cancelled, but "
		    "\"%s\"",
		    status);
	else {
		note_poll(t, task);
		evtimer_add(t->again, CLOCK_TIMEVAL(t->poll_ms));
	}
}

static void on_polled(void *arg, enum client_request_end end, struct rpc_msg *m)
{
	struct client_task *t = arg;

	t->asked = NULL;
	if (end == CLIENT_REQUEST_RESULT)
		on_status(t, m->result);
	else
		no_result(t, end, m);
}

static void poll_task(evutil_socket_t fd, short what, void *arg)
{
	struct client_task *t = arg;

	(void)fd, (void)what;
	t->asked = ask_about(t, "tasks/get", on_polled);
	if (t->asked == NULL)
		evtimer_add(t->again, CLOCK_TIMEVAL(t->poll_ms));
}

/* ---- the request ---- */

static void on_created(struct client_task *t, struct json_object *task)
{
	const char *id = json_member_str(task, "taskId");

	if (id == NULL || strlen(id) > ID_BYTES_MAX) {
		fail_client_task(
		    t, "the client's task has no taskId, or one over 1024 "
		       "bytes");
		return;
	}
	t->id = xstrdup(id);
	t->again = evtimer_new(t->session->ctx->base, poll_task, t);
	on_status(t, task);
}

static void on_answered(void *arg, enum client_request_end end,
			struct rpc_msg *m)
{
	struct client_task *t = arg;
	struct json_object *task;

	t->asked = NULL;
	if (end != CLIENT_REQUEST_RESULT) {
		no_result(t, end, m);
		return;
	}
	task = t->augmented ? json_member(m->result, "task") : NULL;
	if (json_object_is_type(task, json_type_object))
		on_created(t, task);
	else /* the client made no task */
		finish_client_task(t, CLIENT_TASK_RESULT, m, NULL);
}

static void on_gone(struct session_observer *o)
{
	struct client_task *t = CONTAINER(o, struct client_task, observer);

	if (t->asked != NULL)
		client_request_drop(t->asked, NULL);
	finish_client_task(t, CLIENT_TASK_GONE, NULL, NULL);
}

static const struct session_observer_ops observer_ops = {.on_gone = on_gone};

struct client_task *client_task_ask(struct session *s, void *stream,
				    const char *method,
				    struct json_object *params, int64_t ttl_ms,
				    client_task_done done, void *arg)
{
	struct client_task *t = xcalloc(1, sizeof(*t));
	char path[64];
	bool augmented;

	/* a method that the client takes as a task has a capability */
	snprintf(path, sizeof(path), "tasks/requests/%s", method);
	augmented = s->terms.revision >= MCP_2025_11_25 &&
		    mcp_declares(s->terms.capabilities, path);
	*t = (struct client_task){.session = s,
				  .stream = stream,
				  .augmented = augmented,
				  .ttl_ms = ttl_ms,
				  .done = done,
				  .arg = arg};
	session_observe(s, &t->observer, &observer_ops);
	s->n_client_tasks++;
	if (t->augmented)
		json_add(params, "task:o", json_pack("ttl:i", ttl_ms));
	else
		json_object_object_del(params, "task");
	t->asked = client_request_send(s, stream, method, params,
				       ttl_ms + SLACK_MS, on_answered, t);
	if (t->asked == NULL) {
		task_free(t);
		return NULL;
	}
	return t;
}

void client_task_drop(struct client_task *t, const char *reason)
{
	struct client_request *a = NULL;

	if (t->asked != NULL) /* polls and fetches end without notice */
		client_request_drop(t->asked, t->id == NULL ? reason : NULL);
	if (t->id != NULL && reason != NULL &&
	    mcp_declares(t->session->terms.capabilities, "tasks/cancel"))
		/* the answer does not matter and is not awaited */
		a = ask_about(t, "tasks/cancel", NULL);
	if (a != NULL)
		client_request_drop(a, NULL);
	task_free(t);
}
