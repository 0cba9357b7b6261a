/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_rpc.c - the unanswered calls to paddock-browser, as frames both ways;
 * browser_process.c moves the frames. No descriptors here. A frame which the
 * program may not send is -EPROTO with the offence; a requestor over its share
 * is refused as busy.
 */
#include "supervisor/browser/browser_rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/fair_share.h"
#include "ipc/browser_proto.h"
#include "ipc/msg.h"
#include "proto/json/json_pack.h"

#define UNSENT_MAX (16u << 20) /* bytes of unsent calls */

static void call_free(struct browser_rpc_call *c)
{
	if (c->text != NULL)
		c->of->unsent -= c->len;
	c->of->n--;
	if (c->overdue != NULL)
		event_free(c->overdue);
	buf_fini(&c->answer);
	free(c->tool);
	free(c->whose);
	free(c->text);
	free(c);
}

/* ---- answers and failures ---- */

/* Call DONE and free C, which is in no list. */
static void tell_answer(struct browser_rpc_call *c,
			const struct browser_rpc_answer *a)
{
	browser_rpc_done done = c->done;
	void *arg = c->arg;

	c->done = NULL;
	if (done != NULL)
		done(arg, a);
	call_free(c);
}

static void fail_call(struct browser_rpc_call *c, const char *code,
		      const char *errmsg)
{
	struct browser_rpc_answer a = {
	    .body = json_pack("code:s message:s", code, errmsg)};

	a.json = json_text(a.body, &a.len);
	tell_answer(c, &a);
	json_object_put(a.body);
}

static bool has_form(struct json_object *body, bool ok)
{
	struct json_object *details = json_member(body, "details");

	if (!json_object_is_type(body, json_type_object))
		return false;
	return ok || (json_member_str(body, "code") != NULL &&
		      json_member_str(body, "message") != NULL &&
		      (details == NULL ||
		       json_object_is_type(details, json_type_object)));
}

/* Fail all calls of LIST; calls made meanwhile go to a list of their own. */
static void fail_all(struct browser_rpc_list *list, const char *code,
		     const char *errmsg)
{
	struct browser_rpc_list now = TAILQ_HEAD_INITIALIZER(now);
	struct browser_rpc_call *c;

	TAILQ_CONCAT(&now, list, link);
	TAILQ_FOREACH(c, &now, link)
		c->failing = true;
	while ((c = TAILQ_FIRST(&now)) != NULL) {
		TAILQ_REMOVE(&now, c, link);
		fail_call(c, code, errmsg);
	}
}

void browser_rpc_fail(struct browser_rpc_call *c, const char *code,
		      const char *errmsg)
{
	TAILQ_REMOVE(&c->of->out, c, link);
	fail_call(c, code, errmsg);
}

void browser_rpc_fail_out(struct browser_rpc *cs, const char *code,
			  const char *errmsg)
{
	fail_all(&cs->out, code, errmsg);
}

/*
 * Fail the calls which the ended program knew: calls begun, and calls without a
 * DONE, which were meant for that program.
 */
void browser_rpc_fail_begun(struct browser_rpc *cs, const char *code,
			    const char *errmsg)
{
	struct browser_rpc_list lost = TAILQ_HEAD_INITIALIZER(lost);
	struct browser_rpc_call *c, *next;

	cs->coming = NULL;
	TAILQ_CONCAT(&lost, &cs->sent, link);
	for (c = TAILQ_FIRST(&cs->out); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->seq == 0 && c->done != NULL)
			continue;
		TAILQ_REMOVE(&cs->out, c, link);
		TAILQ_INSERT_TAIL(&lost, c, link);
	}
	fail_all(&lost, code, errmsg);
}

void browser_rpc_fail_refused(struct browser_rpc *cs)
{
	struct browser_rpc_call *c, *after;

	for (c = TAILQ_FIRST(&cs->out); c != NULL; c = after) {
		after = TAILQ_NEXT(c, link);
		if (c->code == NULL)
			continue;
		browser_rpc_fail(c, c->code, c->errmsg);
		/* calls may have come or gone */
		after = TAILQ_FIRST(&cs->out);
	}
}

/* ---- frames from the program ---- */

static int take_answer_bytes(struct browser_rpc *cs, struct browser_rpc_call *c,
			     struct str s)
{
	struct browser_rpc_answer a = {0};
	struct buf text;

	if (s.n > c->total - buf_len(&c->answer))
		return -EPROTO;
	buf_add(&c->answer, s.p, s.n);
	cs->coming = c;
	if (buf_len(&c->answer) < c->total)
		return 0;
	cs->coming = NULL;
	cs->answered = true;
	TAILQ_REMOVE(&cs->sent, c, link);
	text = c->answer;
	c->answer = (struct buf){0};
	a.ok = c->ok;
	a.json = c->total > 0 ? buf_data(&text) : "";
	a.len = buf_len(&text);
	/*
	 * content of pages may spoil an answer, which is no reason to end the program,
	 * whose other users would lose their sessions
	 */
	if (json_parse(&a.body, a.json, a.len, NULL) == 0 &&
	    has_form(a.body, a.ok))
		tell_answer(c, &a);
	else
		fail_call(c, "EXECUTION_ERROR",
			  "paddock-browser gave an answer of the wrong form");
	json_object_put(a.body);
	buf_fini(&text);
	return 0;
}

