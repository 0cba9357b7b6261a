/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_questions.c - questions of a program and answers, for shim_lines.c and the shim's
 * loop. A forbidden question is an error text; an answer that breaks the protocol ends
 * the shim.
 */
#include "worker/program/shim_private.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/text.h"

/* bytes of the id that a program gives a question, as JSON */
#define ID_MAX 256

#define NOBODY UINT64_MAX /* no connection has this serial */

/* Questions without an answer yet. seq 0: free. */
static struct {
	uint32_t seq;
	uint64_t caller; /* a connection; 0: descriptor 3; or NOBODY */
	struct str id;	 /* JSON text; owned */
} asked[MSG_ASKS_MAX];
static uint32_t last_seq;

bool shim_is_id(struct json_view id)
{
	return id.n > 0 && id.n <= ID_MAX && strchr("{[tfn", id.p[0]) == NULL;
}

bool shim_asks_are_full(void)
{
	for (size_t i = 0; i < MSG_ASKS_MAX; i++)
		if (asked[i].seq == 0)
			return false;
	return true;
}

const char *shim_ask(struct msg *m, struct json_view id, struct json_view body)
{
	bool call = m->type == MSG_CALL;
	size_t i = 0;

	if (body.n > MSG_ASK_MAX)
		return call ? "the inputs of a call are over 1 MiB: keep long "
			      "data as an artifact, and give the artifact's id"
			    : "a question is over 1 MiB";
	if (call && !text_is_name(m->call.tool.p, m->call.tool.n, MSG_NAME_MAX))
		return "a call's tool is a name of 1 to 256 bytes";
	if (!shim_is_id(id))
		return "a question's id is a string or a number, of at most "
		       "256 bytes";
	while (i < MSG_ASKS_MAX && asked[i].seq != 0)
		i++;
	if (i == MSG_ASKS_MAX)
		return "more than 64 questions wait for their answers";
	asked[i].seq = ++last_seq;
	asked[i].caller = shim_speaking();
	asked[i].id = (struct str){xstrndup(id.p, id.n), id.n};
	*(call ? &m->call.seq : &m->input.seq) = last_seq;
	progress_flush();
	channel_send_body(m, body.p, body.n);
	return NULL;
}

/*
 * 1: the answer to an artifact, in BODY; *OK: the artifact was kept. 0: the answer to a
 * question, which the program has by the question's id.
 */
static int take_program_answer(struct shim *s, bool *ok, struct buf *body)
{
	struct buf line = {0};
	struct msg m;
	uint32_t seq;
	size_t total;

	channel_recv(&m);
	if (m.type != MSG_ANSWER)
		channel_broken();
	seq = m.answer.seq;
	*ok = m.answer.ok;
	total = (size_t)m.answer.total;
	channel_recv_body(buf_room(body, total + 1), m.answer.head, total);
	buf_wrote(body, total);
	if (seq == 0)
		return 1;
	for (size_t i = 0; i < MSG_ASKS_MAX; i++) {
		if (asked[i].seq != seq)
			continue;
		(void)buf_printf(
		    &line, "{\"id\":%s,\"ok\":%s,\"%s\":", asked[i].id.p,
		    *ok ? "true" : "false", *ok ? "value" : "error");
		(void)buf_add(&line, buf_data(body), buf_len(body));
		(void)buf_add(&line, "}", 1);
		shim_answer_to(s, asked[i].caller, buf_data(&line),
			       buf_len(&line));
		free((char *)asked[i].id.p);
		asked[i].seq = 0;
	}
	buf_fini(&line);
	buf_fini(body);
	return 0;
}

bool shim_await_artifact(struct shim *s, struct buf *body)
{
	struct pollfd p = {.fd = ZYGOTE_PROTO_RUN_FD, .events = POLLIN};
	struct timespec ts = {.tv_nsec = 100000000};
	bool ok = false;

	do
		shim_watch_due();
	while (ppoll(&p, 1, &ts, NULL) <= 0 ||
	       take_program_answer(s, &ok, body) == 0);
	return ok;
}

void shim_recv_answer(struct shim *s)
{
	struct buf body = {0};
	bool ok;

	if (take_program_answer(s, &ok, &body) != 0)
		channel_broken(); /* an answer without an artifact */
}

void shim_drop_question(struct json_view id)
{
	for (size_t i = 0; i < MSG_ASKS_MAX; i++) {
		struct msg m = {.type = MSG_DROP, .drop = {asked[i].seq}};

		if (asked[i].seq != 0 && asked[i].caller == shim_speaking() &&
		    asked[i].id.n == id.n &&
		    memcmp(asked[i].id.p, id.p, id.n) == 0)
			channel_send(&m);
	}
}

void shim_drop_questions(uint64_t caller)
{
	/* the supervisor answers a dropped question, too; so the question counts */
	for (size_t i = 0; i < MSG_ASKS_MAX; i++) {
		struct msg m = {.type = MSG_DROP, .drop = {asked[i].seq}};

		if (asked[i].seq == 0 || asked[i].caller != caller)
			continue;
		asked[i].caller = NOBODY;
		channel_send(&m);
	}
}

void shim_forget_questions(void)
{
	for (size_t i = 0; i < MSG_ASKS_MAX; i++) {
		if (asked[i].seq != 0)
			free((char *)asked[i].id.p);
		asked[i].seq = 0;
	}
}
