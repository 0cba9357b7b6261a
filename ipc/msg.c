/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.c - the messages of a run and of the browser, by one table of their
 * fields. Both ends encode and decode by it. A frame that fails any check is
 * -EBADMSG with its offence, which the supervisor takes for the end of the
 * worker; a message of ours that does not fit asserts.
 */
#include "ipc/msg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <msgpack/pack.h>

#include "base/mem.h"
#include "base/text/utf8.h"
#include "ipc/msgpack_scan.h"

/*
 * msgpack-c encodes; msgpack_scan.c decodes. By the time that a frame has been
 * proven flat, bounded and consumed, each field has been read: msgpack-c
 * would only read it again, into a zone from the heap. The tests and the
 * fuzz target hold the two readings against each other.
 */

/* What a string may consist of. */
enum charset {
	BYTES,
	UTF8,	   /* without NUL */
	PRINTABLE, /* without any control character */
	CAPITALS,  /* A to Z and _ */
};

/* One field of a message: where it lives in struct msg, what it may be. */
struct field {
	size_t at;
	size_t size;
	bool is_int;
	enum charset set; /* a string's */
	uint64_t min;	  /* a string's length, an integer's value */
	uint64_t max;
	const char *bad_kind; /* offences */
	const char *bad_range;
	const char *bad_bytes;
};

#define AT(member)                                                             \
	.at = offsetof(struct msg, member),                                    \
	.size = sizeof(((struct msg *)NULL)->member)

#define INT(member, highest, range)                                            \
	{                                                                      \
		AT(member), .is_int = true, .max = (highest),                  \
			    .bad_kind = #member " is not an integer",          \
			    .bad_range = #member " is over " range,            \
	}

#define RATE(member)                                                           \
	{                                                                      \
		AT(member),                                                    \
		    .is_int = true, .min = MSG_RATE_MIN, .max = MSG_RATE_MAX,  \
		    .bad_kind = #member " is not an integer",                  \
		    .bad_range = #member " is not from 100 to 1000000",        \
	}

#define STRING(member, charset, shortest, longest, range, bytes)               \
	{                                                                      \
		AT(member), .set = (charset), .min = (shortest),               \
			    .max = (longest),                                  \
			    .bad_kind = #member " is not a string",            \
			    .bad_range = #member " is " range,                 \
			    .bad_bytes = #member " " bytes,                    \
	}

/* The kinds of field that there are. */
#define COUNT(member) INT(member, MSG_INT_MAX, "2^53")
#define TOTAL(member) INT(member, MSG_BODY_MAX, "1 GiB")
#define SEQ(member) INT(member, MSG_SEQ_MAX, "2^32 - 1")
#define NAME(member) NAME_FROM(member, 1, "empty or over 256 bytes")
#define NAME_OR_NONE(member) NAME_FROM(member, 0, "over 256 bytes")
#define NAME_FROM(member, shortest, range)                                     \
	STRING(member, PRINTABLE, shortest, MSG_NAME_MAX, range,               \
	       "is not UTF-8 or has a control character")
#define TEXT(member)                                                           \
	STRING(member, UTF8, 0, MSG_TEXT_MAX, "over 8 KiB",                    \
	       "is not UTF-8 or has a NUL")
#define DETAILS(member)                                                        \
	STRING(member, UTF8, 0, MSG_DETAILS_MAX, "over 16 KiB",                \
	       "is not UTF-8 or has a NUL")
#define ERROR_CODE(member)                                                     \
	STRING(member, CAPITALS, 1, MSG_ERROR_CODE_MAX,                        \
	       "empty or over 64 bytes", "is not of capitals and _")
#define HEAD(member) STRING(member, BYTES, 0, MSG_CHUNK_MAX, "over 63 KiB", "")
#define DATA(member)                                                           \
	STRING(member, BYTES, 1, MSG_CHUNK_MAX, "empty or over 63 KiB", "")

_Static_assert(MSG_INT_MAX == 1ull << 53 && MSG_BODY_MAX == 1ull << 30 &&
		   MSG_NAME_MAX == 256 && MSG_TEXT_MAX == 8 << 10 &&
		   MSG_DETAILS_MAX == 16 << 10 && MSG_ERROR_CODE_MAX == 64 &&
		   MSG_CHUNK_MAX == 63 << 10 && MSG_STEPS_MAX == 1000000 &&
		   MSG_PENDING_MAX == 10000 && MSG_ASK_MAX == 1 << 20 &&
		   MSG_ANSWER_MAX == 4 << 20 &&
		   MSG_SEQ_MAX == (1ull << 32) - 1 && MSG_RATE_MIN == 100 &&
		   MSG_RATE_MAX == 1000000,
	       "the offences quote these");

