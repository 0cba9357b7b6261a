/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_questions.c - the program's CALLs and INPUTs, and their answers by its
 * own ids. shim_lines.c asks, shim.c's loop receives. A question too many, or
 * an id in use, gives a static reason; an answer that nobody asked for ends the
 * worker.
 */
#include "worker/program/shim_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/channel.h"
#include "worker/progress.h"
#include "worker/text.h"

#define ID_MAX 256 /* bytes of what the program calls a question, as JSON */

enum { EXIT_NONSENSE = 1 };

/* Those that wait for their answer. seq 0: free. */
static struct {
	uint32_t seq;
	struct str id; /* JSON text; owned */
} asked[MSG_ASKS_MAX];
static uint32_t last_seq;

static size_t piece(size_t left)
{
	return left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX;
}

static void send_chunks(struct json_view params, size_t at)
{
	while (at < params.n) {
		struct msg m = {.type = MSG_CHUNK};

		m.chunk.data =
		    (struct str){params.p + at, piece(params.n - at)};
		channel_send(&m);
		at += m.chunk.data.n;
	}
}

bool shim_is_id(struct json_view id)
{
	return id.n > 0 && id.n <= ID_MAX && strchr("{[tfn", id.p[0]) == NULL;
}

/* Room for one more, which is called ID; or why not. */
static const char *expect(struct json_view id, uint32_t *seq)
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
	m.call.total = args.n;
	m.call.head = (struct str){args.p, piece(args.n)};
	progress_flush();
	channel_send(&m);
	send_chunks(args, m.call.head.n);
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
	m.input.total = params.n;
	m.input.head = (struct str){params.p, piece(params.n)};
	progress_flush();
	channel_send(&m);
	send_chunks(params, m.input.head.n);
	return NULL;
}

/* All of an ANSWER's body. */
static void take_body(const struct msg *first, struct buf *body)
{
	uint64_t total = first->answer.total;

	(void)buf_add(body, first->answer.head.p, first->answer.head.n);
	while (buf_len(body) < total) {
		struct msg m;

		channel_recv(&m);
		if (m.type != MSG_CHUNK ||
		    m.chunk.data.n > total - buf_len(body))
			_exit(EXIT_NONSENSE);
		(void)buf_add(body, m.chunk.data.p, m.chunk.data.n);
	}
}

/* The answer to question SEQ, as the program reads it. */
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

/* 1: it was an artifact's, and is in BODY; *OK says which kind. */
static int take_answer(struct shim *s, bool *ok, struct buf *body)
{
	struct msg m;
	uint32_t seq;

	channel_recv(&m);
	if (m.type != MSG_ANSWER)
		_exit(EXIT_NONSENSE);
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
		_exit(EXIT_NONSENSE); /* of an artifact that never was */
}
