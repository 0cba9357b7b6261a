/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of any content, by a generator. */
#include "ipc/msg.h"

#include "tests/unit/ipc/msg_fixture.h"

/* A generator of our own: the same numbers in each run. */
static uint64_t seed = 88172645463325252;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* At most MAX, and often where msgpack's headers or our bounds change. */
static uint64_t any_up_to(uint64_t max)
{
	static const uint64_t edges[] = {
	    0,	 1,	31,    32,	 127,	     128,	255,
	    256, 65535, 65536, 1u << 31, UINT32_MAX, 1ull << 32};
	uint64_t n = any(4) == 0 ? max : edges[any(ARRAY_LEN(edges))];

	return n <= max ? n : any(max + 1);
}

static struct str any_text(size_t min, size_t max)
{
	static const char letters[] =
	    "The quick brown fox \xc3\xa9\xe2\x82\xac";
	static char texts[4][MSG_DETAILS_MAX]; /* for one message at a time */
	static size_t turn;
	char *text = texts[turn++ % ARRAY_LEN(texts)];
	size_t n = any_up_to(max);

	for (size_t i = 0; i < MSG_DETAILS_MAX; i++)
		text[i] = letters[i % 20];
	for (size_t i = 0, at = n < 25 ? n : any(n - 24); at < n && i < 25; i++)
		text[at + i] = letters[i]; /* and beyond ASCII */
	return (struct str){text, n < min ? min : n};
}

static struct str any_code(void)
{
	return (struct str){"SOME_CODE_OF_SIXTY_FOUR_LETTERS_"
			    "SOME_CODE_OF_SIXTY_FOUR_LETTERS_",
			    1 + any(MSG_ERROR_CODE_MAX)};
}

static struct str any_bytes(size_t min, size_t max)
{
	size_t n = any_up_to(max < MSG_CHUNK_MAX ? max : MSG_CHUNK_MAX);

	for (size_t i = 0; i < n && i < 600; i++)
		bulk[i] = (char)any(256);
	return (struct str){bulk, n < min ? min : n};
}

static void any_run(struct msg_run *r)
{
	r->run_id = any_text(1, MSG_NAME_MAX);
	r->template_id = any_text(1, MSG_NAME_MAX);
	r->entry = any_text(1, MSG_NAME_MAX);
	r->timeout_ms = any_up_to(MSG_INT_MAX);
	r->cancel_grace_ms = any_up_to(MSG_INT_MAX);
	r->memory_bytes = any_up_to(MSG_INT_MAX);
	r->output_bytes = any_up_to(MSG_INT_MAX);
	r->artifact_bytes = any_up_to(MSG_INT_MAX);
	r->messages_per_second =
	    MSG_RATE_MIN + any_up_to(MSG_RATE_MAX - MSG_RATE_MIN);
	r->code_bytes = any_up_to(MSG_BODY_MAX);
	r->inputs_bytes = any_up_to(MSG_BODY_MAX - r->code_bytes);
	r->files_bytes =
	    any_up_to(MSG_BODY_MAX - r->code_bytes - r->inputs_bytes);
	r->head =
	    any_bytes(0, r->code_bytes + r->inputs_bytes + r->files_bytes);
}

static void any_step(struct msg_step *s)
{
	s->index = any_up_to(MSG_STEPS_MAX - 1);
	s->state = (enum msg_step_state)any(MSG_STEP_STATES);
	s->attempts = any_up_to(MSG_INT_MAX);
	s->elapsed_ms = any_up_to(MSG_INT_MAX);
	if (s->state == MSG_STEP_PENDING) {
		s->count = any_up_to(MSG_PENDING_MAX - 1) + 1;
		s->index = any_up_to(MSG_STEPS_MAX - s->count);
		s->name = any_text(1, MSG_NAME_MAX);
	}
	if (s->state == MSG_STEP_FAILED) {
		s->code = any_text(1, MSG_NAME_MAX);
		s->message = any_text(0, MSG_TEXT_MAX);
	}
}

static void any_answer(struct msg *m)
{
	m->answer.seq = (uint32_t)any_up_to(MSG_SEQ_MAX);
	m->answer.ok = any(2) == 1;
	if (m->answer.seq == 0) {
		m->answer.head = any_text(0, MSG_TEXT_MAX);
		m->answer.total = m->answer.head.n;
		return;
	}
	m->answer.total = any_up_to(MSG_ANSWER_MAX);
	m->answer.head = any_bytes(0, m->answer.total);
}

/* Any good message of TYPE. */
static struct msg any_msg(enum msg_type type)
{
	struct msg m = {.type = type};