static const struct field run_fields[] = {
    NAME(run.run_id),
    NAME(run.template_id),
    NAME(run.entry),
    COUNT(run.timeout_ms),
    COUNT(run.cancel_grace_ms),
    COUNT(run.memory_bytes),
    COUNT(run.output_bytes),
    COUNT(run.artifact_bytes),
    RATE(run.messages_per_second),
    TOTAL(run.code_bytes),
    TOTAL(run.inputs_bytes),
    HEAD(run.head),
};

static const struct field chunk_fields[] = {
    DATA(chunk.data),
};

static const struct field answer_fields[] = {
    SEQ(answer.seq),
    INT(answer.ok, 1, "1"),
    INT(answer.total, MSG_ANSWER_MAX, "4 MiB"),
    HEAD(answer.head),
};

static const struct field progress_fields[] = {
    COUNT(progress.done),
    COUNT(progress.total),
    TEXT(progress.message),
};

static const struct field step_fields[] = {
    INT(step.index, MSG_STEPS_MAX - 1, "999999"),
    INT(step.count, MSG_PENDING_MAX, "10000"),
    INT(step.state, MSG_STEP_STATES - 1, "4, the last state"),
    COUNT(step.attempts),
    COUNT(step.elapsed_ms),
    NAME_OR_NONE(step.name),
    NAME_OR_NONE(step.code),
    TEXT(step.message),
};

static const struct field log_fields[] = {
    INT(log.level, 7, "7, the last severity"),
    TEXT(log.text),
};

static const struct field artifact_fields[] = {
    TOTAL(artifact.total),
    NAME(artifact.name),
    NAME(artifact.mime_type),
    HEAD(artifact.head),
};

static const struct field result_fields[] = {
    INT(result.kind, MSG_RESULT_KINDS - 1, "1, the last kind"),
    TOTAL(result.total),
    HEAD(result.head),
};

static const struct field fail_fields[] = {
    ERROR_CODE(fail.error_code),
    TEXT(fail.message),
    DETAILS(fail.details),
};

static const struct field call_fields[] = {
    SEQ(call.seq),
    NAME(call.tool),
    INT(call.total, MSG_ASK_MAX, "1 MiB"),
    HEAD(call.head),
};

static const struct field input_fields[] = {
    SEQ(input.seq),
    INT(input.kind, MSG_INPUT_KINDS - 1, "2, the last kind"),
    INT(input.total, MSG_ASK_MAX, "1 MiB"),
    HEAD(input.head),
};

static const struct field drop_fields[] = {
    SEQ(drop.seq),
};

static const struct field lost_fields[] = {
    INT(lost.kind, MSG_LOST_KINDS - 1, "4, the last kind"),
    INT(lost.told, 1, "1"),
    COUNT(lost.count),
    COUNT(lost.size),
    NAME(lost.name),
    TEXT(lost.errmsg),
};

static const char *check_run(const struct msg *m)
{
	const struct msg_run *r = &m->run;

	if (r->code_bytes + r->inputs_bytes > MSG_BODY_MAX)
		return "run.code_bytes and run.inputs_bytes are over 1 GiB";
	if (r->head.n > r->code_bytes + r->inputs_bytes)
		return "run.head is longer than the body";
	return NULL;
}

static const char *check_pending(const struct msg_step *s)
{
	if (s->count == 0)
		return "step.count is 0, yet it is pending";
	if (s->index + s->count > MSG_STEPS_MAX)
		return "step.index and step.count go beyond 1000000 steps";
	if (s->name.n == 0)
		return "step.name is empty, yet it is pending";
	return NULL;
}

static const char *check_step(const struct msg *m)
{
	const struct msg_step *s = &m->step;

	if (s->state != MSG_STEP_FAILED && s->code.n + s->message.n > 0)
		return "step.code or step.message, yet it has not failed";
	if (s->state == MSG_STEP_PENDING)
		return check_pending(s);
	if (s->count != 0)
		return "step.count is not 0, yet it is not pending";
	if (s->name.n != 0)
		return "step.name, yet it is not pending";
	if (s->state == MSG_STEP_FAILED && s->code.n == 0)
		return "step.code is empty, yet it has failed";
	return NULL;
}

static const char *check_artifact(const struct msg *m)
{
	return m->artifact.head.n <= m->artifact.total
		   ? NULL
		   : "artifact.head is longer than artifact.total";
}

static const char *check_result(const struct msg *m)
{
	return m->result.head.n <= m->result.total
		   ? NULL
		   : "result.head is longer than result.total";
}

