#include "ipc/msg.h"

#include "base/mem.h"
#include "ipc/scan.h"
#include "tests/offence.h"
#include "tests/tap.h"

static unsigned char frame[CHAN_FRAME_MAX];
static char bulk[CHAN_FRAME_MAX];

/* One good message or more of each type. */
static const struct msg samples[] = {
    {.type = MSG_RUN,
     .run = {.run_id = S("run_01"),
	     .template_id = S("csv_profile"),
	     .entry = S("main.lua"),
	     .timeout_ms = 60000,
	     .cancel_grace_ms = 2000,
	     .memory_bytes = 128 << 20,
	     .output_bytes = 262144,
	     .artifact_bytes = 1 << 20,
	     .messages_per_second = 10000,
	     .code_bytes = 8,
	     .inputs_bytes = 2,
	     .head = S("return 1{}")}},
    {.type = MSG_CHUNK, .chunk = {.data = S("\0\xff raw")}},
    {.type = MSG_ANSWER,
     .answer = {.ok = true, .total = 6, .head = S("art_01")}},
    {.type = MSG_ANSWER,
     .answer = {.ok = false, .total = 8, .head = S("too many")}},
    {.type = MSG_ANSWER,
     .answer = {.seq = 7, .ok = true, .total = 90000, .head = S("{\"a")}},
    {.type = MSG_READY},
    {.type = MSG_PROGRESS,
     .progress = {.done = 1, .total = 9, .message = S("gelesen: \xc3\xa9")}},
    {.type = MSG_STEP, .step = {.index = 3, .count = 7, .name = S("column")}},
    {.type = MSG_STEP,
     .step = {.index = 4, .state = MSG_STEP_RUNNING, .attempts = 1}},
    {.type = MSG_STEP,
     .step = {.index = 4,
	      .state = MSG_STEP_FAILED,
	      .attempts = 3,
	      .elapsed_ms = 1200,
	      .code = S("BAD_ROW"),
	      .message = S("row 7:\nno columns")}},
    {.type = MSG_STEP,
     .step = {.state = MSG_STEP_SUCCEEDED, .attempts = 1, .elapsed_ms = 12}},
    {.type = MSG_STEP, .step = {.index = 999999, .state = MSG_STEP_SKIPPED}},
    {.type = MSG_LOG, .log = {.level = 6, .text = S("\x1b[31mred\ttext")}},
    {.type = MSG_ARTIFACT,
     .artifact = {.total = 70000,
		  .name = S("profile.csv"),
		  .mime_type = S("text/csv"),
		  .head = S("a,b\n\0\xfe")}},
    {.type = MSG_RESULT,
     .result = {.kind = MSG_RESULT_REPLY, .total = 2, .head = S("{}")}},
    {.type = MSG_FAIL,
     .fail = {.error_code = S("EXECUTION_ERROR"),
	      .message = S("main.lua:3: oops"),
	      .details = S("{\"templateCode\":\"X\"}")}},
    {.type = MSG_CALL,
     .call = {.seq = MSG_SEQ_MAX,
	      .tool = S("navigate"),
	      .total = 2,
	      .head = S("{}")}},
    {.type = MSG_INPUT,
     .input = {.seq = 1,
	       .kind = MSG_INPUT_SAMPLE,
	       .total = 70000,
	       .head = S("{\"m")}},
    {.type = MSG_DROP, .drop = {.seq = 7}},
};

static bool same_str(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static bool same_run(const struct msg_run *a, const struct msg_run *b)
{
	return same_str(a->run_id, b->run_id) &&
	       same_str(a->template_id, b->template_id) &&
	       same_str(a->entry, b->entry) && a->timeout_ms == b->timeout_ms &&
	       a->cancel_grace_ms == b->cancel_grace_ms &&
	       a->memory_bytes == b->memory_bytes &&
	       a->output_bytes == b->output_bytes &&
	       a->artifact_bytes == b->artifact_bytes &&
	       a->messages_per_second == b->messages_per_second &&
	       a->code_bytes == b->code_bytes &&
	       a->inputs_bytes == b->inputs_bytes && same_str(a->head, b->head);
}

static bool same_step(const struct msg_step *a, const struct msg_step *b)
{
	return a->index == b->index && a->count == b->count &&
	       a->state == b->state && a->attempts == b->attempts &&
	       a->elapsed_ms == b->elapsed_ms && same_str(a->name, b->name) &&
	       same_str(a->code, b->code) && same_str(a->message, b->message);
}

static bool same(const struct msg *a, const struct msg *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case MSG_RUN:
		return same_run(&a->run, &b->run);
	case MSG_CHUNK:
		return same_str(a->chunk.data, b->chunk.data);
	case MSG_ANSWER:
		return a->answer.seq == b->answer.seq &&
		       a->answer.ok == b->answer.ok &&
		       a->answer.total == b->answer.total &&
		       same_str(a->answer.head, b->answer.head);
	case MSG_READY:
		return true;
	case MSG_PROGRESS:
		return a->progress.done == b->progress.done &&
		       a->progress.total == b->progress.total &&
		       same_str(a->progress.message, b->progress.message);
	case MSG_STEP:
		return same_step(&a->step, &b->step);
	case MSG_LOG:
		return a->log.level == b->log.level &&
		       same_str(a->log.text, b->log.text);
	case MSG_ARTIFACT:
		return a->artifact.total == b->artifact.total &&
		       same_str(a->artifact.name, b->artifact.name) &&
		       same_str(a->artifact.mime_type, b->artifact.mime_type) &&
		       same_str(a->artifact.head, b->artifact.head);
	case MSG_RESULT:
		return a->result.kind == b->result.kind &&
		       a->result.total == b->result.total &&
		       same_str(a->result.head, b->result.head);
	case MSG_FAIL:
		return same_str(a->fail.error_code, b->fail.error_code) &&
		       same_str(a->fail.message, b->fail.message) &&
		       same_str(a->fail.details, b->fail.details);
	case MSG_CALL:
		return a->call.seq == b->call.seq &&
		       same_str(a->call.tool, b->call.tool) &&
		       a->call.total == b->call.total &&
		       same_str(a->call.head, b->call.head);
	case MSG_INPUT:
		return a->input.seq == b->input.seq &&
		       a->input.kind == b->input.kind &&
		       a->input.total == b->input.total &&
		       same_str(a->input.head, b->input.head);
	case MSG_DROP:
		return a->drop.seq == b->drop.seq;
	}
	return false;
}

