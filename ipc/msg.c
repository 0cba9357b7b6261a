/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.c - encodes and decodes the messages of a run and of the browser, at both
 * ends, by a table of their fields. A frame that fails any check is -EBADMSG
 * with its offence, and the supervisor ends the worker; a message of our own
 * that does not fit fails an assertion.
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
 * msgpack-c encodes; msgpack_scan.c decodes. The scan, which proves a frame
 * flat, bounded and consumed, has already read each field: msgpack-c would read
 * them again, into a zone from the heap. The tests and the fuzz target compare
 * both readers.
 */

/* The legal bytes of a string. */
enum charset {
	BYTES,
	UTF8,	   /* UTF-8 without NUL */
	PRINTABLE, /* UTF-8 without any control character */
	CAPITALS,  /* only A to Z and _ */
};

/* A field of a message: its place in struct msg, and its bounds. */
struct field {
	size_t at;
	bool is_int;
	enum charset set; /* charset of a string */
	uint64_t min;	  /* a string's length, an integer's value */
	uint64_t max;
	const char *bad_kind; /* the offences; this one for another type */
	const char *bad_zero; /* NULL: an integer may be 0 */
	const char *bad_range;
	const char *bad_bytes;
};

/* The kinds of integer: the bounds, and the offence beyond. */
#define COUNT 0, MSG_INT_MAX, "over 2^53"
#define TOTAL 0, MSG_BODY_MAX, "over 1 GiB"
#define ASK 0, MSG_ASK_MAX, "over 1 MiB"
#define SEQ 0, MSG_SEQ_MAX, "over 2^32 - 1"
#define KB 0, MSG_KB_MAX, "over 2^32 - 1"
#define FLAG 0, 1, "over 1"

/*
 * The kinds of string: charset, bounds, the offence beyond, and of bad bytes.
 */
#define NAME NAME_FROM(1, "empty or over 256 bytes")
#define NAME_OR_NONE NAME_FROM(0, "over 256 bytes")
#define NAME_FROM(shortest, range)                                             \
	PRINTABLE, shortest, MSG_NAME_MAX, range,                              \
	    "is not UTF-8 or has a control character"
#define TEXT UTF8, 0, MSG_TEXT_MAX, "over 8 KiB", "is not UTF-8 or has a NUL"
#define DETAILS                                                                \
	UTF8, 0, MSG_DETAILS_MAX, "over 16 KiB", "is not UTF-8 or has a NUL"
#define ERROR_CODE                                                             \
	CAPITALS, 1, MSG_ERROR_CODE_MAX, "empty or over 64 bytes",             \
	    "is not of capitals and _"
#define HEAD BYTES, 0, MSG_CHUNK_MAX, "over 63 KiB", ""
#define DATA BYTES, 1, MSG_CHUNK_MAX, "empty or over 63 KiB", ""

_Static_assert(MSG_INT_MAX == 1ull << 53 && MSG_BODY_MAX == 1ull << 30 &&
		   MSG_NAME_MAX == 256 && MSG_TEXT_MAX == 8 << 10 &&
		   MSG_DETAILS_MAX == 16 << 10 && MSG_ERROR_CODE_MAX == 64 &&
		   MSG_CHUNK_MAX == 63 << 10 && MSG_STEPS_MAX == 1000000 &&
		   MSG_PENDING_MAX == 10000 && MSG_ASK_MAX == 1 << 20 &&
		   MSG_ANSWER_MAX == 4 << 20 &&
		   MSG_SEQ_MAX == (1ull << 32) - 1 &&
		   MSG_KB_MAX == MSG_SEQ_MAX && MSG_RATE_MIN == 100 &&
		   MSG_RATE_MAX == 1000000,
	       "the offences quote these");

