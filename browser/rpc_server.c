/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_server.c - the socket to the supervisor: calls and requests in, answers
 * out, for main.c's loop. Requests about calls, sessions and status are
 * answered at once, and never fail. When the supervisor is gone or breaks the
 * protocol, the loop ends and with it the process.
 */
#include "browser/rpc_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/log.h"
#include "base/send_again.h"
#include "browser/chromium.h"
#include "browser/rpc_server_parse.h"
#include "browser/session_access.h"
#include "proto/json/json_pack.h"

#define FRAMES_PER_WAKE 64

struct answer {
	uint32_t seq;
	bool ok, begun;
	char *text;
	size_t len, at;
	TAILQ_ENTRY(answer) link;
};

struct rpc_server {
	struct browser *b;
	int fd;
	struct event *readable, *writable;
	struct rpc_server_parse in;
	TAILQ_HEAD(, answer) answers;
	unsigned char frame[CHAN_FRAME_MAX];
};

/* ---- requests, without a fiber ---- */

static struct json_object *cancel_call(struct browser *b,
				       struct json_object *body)
{
	int64_t seq = json_member_int(body, "seq");
	struct call *c;

	TAILQ_FOREACH(c, &b->calls, link)
		if (c->seq == seq)
			break;
	if (c != NULL)
		call_abort(c, "RUN_CANCELED", "the call was cancelled");
	return json_object_new_object();
}

static struct json_object *run_ended(struct browser *b,
				     struct json_object *body)
{
	const char *run = json_member_str(body, "run");
	unsigned closed = 0;
	struct call *c;

	if (run == NULL)
		return json_pack("closed:i", 0);
	TAILQ_FOREACH(c, &b->calls, link)
		if (c->of_run != NULL && strcmp(c->of_run, run) == 0)
			call_abort(c, "RUN_CANCELED", "the run ended");
	closed = sessions_run_ended(b, run);
	session_access_run_ended(b, run);
	return json_pack("closed:i", closed);
}

static struct json_object *requestor_gone(struct browser *b,
					  struct json_object *body)
{
	const char *requestor = json_member_str(body, "requestor");
	unsigned closed = 0;

	if (requestor != NULL)
		closed = sessions_requestor_gone(b, requestor);
	return json_pack("closed:i", closed);
}

static struct json_object *list(struct browser *b, struct json_object *body)
{
	struct json_object *all = json_object_new_array();
	const char *requestor = json_member_str(body, "requestor");
	struct session *s;

	TAILQ_FOREACH(s, &b->sessions, link)
		if (requestor == NULL || strcmp(requestor, s->requestor) == 0)
			json_object_array_add(all, session_view(s));
	return json_pack("sessions:o", all);
}

static struct json_object *status(struct browser *b, struct json_object *body)
{
	struct json_object *all = json_object_new_object(), *o;
	const struct limits *l = &b->limits;
	const struct session *s;

	(void)body;
	TAILQ_FOREACH(s, &b->sessions, link) {
		o = json_member(all, s->requestor);
		json_object_object_add(
		    all, s->requestor,
		    json_pack("sessions:i tabs:i",
			      json_member_int(o, "sessions") + 1,
			      json_member_int(o, "tabs") + s->n_tabs));
	}
	o = json_pack("sessions:i tabs:i calls:i refusals:i limits:o",
		      b->n_sessions, b->n_tabs, b->n_calls, b->refusals,
		      json_pack("maxSessions:i maxTabs:i maxTabsPerSession:i "
				"sessionIdleMs:i sessionMaxMs:i",
				l->sessions, l->tabs, l->tabs_per_session,
				l->session_idle_ms, l->session_max_ms));
	json_add(o, "requestors:o cage:o", all, browser_sandbox_view(&b->cage));
	chromium_view(b->chromium, o);
	return o;
}

static const struct {
	const char *name;
	struct json_object *(*answer)(struct browser *b,
				      struct json_object *body);
} requests[] = {
    {"cancel", cancel_call},
    {"run_ended", run_ended},
    {"requestor_gone", requestor_gone},
    {"sessions", list},
    {"status", status},
};

/* Answer a request; takes BODY. False: TOOL is not a request. */
static bool control(struct browser *b, uint32_t seq, const char *tool,
		    struct json_object *body)
{
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		if (strcmp(requests[i].name, tool) != 0)
			continue;
		rpc_server_reply(b->rpc, seq, true,
				 requests[i].answer(b, body));
		json_object_put(body);
		return true;
	}
	return false;
}

/* ---- the socket ---- */