	switch (type) {
	case MSG_RUN:
		any_run(&m.run);
		break;
	case MSG_CHUNK:
		m.chunk.data = any_bytes(1, MSG_CHUNK_MAX);
		break;
	case MSG_ANSWER:
		any_answer(&m);
		break;
	case MSG_READY:
		break;
	case MSG_PREPARE:
		m.prepare.entry = any_text(1, MSG_NAME_MAX);
		m.prepare.cpu_ms = any_up_to(MSG_INT_MAX);
		m.prepare.memory_bytes = any_up_to(MSG_INT_MAX);
		m.prepare.total = any_up_to(MSG_BODY_MAX);
		m.prepare.head = any_bytes(0, m.prepare.total);
		break;
	case MSG_WAITING:
		m.waiting.cpu_ms = any_up_to(MSG_INT_MAX);
		m.waiting.memory_bytes = any_up_to(MSG_INT_MAX);
		break;
	case MSG_USED:
		m.used.cpu_ms = any_up_to(MSG_INT_MAX);
		break;
	case MSG_STAY:
		m.stay.cell = any_up_to(MSG_INT_MAX - 1) + 1;
		m.stay.cpu_ms = any_up_to(MSG_INT_MAX);
		m.stay.name = any_text(1, MSG_NAME_MAX);
		m.stay.lost = any_text(0, MSG_TEXT_MAX);
		break;
	case MSG_KEPT:
		m.kept.kept = any(2) != 0;
		m.kept.cpu_ms = any_up_to(MSG_INT_MAX);
		m.kept.memory_bytes = any_up_to(MSG_INT_MAX);
		m.kept.why = any_text(0, MSG_TEXT_MAX);
		break;
	case MSG_PRINTED:
		m.printed.stream = any(MSG_PRINTED_STREAMS);
		m.printed.at = any_up_to(MSG_INT_MAX);
		m.printed.text = any_bytes(0, MSG_CHUNK_MAX);
		break;
	case MSG_PROGRESS:
		m.progress.done = any_up_to(MSG_INT_MAX);
		m.progress.total = any_up_to(MSG_INT_MAX);
		m.progress.message = any_text(0, MSG_TEXT_MAX);
		break;
	case MSG_STEP:
		any_step(&m.step);
		break;
	case MSG_LOG:
		m.log.level = (unsigned)any(8);
		m.log.text = any_text(0, MSG_TEXT_MAX);
		break;
	case MSG_ARTIFACT:
		m.artifact.total = any_up_to(MSG_BODY_MAX);
		m.artifact.name = any_text(1, MSG_NAME_MAX);
		m.artifact.mime_type = any_text(1, MSG_NAME_MAX);
		m.artifact.head = any_bytes(0, m.artifact.total);
		break;
	case MSG_RESULT:
		m.result.kind = (enum msg_result_kind)any(MSG_RESULT_KINDS);
		m.result.user_us = any_up_to(MSG_INT_MAX);
		m.result.system_us = any_up_to(MSG_INT_MAX);
		m.result.max_rss_kb = any_up_to(MSG_KB_MAX);
		m.result.total = any_up_to(MSG_BODY_MAX);
		m.result.head = any_bytes(0, m.result.total);
		break;
	case MSG_FAIL:
		m.fail.error_code = any_code();
		m.fail.message = any_text(0, MSG_TEXT_MAX);
		m.fail.details = any_text(0, MSG_DETAILS_MAX);
		break;
	case MSG_CALL:
		m.call.seq = (uint32_t)any_up_to(MSG_SEQ_MAX - 1) + 1;
		m.call.tool = any_text(1, MSG_NAME_MAX);
		m.call.total = any_up_to(MSG_ASK_MAX);
		m.call.head = any_bytes(0, m.call.total);
		break;
	case MSG_INPUT:
		m.input.seq = (uint32_t)any_up_to(MSG_SEQ_MAX - 1) + 1;
		m.input.kind = (enum msg_input_kind)any(MSG_INPUT_KINDS);
		m.input.total = any_up_to(MSG_ASK_MAX);
		m.input.head = any_bytes(0, m.input.total);
		break;
	case MSG_DROP:
		m.drop.seq = (uint32_t)any_up_to(MSG_SEQ_MAX - 1) + 1;
		break;
	case MSG_LOST:
		m.lost.kind = (enum msg_lost_kind)any(MSG_LOST_KINDS);
		m.lost.told = any(2) != 0;
		m.lost.count = any_up_to(MSG_INT_MAX - 1) + 1;
		m.lost.size = any_up_to(MSG_INT_MAX);
		m.lost.name = any_text(1, MSG_NAME_MAX);
		m.lost.errmsg = any_text(0, MSG_TEXT_MAX);
		break;
	}
	return m;
}

static const enum msg_type types[] = {
    MSG_RUN,	 MSG_CHUNK, MSG_ANSWER,	  MSG_READY,  MSG_PROGRESS,
    MSG_STEP,	 MSG_LOG,   MSG_ARTIFACT, MSG_RESULT, MSG_FAIL,
    MSG_CALL,	 MSG_INPUT, MSG_DROP,	  MSG_LOST,   MSG_PREPARE,
    MSG_WAITING, MSG_USED,  MSG_STAY,	  MSG_KEPT,   MSG_PRINTED,
};

TEST(round_trips_of_any)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const char *errmsg = NULL;
		int same_again = 0;

		for (int n = 0; n < 500; n++) {
			struct msg m = any_msg(types[i]), back;
			size_t len = msg_put(frame, &m);

			if (msg_get(&back, frame, len, &errmsg) == 0 &&
			    same(&m, &back))
				same_again++;
		}
		if (errmsg != NULL)
			printf("# %s\n", errmsg);
		is_int(same_again, 500, "any %s comes back as it was",
		       msg_type_name(types[i]));
	}
}
