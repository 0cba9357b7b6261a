/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lua_questions.c - questions that wait for an answer, for lua_ask.c, lua_artifact.c and
 * the scheduler. An answer to no question, or longer than announced, breaks the protocol
 * and ends the worker.
 */
#include "worker/lua/lua_questions.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "worker/channel.h"
#include "worker/lua/state/lua_state.h"

struct ask {
	uint32_t seq; /* 0: free */
	bool wanted;
	bool ok, whole; /* of the answer */
	char *text;	/* NULL: not begun, not wanted, or no memory */
	size_t len, got;
};

static struct ask asks[MSG_ASKS_MAX];
static unsigned count, owed;
static uint32_t last_seq;
static struct ask *coming; /* the answer has arrived in part */

bool lua_questions_have_space(void)
{
	return count < MSG_ASKS_MAX;
}

bool lua_questions_owed(void)
{
	return owed > 0;
}

static struct ask *find_lua_question(uint32_t seq)
{
	for (size_t i = 0; i < ARRAY_LEN(asks); i++)
		if (asks[i].seq == seq)
			return &asks[i];
	return NULL;
}

struct ask *lua_questions_send(struct msg *m, const char *p, size_t n)
{
	struct ask *a = find_lua_question(0);

	assert(a != NULL);
	*a = (struct ask){.seq = ++last_seq, .wanted = true};
	if (m->type == MSG_CALL)
		m->call.seq = a->seq;
	else
		m->input.seq = a->seq;
	count++;
	owed++;
	channel_send_body(m, p, n);
	return a;
}

bool lua_questions_answered(const struct ask *a)
{
	return a->whole;
}

const char *lua_questions_answer(const struct ask *a, bool *ok, size_t *len)
{
	*ok = a->ok;
	*len = a->len;
	return a->text;
}

static void drop_text(struct ask *a)
{
	if (a->text != NULL)
		lua_state_free(a->text, a->len + 1);
	a->text = NULL;
}

void lua_questions_done(struct ask *a)
{
	drop_text(a);
	a->seq = 0;
	count--;
}

/*
 * A dropped question counts until answered, so that the supervisor never counts more open
 * questions than the worker.
 */
void lua_questions_drop(struct ask *a)
{
	struct msg m = {.type = MSG_DROP, .drop = {a->seq}};

	if (a->whole) {
		lua_questions_done(a);
		return;
	}
	drop_text(a);
	a->wanted = false;
	channel_send(&m);
}

void lua_questions_forget(void)
{
	for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
		drop_text(&asks[i]);
		asks[i].seq = 0;
	}
	count = owed = 0;
	coming = NULL;
}

static void take_question_bytes(struct ask *a, struct str s)
{
	if (s.n > a->len - a->got)
		channel_broken();
	if (a->text != NULL)
		memcpy(a->text + a->got, s.p, s.n);
	a->got += s.n;
	coming = a;
	if (a->got < a->len)
		return;
	coming = NULL;
	a->whole = true;
	owed--;
	if (a->text != NULL)
		a->text[a->len] = '\0';
	if (!a->wanted)
		lua_questions_done(a);
}

void lua_questions_take(const struct msg *m)
{
	struct ask *a;

	if (m->type == MSG_CHUNK && coming != NULL) {
		take_question_bytes(coming, m->chunk.data);
		return;
	}
	if (m->type != MSG_ANSWER || coming != NULL || m->answer.seq == 0)
		channel_broken();
	a = find_lua_question(m->answer.seq);
	if (a == NULL || a->whole)
		channel_broken();
	a->ok = m->answer.ok;
	a->len = (size_t)m->answer.total;
	if (a->wanted)
		a->text = lua_state_alloc(a->len + 1);
	take_question_bytes(a, m->answer.head);
}

bool lua_questions_recv(void)
{
	bool any = false;
	struct msg m;

	while (owed > 0 && channel_recv_now(&m)) {
		lua_questions_take(&m);
		any = true;
	}
	return any;
}