static void round_trips(void)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		size_t len = msg_put(frame, &samples[i]);
		const char *why = NULL;
		struct msg m;

		is_int(msg_get(&m, frame, len, &why), 0, "%s decodes (%zu)",
		       msg_type_name(samples[i].type), i);
		ok(why == NULL && same(&m, &samples[i]),
		   "and says what was said (%zu)", i);
	}
}

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
	r->head = any_bytes(0, r->code_bytes + r->inputs_bytes);
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
	}
	return m;
}

static const enum msg_type types[] = {
    MSG_RUN,  MSG_CHUNK, MSG_ANSWER,   MSG_READY,  MSG_PROGRESS,
    MSG_STEP, MSG_LOG,	 MSG_ARTIFACT, MSG_RESULT, MSG_FAIL,
    MSG_CALL, MSG_INPUT, MSG_DROP,
};

static void round_trips_of_any(void)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		const char *why = NULL;
		int same_again = 0;

		for (int n = 0; n < 500; n++) {
			struct msg m = any_msg(types[i]), back;
			size_t len = msg_put(frame, &m);

			if (msg_get(&back, frame, len, &why) == 0 &&
			    same(&m, &back))
				same_again++;
		}
		if (why != NULL)
			printf("# %s\n", why);
		is_int(same_again, 500, "any %s comes back as it was",
		       msg_type_name(types[i]));
	}
}

/* The largest message of each type fits a frame, or msg_put() asserts. */
static void fits_the_largest(void)
{
	struct str name = {bulk, MSG_NAME_MAX}, head = {bulk, MSG_CHUNK_MAX};
	struct msg run = {.type = MSG_RUN,
			  .run = {.run_id = name,
				  .template_id = name,
				  .entry = name,
				  .timeout_ms = MSG_INT_MAX,
				  .cancel_grace_ms = MSG_INT_MAX,
				  .memory_bytes = MSG_INT_MAX,
				  .output_bytes = MSG_INT_MAX,
				  .artifact_bytes = MSG_INT_MAX,
				  .messages_per_second = MSG_RATE_MAX,
				  .code_bytes = MSG_BODY_MAX - 1,
				  .inputs_bytes = 1,
				  .head = head}};
	struct msg artifact = {.type = MSG_ARTIFACT,
			       .artifact = {.total = MSG_BODY_MAX,
					    .name = name,
					    .mime_type = name,
					    .head = head}};

	memset(bulk, 'x', sizeof(bulk));
	is_str(offence(frame, msg_put(frame, &run)), "accepted",
	       "the largest RUN fits a frame");
	is_str(offence(frame, msg_put(frame, &artifact)), "accepted",
	       "and so does the largest ARTIFACT");
}

static void refuses_cuts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		size_t len = msg_put(frame, &samples[i]), accepted = 0;

		for (size_t n = 0; n < len; n++)
			if (strcmp(offence(frame, n), "accepted") == 0)
				accepted++;
		is_int(accepted, 0, "%s is refused when cut at any byte (%zu)",
		       msg_type_name(samples[i].type), i);
		frame[len] = 0;
		is_str(offence(frame, len + 1), "trailing bytes",
		       "and with a byte too many (%zu)", i);
	}
}