/* Of seq 0 it is short and a text, whatever the worker makes of it. */
static const char *check_answer(const struct msg *m)
{
	struct str head = m->answer.head;

	if (head.n > m->answer.total)
		return "answer.head is longer than answer.total";
	if (m->answer.seq != 0)
		return NULL;
	if (head.n < m->answer.total || head.n > MSG_TEXT_MAX)
		return "answer.head is not all of an artifact's answer, or is "
		       "over 8 KiB";
	return memchr(head.p, '\0', head.n) == NULL && utf8_ok(head.p, head.n)
		   ? NULL
		   : "answer.head is not UTF-8 or has a NUL";
}

static const char *check_call(const struct msg *m)
{
	if (m->call.seq == 0)
		return "call.seq is 0, which is ARTIFACT's";
	return m->call.head.n <= m->call.total
		   ? NULL
		   : "call.head is longer than call.total";
}

static const char *check_input(const struct msg *m)
{
	if (m->input.seq == 0)
		return "input.seq is 0, which is ARTIFACT's";
	return m->input.head.n <= m->input.total
		   ? NULL
		   : "input.head is longer than input.total";
}

static const char *check_drop(const struct msg *m)
{
	return m->drop.seq != 0 ? NULL : "drop.seq is 0, which is ARTIFACT's";
}

static const char *check_lost(const struct msg *m)
{
	return m->lost.count != 0 ? NULL : "lost.count is 0";
}

/* A message: its fields in their order, and what they must be together. */
struct shape {
	const char *name;
	const struct field *fields;
	size_t count;
	const char *bad_count;
	const char *(*check)(const struct msg *m); /* the offence or NULL */
};

#define SHAPE(type, list, number)                                              \
	.name = #type, .fields = (list), .count = ARRAY_LEN(list),             \
	.bad_count = #type " with other than " number

static const struct shape shapes[] = {
    [MSG_RUN] = {SHAPE(RUN, run_fields, "12 fields"), .check = check_run},
    [MSG_CHUNK] = {SHAPE(CHUNK, chunk_fields, "1 field")},
    [MSG_ANSWER] = {SHAPE(ANSWER, answer_fields, "4 fields"),
		    .check = check_answer},
    [MSG_READY] = {.name = "READY", .bad_count = "READY with fields"},
    [MSG_PROGRESS] = {SHAPE(PROGRESS, progress_fields, "3 fields")},
    [MSG_STEP] = {SHAPE(STEP, step_fields, "8 fields"), .check = check_step},
    [MSG_LOG] = {SHAPE(LOG, log_fields, "2 fields")},
    [MSG_ARTIFACT] = {SHAPE(ARTIFACT, artifact_fields, "4 fields"),
		      .check = check_artifact},
    [MSG_RESULT] = {SHAPE(RESULT, result_fields, "3 fields"),
		    .check = check_result},
    [MSG_FAIL] = {SHAPE(FAIL, fail_fields, "3 fields")},
    [MSG_CALL] = {SHAPE(CALL, call_fields, "4 fields"), .check = check_call},
    [MSG_INPUT] = {SHAPE(INPUT, input_fields, "4 fields"),
		   .check = check_input},
    [MSG_DROP] = {SHAPE(DROP, drop_fields, "1 field"), .check = check_drop},
    [MSG_LOST] = {SHAPE(LOST, lost_fields, "6 fields"), .check = check_lost},
};

static const struct shape *shape_of(uint64_t type)
{
	if (type >= ARRAY_LEN(shapes) || shapes[type].name == NULL)
		return NULL;
	return &shapes[type];
}

const char *msg_type_name(enum msg_type type)
{
	const struct shape *shape = shape_of(type);

	return shape == NULL ? "?" : shape->name;
}

static uint64_t cost_of_ask(uint64_t total, uint64_t rate)
{
	uint64_t cost = 1 + total / MSG_ASK_PACE;

	return cost < rate ? cost : rate;
}

uint64_t msg_cost(const struct msg *m, uint64_t rate)
{
	switch (m->type) {
	case MSG_CHUNK:
		return 0;
	case MSG_CALL:
		return cost_of_ask(m->call.total, rate);
	case MSG_INPUT:
		return cost_of_ask(m->input.total, rate);
	default:
		return 1;
	}
}

_Static_assert(sizeof(bool) == 1 && sizeof(enum msg_step_state) == 4 &&
		   sizeof(enum msg_result_kind) == 4 &&
		   sizeof(enum msg_input_kind) == 4,
	       "the widths of integers below");

static uint64_t load_int(const void *at, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		assert(size == 8);
		return *(const uint64_t *)at;
	}
}