static const char *check_run(const struct msg *m)
{
	const struct msg_run *r = &m->run;

	if (r->code_bytes + r->inputs_bytes + r->files_bytes > MSG_BODY_MAX)
		return "run.code_bytes, run.inputs_bytes and run.files_bytes "
		       "are over 1 GiB";
	if (r->head.n > r->code_bytes + r->inputs_bytes + r->files_bytes)
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

/*
 * Check an ANSWER of seq 0 (to an ARTIFACT): all in the head, short, and a
 * text.
 */
static const char *check_answer(const struct msg *m)
{
	struct str head = m->answer.head;

	if (m->answer.seq != 0)
		return NULL;
	if (head.n < m->answer.total || head.n > MSG_TEXT_MAX)
		return "answer.head is not all of an artifact's answer, or is "
		       "over 8 KiB";
	return memchr(head.p, '\0', head.n) == NULL && utf8_ok(head.p, head.n)
		   ? NULL
		   : "answer.head is not UTF-8 or has a NUL";
}

/* A message: its fields in order, and a check of all together. */
struct shape {
	const char *name;
	const struct field *fields;
	size_t count;
	const char *bad_count;
	size_t total_at, head_at; /* offsets of a body's members in struct
				     msg */
	const char *bad_head;	  /* the offence of a long head; NULL: no
				     body */
	/* returns the offence, or NULL */
	const char *(*check)(const struct msg *m);
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name takes none */
#define NUMBER(message, field, ...) INT(message, field, NULL, __VA_ARGS__)
#define NOT_0(message, field, of_0, ...)                                       \
	INT(message, field, #message "." #field " is 0" of_0, __VA_ARGS__)
#define INT(message, field, zero, least, most, range)                          \
	{.at = offsetof(struct msg, message.field),                            \
	 .is_int = true,                                                       \
	 .min = (least),                                                       \
	 .max = (most),                                                        \
	 .bad_kind = #message "." #field " is not an integer",                 \
	 .bad_zero = (zero),                                                   \
	 .bad_range = #message "." #field " is " range},
#define STRING(message, field, ...) STR(message, field, __VA_ARGS__)
#define STR(message, field, of, shortest, longest, range, bytes)               \
	{.at = offsetof(struct msg, message.field),                            \
	 .set = (of),                                                          \
	 .min = (shortest),                                                    \
	 .max = (longest),                                                     \
	 .bad_kind = #message "." #field " is not a string",                   \
	 .bad_range = #message "." #field " is " range,                        \
	 .bad_bytes = #message "." #field " " bytes},
#define MESSAGE(type, name, number, also, fields)                              \
	static const struct field name##_fields[] = {fields};
#include "ipc/msg.def"

#define NUMBER(...)
#define NOT_0(...)
#define STRING(...)
#define BODY(message)                                                          \
	.total_at = offsetof(struct msg, message.total),                       \
	.head_at = offsetof(struct msg, message.head),                         \
	.bad_head = #message ".head is longer than " #message ".total",
#define MESSAGE(type, message, number, also, ...)                              \
	[MSG_##type] = {.name = #type,                                         \
			.fields = message##_fields,                            \
			.count = ARRAY_LEN(message##_fields),                  \
			.bad_count = #type " with other than " number,         \
			also},

static const struct shape shapes[] = {
    [MSG_READY] = {.name = "READY", .bad_count = "READY with fields"},
#include "ipc/msg.def"
};
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct shape *shape_of(uint64_t type)
{
	if (type >= ARRAY_LEN(shapes) || shapes[type].name == NULL)
		return NULL;
	return &shapes[type];
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

void msg_set_body(struct msg *m, uint64_t total, struct str head)
{
	const struct shape *shape = shape_of(m->type);

	assert(shape != NULL && shape->bad_head != NULL);
	*(uint64_t *)((char *)m + shape->total_at) = total;
	*(struct str *)((char *)m + shape->head_at) = head;
}

/* The caller's frame while it fills. */
struct out {
	char *p;
	size_t n;
};

static int out_write(void *data, const char *p, size_t n)
{
	struct out *out = data;

	assert(n <= CHAN_FRAME_MAX - out->n);
	if (n > 0) /* an empty str may have a NULL pointer */
		memcpy(out->p + out->n, p, n);
	out->n += n;
	return 0;
}

size_t msg_put(void *out, const struct msg *m)
{
	const struct shape *shape = shape_of(m->type);
	struct out to = {.p = out};
	msgpack_packer pk = {.data = &to, .callback = out_write};

	assert(shape != NULL);
	msgpack_pack_array(&pk, shape->count + 1);
	msgpack_pack_uint64(&pk, m->type);
	for (size_t i = 0; i < shape->count; i++) {
		const void *at = (const char *)m + shape->fields[i].at;
		const struct str *s = at;

		if (shape->fields[i].is_int)
			msgpack_pack_uint64(&pk, *(const uint64_t *)at);
		else
			msgpack_pack_str_with_body(&pk, s->p, s->n);
	}
	return to.n;
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
		return utf8_printable(p, n);
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
	if (from->n == 0 && f->bad_zero != NULL)
		return f->bad_zero;
	if (from->n < f->min || from->n > f->max)
		return f->bad_range;
	if (f->is_int) {
		*(uint64_t *)at = from->n;
		return NULL;
	}
	if (!consists_of(f->set, from->p, (size_t)from->n))
		return f->bad_bytes;
	*(struct str *)at = (struct str){from->p, (size_t)from->n};
	return NULL;
}

/* Is the head no longer than the total? */
static bool body_fits(const struct msg *m, const struct shape *shape)
{
	const struct str *head =
	    (const struct str *)((const char *)m + shape->head_at);

	return head->n <=
	       *(const uint64_t *)((const char *)m + shape->total_at);
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
	if (errmsg == NULL && shape->bad_head != NULL && !body_fits(m, shape))
		errmsg = shape->bad_head;
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
	if (count == 0 || fields[0].p != NULL) {
		*errmsg = "no message type";
		return -EBADMSG;
	}
	shape = shape_of(fields[0].n);
	if (shape == NULL) {
		*errmsg = "an unknown message type";
		return -EBADMSG;
	}
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