/* Objects of every other type, and the one offence where it is certain. */
static const struct {
	const char *bytes;
	size_t len;
	const char *why;
} strangers[] = {
    {"\xc0", 1, "a nil"},
    {"\xc2", 1, "a boolean"},
    {"\xc3", 1, "a boolean"},
    {"\xc4\x01x", 3, "a bin"},
    {"\xca\0\0\0\0", 5, "a float"},
    {"\xcb\x7f\xf8\0\0\0\0\0\0", 9, "a float"},
    {"\xff", 1, "a negative integer"},
    {"\xd3\xff\xff\xff\xff\xff\xff\xff\xff", 9, "a negative integer"},
    {"\xd4\x01x", 3, "an ext"},
    {"\x80", 1, "a map"},
    {"\x90", 1, "an array in an array"},
    {"\xc1", 1, "not msgpack: the byte 0xc1"},
};

/*
 * Append to OUT the element of FRAME that F tells, all of whose elements are
 * short. The new length of OUT.
 */
static size_t append(unsigned char *out, size_t len, const struct scan_field *f)
{
	if (f->p == NULL) {
		out[len++] = 0xcf;
		for (int shift = 56; shift >= 0; shift -= 8)
			out[len++] = (unsigned char)(f->n >> shift);
		return len;
	}
	out[len++] = 0xda;
	out[len++] = (unsigned char)(f->n >> 8);
	out[len++] = (unsigned char)f->n;
	memcpy(out + len, f->p, f->n);
	return len + f->n;
}

/* Sample I with its field K replaced by LEN bytes: the offence. */
static const char *replaced(size_t i, size_t k, const void *bytes, size_t len)
{
	static unsigned char out[4096];
	struct scan_field f[SCAN_FIELDS_MAX];
	const char *why;
	size_t count, n = 0;

	scan_frame(f, &count, frame, msg_put(frame, &samples[i]), &why);
	out[n++] = (unsigned char)(0x90 | count);
	for (size_t at = 0; at < count; at++) {
		if (at != k) {
			n = append(out, n, &f[at]);
			continue;
		}
		memcpy(out + n, bytes, len);
		n += len;
	}
	return offence(out, n);
}

static bool refuses_strangers(size_t i, size_t k)
{
	bool pass = true;

	for (size_t s = 0; s < ARRAY_LEN(strangers); s++) {
		const char *why =
		    replaced(i, k, strangers[s].bytes, strangers[s].len);

		if (strcmp(why, strangers[s].why) != 0) {
			printf("# 0x%02x: %s\n",
			       (unsigned char)strangers[s].bytes[0], why);
			pass = false;
		}
	}
	return pass;
}

/* A string for an integer and an integer for a string. */
static bool refuses_the_other_kind(size_t i, size_t k,
				   const struct scan_field *f)
{
	const char *want =
	    f->p == NULL ? " is not an integer" : " is not a string";
	const char *why = f->p == NULL ? replaced(i, k, "\xa1z", 2)
				       : replaced(i, k, "\x01", 1);

	if (k == 0)
		return strcmp(why, "no message type") == 0;
	return strstr(why, want) != NULL;
}

static void refuses_wrong_types(void)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		const char *name = msg_type_name(samples[i].type);
		struct scan_field f[SCAN_FIELDS_MAX], as_was[1];
		const char *why;
		size_t count;

		scan_frame(f, &count, frame, msg_put(frame, &samples[i]), &why);
		for (size_t k = 0; k < count; k++) {
			as_was[0] = f[k];
			ok(refuses_strangers(i, k) &&
			       refuses_the_other_kind(i, k, as_was),
			   "%s (%zu): field %zu takes its own type alone", name,
			   i, k);
		}
	}
}

/* One field too few, and one too many. */
static void refuses_wrong_counts(void)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		const char *name = msg_type_name(samples[i].type);
		size_t len = msg_put(frame, &samples[i]);

		frame[0]++;
		frame[len] = 0;
		ok(strncmp(offence(frame, len + 1), name, strlen(name)) == 0,
		   "%s with a field more is refused (%zu)", name, i);
	}
	is_str(offence("\x91\x11", 2), "PROGRESS with other than 3 fields",
	       "PROGRESS with no field is refused");
	is_str(offence("\x93\x11\x01\x02", 4),
	       "PROGRESS with other than 3 fields",
	       "PROGRESS with a field less is refused");
}

static void costs(void)
{
	struct msg call = {.type = MSG_CALL, .call = {.total = MSG_ASK_MAX}};
	struct msg result = {.type = MSG_RESULT, .result = {.total = 1 << 20}};
	struct msg chunk = {.type = MSG_CHUNK};

	is_int(msg_cost(&call, 10000), 1025, "a question counts by its size");
	is_int(msg_cost(&call, 100), 100, "for a second's worth at the most");
	is_int(msg_cost(&result, 10000), 1, "and nothing else does");
	is_int(msg_cost(&chunk, 10000), 0, "a part of a body counts for nothing");
}

static void names_types(void)
{
	is_str(msg_type_name(MSG_PROGRESS), "PROGRESS", "a type has a name");
	is_str(msg_type_name((enum msg_type)0), "?", "0 has none");
	is_str(msg_type_name((enum msg_type)26), "?", "nor has 26");
}

int main(void)
{
	round_trips();
	round_trips_of_any();
	fits_the_largest();
	refuses_cuts();
	refuses_wrong_types();
	refuses_wrong_counts();
	costs();
	names_types();
	return tap_done();
}