static void store_int(void *at, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		assert(size == 8);
		*(uint64_t *)at = value;
	}
}

/* The caller's frame, as it fills. */
struct out {
	char *p;
	size_t n;
};

static int out_write(void *data, const char *p, size_t n)
{
	struct out *out = data;

	assert(n <= CHAN_FRAME_MAX - out->n);
	if (n > 0) /* an empty str may have no bytes to point at */
		memcpy(out->p + out->n, p, n);
	out->n += n;
	return 0;
}

static void put_field(msgpack_packer *pk, const struct msg *m,
		      const struct field *f)
{
	const void *at = (const char *)m + f->at;
	const struct str *s = at;

	if (f->is_int)
		msgpack_pack_uint64(pk, load_int(at, f->size));
	else
		msgpack_pack_str_with_body(pk, s->p, s->n);
}

size_t msg_put(void *out, const struct msg *m)
{
	const struct shape *shape = shape_of(m->type);
	struct out to = {.p = out};
	msgpack_packer pk = {.data = &to, .callback = out_write};

	assert(shape != NULL);
	msgpack_pack_array(&pk, shape->count + 1);
	msgpack_pack_uint64(&pk, m->type);
	for (size_t i = 0; i < shape->count; i++)
		put_field(&pk, m, &shape->fields[i]);
	return to.n;
}

/* No C0, no DEL, and no C1, which is C2 80 to C2 9F. */
static bool printable(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;

	for (size_t i = 0; i < n; i++)
		if (u[i] < 0x20 || u[i] == 0x7F ||
		    (u[i] == 0xC2 && i + 1 < n && u[i + 1] < 0xA0))
			return false;
	return utf8_ok(p, n);
}

static bool capitals(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] < 'A' || p[i] > 'Z') && p[i] != '_')
			return false;
	return true;
}

static bool consists_of(enum charset set, const char *p, size_t n)
{
	switch (set) {
	case BYTES:
		return true;
	case UTF8:
		return memchr(p, '\0', n) == NULL && utf8_ok(p, n);
	case PRINTABLE:
		return printable(p, n);
	case CAPITALS:
		return capitals(p, n);
	}
	return false;
}

static const char *get_field(struct msg *m, const struct field *f,
			     const struct msgpack_scan_field *from)
{
	void *at = (char *)m + f->at;

	if (f->is_int != (from->p == NULL))
		return f->bad_kind;
	if (from->n < f->min || from->n > f->max)
		return f->bad_range;
	if (f->is_int) {
		store_int(at, f->size, from->n);
		return NULL;
	}
	if (!consists_of(f->set, from->p, (size_t)from->n))
		return f->bad_bytes;
	*(struct str *)at = (struct str){from->p, (size_t)from->n};
	return NULL;
}

/* The shape that the first field names, or NULL and the offence. */
static const struct shape *get_type(const struct msgpack_scan_field *f,
				    size_t count, const char **errmsg)
{
	const struct shape *shape;

	if (count == 0 || f->p != NULL) {
		*errmsg = "no message type";
		return NULL;
	}
	shape = shape_of(f->n);
	if (shape == NULL)
		*errmsg = "an unknown message type";
	return shape;
}

static const char *get_fields(struct msg *m, const struct shape *shape,
			      const struct msgpack_scan_field *from,
			      size_t count)
{
	const char *errmsg = NULL;

	if (count != shape->count)
		return shape->bad_count;
	for (size_t i = 0; errmsg == NULL && i < count; i++)
		errmsg = get_field(m, &shape->fields[i], &from[i]);
	if (errmsg == NULL && shape->check != NULL)
		errmsg = shape->check(m);
	return errmsg;
}

int msg_get(struct msg *m, const void *frame, size_t len, const char **errmsg)
{
	struct msgpack_scan_field fields[MSGPACK_SCAN_FIELDS_MAX];
	const struct shape *shape;
	size_t count;

	memset(m, 0, sizeof(*m));
	if (msgpack_scan_frame(fields, &count, frame, len, errmsg) < 0)
		return -EBADMSG;
	shape = get_type(fields, count, errmsg);
	if (shape == NULL)
		return -EBADMSG;
	m->type = (enum msg_type)fields[0].n;
	*errmsg = get_fields(m, shape, fields + 1, count - 1);
	return *errmsg == NULL ? 0 : -EBADMSG;
}

bool msg_reply_code_ok(int64_t code)
{
	return code == -32603 ||
	       (code >= INT32_MIN && code <= INT32_MAX && code != 429 &&
		(code < -32768 || code > -32000));
}
