/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_questions.c - questions of a program and their answers, for shim_lines.c
 * and the shim's loop. A question that may not be asked is an error text; an
 * answer that breaks the protocol ends the shim.
 */
#include "worker/program/shim_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/text.h"

/* bytes of the id that a program gives a question, as JSON */
#define ID_MAX 256

enum { EXIT_PROTOCOL = 1 };

/* Questions that wait for their answer. seq 0: free. */
static struct {
	uint32_t seq;
	struct str id; /* JSON text; owned */
} asked[MSG_ASKS_MAX];
static uint32_t last_seq;

bool shim_is_id(struct json_view id)
{
	return id.n > 0 && id.n <= ID_MAX && strchr("{[tfn", id.p[0]) == NULL;
}

/* Take a place for a question with this ID; or why not. */
static const char *expect(struct json_view id, uint64_t *seq)
{
	size_t i = 0;

	if (!shim_is_id(id))
		return "a question's id is a string or a number, of at most "
		       "256 bytes";
	while (i < MSG_ASKS_MAX && asked[i].seq != 0)
		i++;
	if (i == MSG_ASKS_MAX)
		return "more than 64 questions wait for their answers";
	asked[i].seq = *seq = ++last_seq;
	asked[i].id = (struct str){xstrndup(id.p, id.n), id.n};
	return NULL;
}

const char *shim_call(struct json_view id, struct str tool,
		      struct json_view args)
{
	struct msg m = {.type = MSG_CALL};
	const char *errmsg;

	if (args.n > MSG_ASK_MAX)
		return "a call's args are over 1 MiB";
	if (!text_is_name(tool.p, tool.n, MSG_NAME_MAX))
		return "a call's tool is a name of 1 to 256 bytes";
	errmsg = expect(id, &m.call.seq);
	if (errmsg != NULL)
		return errmsg;
	m.call.tool = tool;
	progress_flush();
	channel_send_body(&m, args.p, args.n);
	return NULL;
}

const char *shim_input(struct json_view id, enum msg_input_kind kind,
		       struct json_view params)
{
	struct msg m = {.type = MSG_INPUT};
	const char *errmsg;

	if (params.n > MSG_ASK_MAX)
		return "a question is over 1 MiB";
	errmsg = expect(id, &m.input.seq);
	if (errmsg != NULL)
		return errmsg;
	m.input.kind = kind;
	progress_flush();
	channel_send_body(&m, params.p, params.n);
	return NULL;
}

/* Receive all of an ANSWER's body. */
static void take_body(const struct msg *first, struct buf *body)
{
	uint64_t total = first->answer.total;

	(void)buf_add(body, first->answer.head.p, first->answer.head.n);
	while (buf_len(body) < total) {
		struct msg m;

		channel_recv(&m);
		if (m.type != MSG_CHUNK ||
		    m.chunk.data.n > total - buf_len(body))
			_exit(EXIT_PROTOCOL);
		(void)buf_add(body, m.chunk.data.p, m.chunk.data.n);
	}
}

/* Write the answer to question SEQ for the program. */
static void pass_on(struct shim *s, uint32_t seq, bool ok,
		    const struct buf *body)
{
	struct buf line = {0};

	for (size_t i = 0; i < MSG_ASKS_MAX; i++) {
		if (asked[i].seq != seq)
			continue;
		(void)buf_printf(&line,
				 "{\"id\":%s,\"ok\":%s,\"%s\":", asked[i].id.p,
				 ok ? "true" : "false", ok ? "value" : "error");
		(void)buf_add(&line, buf_data(body), buf_len(body));
		(void)buf_add(&line, "}", 1);
		shim_answer(s, buf_data(&line), buf_len(&line));
		free((char *)asked[i].id.p);
		asked[i].seq = 0;
	}
	buf_fini(&line);
}

/* 1: the answer was an artifact's, and is in BODY; *OK: it was kept. */
static int take_answer(struct shim *s, bool *ok, struct buf *body)
{
	struct msg m;
	uint32_t seq;

	channel_recv(&m);
	if (m.type != MSG_ANSWER)
		_exit(EXIT_PROTOCOL);
	seq = m.answer.seq;
	*ok = m.answer.ok;
	take_body(&m, body);
	if (seq == 0)
		return 1;
	pass_on(s, seq, *ok, body);
	buf_fini(body);
	return 0;
}

bool shim_await_artifact(struct shim *s, struct buf *body)
{
	bool ok = false;

	while (take_answer(s, &ok, body) == 0)
		;
	return ok;
}

void shim_recv_answer(struct shim *s)
{
	struct buf body = {0};
	bool ok;

	if (take_answer(s, &ok, &body) != 0)
		_exit(EXIT_PROTOCOL); /* of an artifact that was not sent */
}
