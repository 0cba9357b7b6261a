/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxied_request.c - a request at this machine that waits for a remote run: its
 * messages to the run's owner, and the owner's answers in the run's row.
 * tool_run_retry.c calls it, and remote_runs.c with each row. A failure to send
 * is told to the request. When the run gets another owner, the next message
 * introduces the waiter there.
 */
#include "supervisor/cluster/proxied_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/cluster/remote_questions.h"
#include "supervisor/cluster/remote_row.h"
#include "supervisor/cluster/remote_waiters.h"
#include "supervisor/mcp/input/input_request.h"
#include "supervisor/run/record/run_row.h"

struct sent { /* the argument of the first message's callback */
	struct proxied_request *visit; /* NULL: the visit was freed */
};

struct proxied_request {
	struct request *request;
	struct run *run;
	char name[ID_SIZE];
	uint32_t round;	   /* the request's round */
	bool known;	   /* the run's owner knows the guest */
	bool over;	   /* no more messages are sent */
	struct sent *sent; /* until the first message is durable */
	int64_t sent_ms;
	LIST_ENTRY(proxied_request) link; /* in run.visits */
};

static struct json_object *message(const struct proxied_request *v)
{
	return json_pack("guest:s capabilities:o", v->name,
			 input_request_askable(v->request->terms));
}

static void post_text(struct proxied_request *v, const char *text,
		      store_done done, void *arg)
{
	const struct run *r = v->run;

	v->sent_ms = clock_mono_ms();
	store_send_answer(v->request->ctx->store, r->requestor->name, r->id,
			  text, clock_wall_ms() + REMOTE_QUESTIONS_MESSAGE_MS,
			  done, arg);
}

/*
 * Send a message without waiting for the store: the next message repeats a lost
 * one.
 */
static void post(struct proxied_request *v, struct json_object *o)
{
	post_text(v, json_text(o, NULL), NULL, NULL);
	json_object_put(o);
}

/* End V's messages, and let V's run be forgotten. */
static void finish_visit(struct proxied_request *v)
{
	v->over = true;
	LIST_REMOVE(v, link);
}

static void give_up_visit(struct proxied_request *v, int rc)
{
	finish_visit(v);
	v->request->ops->not_heard(v->request, rc);
}

/*
 * The first message is durable or failed. V may be over or freed: the run may
 * have ended meanwhile.
 */
static void on_sent(void *arg, const struct store_result *res)
{
	struct sent *sent = arg;
	struct proxied_request *v = sent->visit;

	free(sent);
	if (v == NULL)
		return;
	v->sent = NULL;
	if (res->rc == 0 || v->over)
		return;
	give_up_visit(v, res->rc);
}

struct proxied_request *proxied_request_new(struct request *req, struct run *r,
					    uint32_t round,
					    struct json_object *answers)
{
	struct proxied_request *v;
	struct json_object *o;
	const char *text;
	size_t len;

	/*
	 * weigh first: a message of 16 MiB is not to be made text to be counted
	 */
	if (json_weigh(answers, CLUSTER_ANSWERS_MAX) > CLUSTER_ANSWERS_MAX)
		return NULL;
	v = xcalloc(1, sizeof(*v));
	v->request = req;
	v->run = r;
	v->round = round;
	id_new(v->name, "guest");
	o = message(v);
	json_add(o, "round:i answers?O", (int64_t)round, answers);
	text = json_text(o, &len);
	if (len <= CLUSTER_ANSWERS_MAX) {
		v->sent = xcalloc(1, sizeof(*v->sent));
		v->sent->visit = v;
		LIST_INSERT_HEAD(&r->remote.proxied, v, link);
		post_text(v, text, on_sent, v->sent);
	} else {
		free(v);
		v = NULL;
	}
	json_object_put(o);
	return v;
}

void proxied_request_leave(struct proxied_request *v, bool cancel)
{
	if (v == NULL)
		return;
	if (!v->over) {
		post(v, json_pack("guest:s left:b cancels:b", v->name, true,
				  cancel));
		finish_visit(v);
	}
	if (v->sent != NULL)
		v->sent->visit = NULL;
	free(v);
}

/* Returns the shown questions of KEYS. */
static struct json_object *pick_shown(struct json_object *shown,
				      struct json_object *keys)
{
	struct json_object *requests = json_member(shown, "requests");
	struct json_object *some = json_object_new_object();

	json_each(key, keys) {
		const char *name = json_object_get_string(key);
		struct json_object *one = json_member(requests, name);

		if (one != NULL)
			json_object_object_add(some, name,
					       json_object_get(one));
	}
	return some;
}

/*
 * Tell V's request its questions, or that another client used its round: both
 * end V. Otherwise write again before the owner forgets the guest.
 */
static void tell_shown(struct proxied_request *v, struct json_object *shown)
{
	struct json_object *mine =
	    json_member(json_member(shown, "guests"), v->name);
	int64_t round = json_member_int(mine, "round");
	struct request *req = v->request;

	v->known |= mine != NULL;
	if (round > 0) {
		finish_visit(v);
		req->ops->asked_abroad(
		    req, pick_shown(shown, json_member(mine, "keys")),
		    (uint32_t)round);
	} else if (json_member_bool(mine, "used")) {
		give_up_visit(v, 0);
	} else if (v->sent_ms + REMOTE_WAITER_MS / 3 < clock_mono_ms()) {
		post(v, message(v));
	}
}

/*
 * End V with its run: when ROW says that other clients' answers were heard for
 * V's round, tell the request.
 */
static void tell_visit_end(struct proxied_request *v,
			   const struct store_run *row)
{
	uint32_t used = run_row_rounds_used(row);

	if (!v->known && v->round > 0 && v->round <= used &&
	    !run_round_is_old(v->round, used) &&
	    !remote_row_heard(row, v->name))
		give_up_visit(v, 0);
	else
		finish_visit(v);
}

void proxied_request_shown(struct run *r, const struct store_run *row)
{
	struct json_object *shown = NULL;
	struct proxied_request *v, *after;

	if (LIST_EMPTY(&r->remote.proxied))
		return;
	if (row != NULL && row->status <= STORE_RUNNING)
		shown = remote_questions_shown(row);
	for (v = LIST_FIRST(&r->remote.proxied); v != NULL; v = after) {
		after = LIST_NEXT(v, link);
		if (row == NULL)
			give_up_visit(v, -EAGAIN);
		else if (row->status <= STORE_RUNNING)
			tell_shown(v, shown);
		else
			tell_visit_end(v, row);
	}
	json_object_put(shown);
}
