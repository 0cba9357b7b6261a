/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_visit.c - a request that waits here for a run of another machine: its letters
 * to the owner, and what the run's row says of it. tool_run_retry.c calls it, and
 * runs_abroad.c with each row. What cannot be sent is told to the request; an owner
 * that is another by now is told anew who waits.
 */
#include "supervisor/input/input_visit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/json/json_pack.h"
#include "supervisor/context.h"
#include "supervisor/input/input_away.h"
#include "supervisor/input/input_guests.h"
#include "supervisor/input/input_request.h"
#include "supervisor/run/run_row.h"

struct sent {			   /* of the first letter */
	struct input_visit *visit; /* NULL: it is over */
};

struct input_visit {
	struct request *request;
	struct run *run;
	char name[ID_SIZE];
	uint32_t round;	   /* that it came back with */
	bool known;	   /* its owner has heard it */
	bool over;	   /* nothing more is to be told */
	struct sent *sent; /* until its first letter is durable */
	int64_t sent_ms;
	LIST_ENTRY(input_visit) link; /* in run.visits */
};

static struct json_object *letter(const struct input_visit *v)
{
	return json_pack("guest:s capabilities:o", v->name,
			 input_request_askable(v->request->terms));
}

static void post_text(struct input_visit *v, const char *text, store_done done,
		      void *arg)
{
	const struct run *r = v->run;

	v->sent_ms = clock_mono_ms();
	store_send_answer(v->request->ctx->store, r->requestor->name, r->id,
			  text, clock_wall_ms() + INPUT_AWAY_MS, done, arg);
}

/* A letter that nobody waits for: when it is lost the next one says the same. */
static void post(struct input_visit *v, struct json_object *o)
{
	post_text(v, json_text(o, NULL), NULL, NULL);
	json_object_put(o);
}

/* Nothing more is to be told of V, and its run may be forgotten. */
static void finish(struct input_visit *v)
{
	v->over = true;
	LIST_REMOVE(v, link);
}

static void give_up(struct input_visit *v, int rc)
{
	finish(v);
	v->request->ops->not_heard(v->request, rc);
}

/* It may be over by then, for the run may have ended meanwhile. */
static void on_sent(void *arg, const struct store_result *res)
{
	struct sent *sent = arg;
	struct input_visit *v = sent->visit;

	free(sent);
	if (v == NULL)
		return;
	v->sent = NULL;
	if (res->rc == 0 || v->over)
		return;
	give_up(v, res->rc);
}

struct input_visit *input_visit_new(struct request *c, struct run *r,
				    uint32_t round, struct json_object *answers)
{
	struct input_visit *v;
	struct json_object *o;
	const char *text;
	size_t len;

	/* a message may have 16 MiB, which are not to be made text to be counted */
	if (json_weigh(answers, INPUT_AWAY_MAX) > INPUT_AWAY_MAX)
		return NULL;
	v = xcalloc(1, sizeof(*v));
	v->request = c;
	v->run = r;
	v->round = round;
	id_new(v->name, "guest");
	o = letter(v);
	json_add(o, "round:i answers?O", (int64_t)round, answers);
	text = json_text(o, &len);
	if (len <= INPUT_AWAY_MAX) {
		v->sent = xcalloc(1, sizeof(*v->sent));
		v->sent->visit = v;
		LIST_INSERT_HEAD(&r->visits, v, link);
		post_text(v, text, on_sent, v->sent);
	} else {
		free(v);
		v = NULL;
	}
	json_object_put(o);
	return v;
}

void input_visit_leave(struct input_visit *v, bool cancel)
{
	if (v == NULL)
		return;
	if (!v->over) {
		post(v, json_pack("guest:s left:b cancels:b", v->name, true,
				  cancel));
		finish(v);
	}
	if (v->sent != NULL)
		v->sent->visit = NULL;
	free(v);
}

/* What is asked by these KEYS. */
static struct json_object *pick(struct json_object *shown,
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

/* It is asked something, or hears that it is not heard: both are its answer. */
static void tell(struct input_visit *v, struct json_object *shown)
{
	struct json_object *mine =
	    json_member(json_member(shown, "guests"), v->name);
	int64_t round = json_member_int(mine, "round");
	struct request *c = v->request;

	v->known |= mine != NULL;
	if (round > 0) {
		finish(v);
		c->ops->asked_abroad(c, pick(shown, json_member(mine, "keys")),
				     (uint32_t)round);
	} else if (json_member_bool(mine, "used")) {
		give_up(v, 0);
	} else if (v->sent_ms + INPUT_GUEST_MS / 3 < clock_mono_ms()) {
		post(v, letter(v));
	}
}

/* The run has ended: ROW says whose answers it had. */
static void tell_end(struct input_visit *v, const struct store_run *row)
{
	uint32_t used = run_row_rounds_used(row);

	if (!v->known && v->round > 0 && v->round <= used &&
	    !run_round_is_old(v->round, used) && !run_row_heard(row, v->name))
		give_up(v, 0);
	else
		finish(v);
}

void input_visit_shown(struct run *r, const struct store_run *row)
{
	struct json_object *shown = NULL;
	struct input_visit *v, *after;

	if (LIST_EMPTY(&r->visits))
		return;
	if (row != NULL && row->status <= STORE_RUNNING)
		shown = input_away_shown(row);
	for (v = LIST_FIRST(&r->visits); v != NULL; v = after) {
		after = LIST_NEXT(v, link);
		if (row == NULL)
			give_up(v, -EAGAIN);
		else if (row->status <= STORE_RUNNING)
			tell(v, shown);
		else
			tell_end(v, row);
	}
	json_object_put(shown);
}