/* End the process: the supervisor is the only client. */
static void quit(struct rpc_server *w, const char *errmsg)
{
	if (errmsg != NULL)
		log_error("wire", "err=\"%s\"", errmsg);
	event_base_loopbreak(w->b->base);
}

/* ---- in ---- */

static const char *take_frames(struct rpc_server *w, size_t len)
{
	struct json_object *body;
	const char *errmsg;
	int rc = rpc_server_parse(&w->in, w->frame, len, &body, &errmsg);

	if (rc < 0)
		return errmsg;
	if (rc > 0 && !control(w->b, w->in.seq, w->in.tool, body))
		call_start(w->b, w->in.seq, w->in.tool, body);
	return NULL;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct rpc_server *w = arg;
	const char *errmsg = NULL;
	ssize_t n = 1;

	(void)what;
	for (int i = 0; i < FRAMES_PER_WAKE && errmsg == NULL; i++) {
		n = chan_recv_now(fd, w->frame);
		if (n <= 0)
			break;
		errmsg = take_frames(w, (size_t)n);
	}
	if (errmsg != NULL)
		quit(w, errmsg);
	else if (n == 0 || (n < 0 && n != -EAGAIN))
		quit(w, n == 0 ? NULL : strerror((int)-n));
}

/* ---- out ---- */

/*
 * Make the next frame of A in W->frame; *CARRIED bytes of A are in the frame.
 */
static size_t frame(struct rpc_server *w, struct answer *a, size_t *carried)
{
	size_t left = a->len - a->at;
	struct str piece;
	struct msg m;

	*carried = left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX;
	piece = (struct str){a->text + a->at, *carried};
	if (a->begun)
		m = (struct msg){.type = MSG_CHUNK, .chunk = {piece}};
	else
		m = (struct msg){
		    .type = MSG_ANSWER,
		    .answer = {a->seq, a->ok, a->len, piece},
		};
	return msg_put(w->frame, &m);
}

static void flush_answers(struct rpc_server *w)
{
	struct answer *a;
	size_t len, carried;
	int rc = 0;

	while (rc == 0 && (a = TAILQ_FIRST(&w->answers)) != NULL) {
		len = frame(w, a, &carried);
		rc = chan_send(w->fd, w->frame, len);
		if (rc < 0)
			break;
		a->begun = true;
		a->at += carried;
		if (a->at < a->len)
			continue;
		TAILQ_REMOVE(&w->answers, a, link);
		free(a->text);
		free(a);
	}
	if (send_again_may(rc))
		SEND_AGAIN(w->writable, w->fd, rc);
	else if (rc < 0)
		quit(w, NULL); /* the supervisor is gone */
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	flush_answers(arg);
}

void rpc_server_reply(struct rpc_server *w, uint32_t seq, bool ok,
		      struct json_object *body)
{
	struct answer *a = xcalloc(1, sizeof(*a));
	const char *text;

	text = json_object_to_json_string_length(
	    body, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
	    &a->len);
	if (a->len > MSG_ANSWER_MAX) {
		char *errmsg = xasprintf("the answer has %zu bytes; %u would "
					 "pass: ask for less",
					 a->len, MSG_ANSWER_MAX);

		json_object_put(body);
		free(a);
		rpc_server_reply(
		    w, seq, false,
		    json_pack("code:s message:s", "EXECUTION_ERROR", errmsg));
		free(errmsg);
		return;
	}
	a->text = xstrndup(text, a->len);
	a->seq = seq;
	a->ok = ok;
	json_object_put(body);
	TAILQ_INSERT_TAIL(&w->answers, a, link);
	flush_answers(w);
}

struct rpc_server *rpc_server_new(struct browser *b, int fd)
{
	struct rpc_server *w = xcalloc(1, sizeof(*w));

	w->b = b;
	w->fd = fd;
	evutil_make_socket_nonblocking(fd);
	TAILQ_INIT(&w->answers);
	w->readable =
	    event_new(b->base, fd, EV_READ | EV_PERSIST, on_readable, w);
	w->writable = event_new(b->base, fd, EV_WRITE, on_writable, w);
	event_add(w->readable, NULL);
	return w;
}

void rpc_server_free(struct rpc_server *w)
{
	struct answer *a;

	while ((a = TAILQ_FIRST(&w->answers)) != NULL) {
		TAILQ_REMOVE(&w->answers, a, link);
		free(a->text);
		free(a);
	}
	event_free(w->readable);
	event_free(w->writable);
	buf_fini(&w->in.body);
	close(w->fd);
	free(w);
}