int browser_rpc_recv(struct browser_rpc *cs, const void *frame, size_t len,
		     const char **errmsg)
{
	struct browser_rpc_call *c;
	struct msg m;

	if (msg_get(&m, frame, len, errmsg) < 0)
		return -EPROTO;
	*errmsg = "an answer to nothing, or too long";
	if (m.type == MSG_CHUNK && cs->coming != NULL)
		return take_answer_bytes(cs, cs->coming, m.chunk.data);
	if (m.type != MSG_ANSWER || cs->coming != NULL)
		return -EPROTO;
	TAILQ_FOREACH(c, &cs->sent, link)
		if (c->seq == m.answer.seq)
			break;
	if (c == NULL)
		return -EPROTO;
	c->ok = m.answer.ok;
	c->total = m.answer.total;
	return take_answer_bytes(cs, c, m.answer.head);
}

/* ---- frames to the program ---- */

void browser_rpc_begin(struct browser_rpc *cs)
{
	cs->answered = false;
	cs->last_seq = 0;
}

static struct str next_call_piece(const struct browser_rpc_call *c)
{
	size_t left = c->len - c->at;

	return (struct str){c->text + c->at,
			    left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX};
}

size_t browser_rpc_frame(const struct browser_rpc *cs, void *frame)
{
	const struct browser_rpc_call *c = TAILQ_FIRST(&cs->out);
	struct str s;
	struct msg m;

	if (c == NULL)
		return 0;
	s = next_call_piece(c);
	if (c->seq > 0)
		m = (struct msg){.type = MSG_CHUNK, .chunk = {s}};
	else
		m = (struct msg){.type = MSG_CALL,
				 .call = {cs->last_seq + 1,
					  {c->tool, strlen(c->tool)},
					  c->len,
					  s}};
	return msg_put(frame, &m);
}

void browser_rpc_sent(struct browser_rpc *cs)
{
	struct browser_rpc_call *c = TAILQ_FIRST(&cs->out);

	if (c->seq == 0)
		c->seq = ++cs->last_seq;
	c->at += next_call_piece(c).n;
	if (c->at < c->len)
		return;
	TAILQ_REMOVE(&cs->out, c, link);
	TAILQ_INSERT_TAIL(&cs->sent, c, link);
	cs->unsent -= c->len;
	free(c->text);
	c->text = NULL;
}

/* ---- asking ---- */

struct browser_rpc_call *browser_rpc_add(struct browser_rpc *cs,
					 const char *tool,
					 struct json_object *body)
{
	struct browser_rpc_call *c = xcalloc(1, sizeof(*c));
	const char *text = json_text(body, &c->len);

	c->of = cs;
	c->tool = xstrdup(tool);
	c->whose = xstrdup_opt(json_member_str(body, "requestor"));
	cs->n++;
	c->text = xstrndup(text, c->len);
	json_object_put(body);
	cs->unsent += c->len;
	TAILQ_INSERT_TAIL(&cs->out, c, link);
	return c;
}

struct use {
	int64_t requests, bytes;
};

static void count_call(const struct browser_rpc_list *list,
		       const struct browser_rpc_call *c, struct use *mine)
{
	const struct browser_rpc_call *o;

	TAILQ_FOREACH(o, list, link) {
		bool same = o->whose == NULL || c->whose == NULL
				? o->whose == c->whose
				: strcmp(o->whose, c->whose) == 0;

		if (same) {
			mine->requests++;
			mine->bytes += o->text != NULL ? (int64_t)o->len : 0;
		}
	}
}

static bool is_over_share(int64_t mine, int64_t all, int64_t most, bool shared)
{
	return mine > (shared ? fair_share(most, all - mine) : most);
}

bool browser_rpc_full(const struct browser_rpc_call *c, bool shared)
{
	const struct browser_rpc *cs = c->of;
	struct use mine = {0};

	count_call(&cs->out, c, &mine);
	count_call(&cs->sent, c, &mine);
	return is_over_share(mine.requests, (int64_t)cs->n,
			     BROWSER_PROTO_CALLS_MAX, shared) ||
	       is_over_share(mine.bytes, (int64_t)cs->unsent, UNSENT_MAX,
			     shared);
}

void browser_rpc_remove(struct browser_rpc_call *c)
{
	TAILQ_REMOVE(&c->of->out, c, link);
	call_free(c);
}

/* ---- start and end ---- */

void browser_rpc_init(struct browser_rpc *cs)
{
	*cs = (struct browser_rpc){0};
	TAILQ_INIT(&cs->out);
	TAILQ_INIT(&cs->sent);
}

void browser_rpc_fini(struct browser_rpc *cs)
{
	struct browser_rpc_call *c, *next;

	TAILQ_CONCAT(&cs->out, &cs->sent, link);
	for (c = TAILQ_FIRST(&cs->out); c != NULL; c = next) {
		next = TAILQ_NEXT(c, link);
		browser_rpc_remove(c);
	}
}
