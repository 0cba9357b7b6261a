/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.h - the messages of a run, one msgpack array a frame.
 *
 * ipc/PROTOCOL.md is the schema: fields, bounds, legal states; msg.def has the
 * fields and bounds for the compiler. Here each message is a struct; msg_put()
 * encodes and msg_get() decodes any message. A decoded message is a claim:
 * types, lengths, ranges and UTF-8 are checked here, the meaning (order,
 * totals, rates) by the receiver.
 *
 * A body (code and inputs, an artifact, a result, a question's parameters, an
 * answer) is a total and a head, then CHUNKs until the total is reached.
 */
#ifndef IPC_MSG_H
#define IPC_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/chan.h"

#define MSG_CHUNK_MAX (CHAN_FRAME_MAX - 1024u) /* bytes in a head or CHUNK */
#define MSG_NAME_MAX 256u	  /* bytes: a step's or an artifact's name */
#define MSG_TEXT_MAX 8192u	  /* bytes: a log line, an error's text */
#define MSG_DETAILS_MAX 16384u	  /* bytes: an error's details, JSON text */
#define MSG_ERROR_CODE_MAX 64u	  /* bytes: [A-Z_], FAIL's error code */
#define MSG_BODY_MAX (1ull << 30) /* bytes: the claimed total of any body */
/* values in the JSON of a question's parameters */
#define MSG_ASK_VALUES_MAX 20000
#define MSG_ASK_MAX (1u << 20)	    /* bytes: CALL's or INPUT's parameters */
#define MSG_ANSWER_MAX (4u << 20)   /* bytes: ANSWER's value, or its error */
#define MSG_PRINTED_MAX (64u << 10) /* bytes: PRINTED of a stream, together */
#define MSG_SEQ_MAX UINT32_MAX	    /* the largest number of a CALL or INPUT */
#define MSG_KB_MAX UINT32_MAX	    /* KiB of memory: 4 TiB */
#define MSG_ASKS_MAX 64u	    /* CALLs and INPUTs unanswered at once */
#define MSG_BURST_S 4u		    /* seconds: see msg_cost() */
/* bytes of a question that count as a message */
#define MSG_ASK_PACE 1024u
#define MSG_RATE_MIN 100u /* bounds of a rate in messages a second */
#define MSG_RATE_MAX 1000000u
/* any integer: the most that JSON carries exactly */
#define MSG_INT_MAX (1ull << 53)
#define MSG_STEPS_MAX 1000000u /* steps in a run: their indexes are below */
#define MSG_PENDING_MAX 10000u /* steps that one STEP declares */

enum msg_type {
	/* messages of the supervisor */
	MSG_RUN = 1,
	MSG_CHUNK = 2, /* sent in either direction */
	MSG_ANSWER = 3,
	MSG_PREPARE = 4,
	MSG_STAY = 5,
	/* messages of the worker */
	MSG_READY = 16,
	MSG_PROGRESS = 17,
	MSG_STEP = 18,
	MSG_LOG = 19,
	MSG_ARTIFACT = 20,
	MSG_RESULT = 21,
	MSG_FAIL = 22,
	MSG_CALL = 23,
	MSG_INPUT = 24,
	MSG_DROP = 25,
	MSG_LOST = 26,
	MSG_WAITING = 27,
	MSG_USED = 28,
	MSG_KEPT = 29,
	MSG_PRINTED = 30,
};

/* Bytes borrowed from the frame or the caller; not NUL-ended. */
struct str {
	const char *p;
	size_t n;
};

enum msg_step_state {
	MSG_STEP_PENDING,
	MSG_STEP_RUNNING,
	MSG_STEP_SUCCEEDED,
	MSG_STEP_FAILED,
	MSG_STEP_SKIPPED,
	MSG_STEP_STATES
};

enum msg_result_kind {
	MSG_RESULT_VALUE, /* a plain JSON value: checked against
			     outputsSchema */
	/* {content?, structuredContent?, isError?}, or {error} */
	MSG_RESULT_REPLY,
	MSG_RESULT_KINDS
};

enum msg_input_kind {
	MSG_INPUT_ELICIT, /* a question to the user */
	MSG_INPUT_SAMPLE, /* a question to the client's model */
	MSG_INPUT_ROOTS,  /* a request for the client's roots */
	MSG_INPUT_KINDS
};

/* Why a template's artifact was lost. */
enum msg_lost_kind {
	MSG_LOST_REFUSED, /* refused by the last ANSWER of seq 0, with a
			     reason */
	MSG_LOST_LIMIT,	  /* over artifact_bytes, so never sent */
	MSG_LOST_UNFIT,	  /* a file that cannot be an artifact */
	MSG_LOST_NO_FILE, /* not a plain file: only plain files are kept */
	MSG_LOST_ROOM, /* ERRMSG is full ("memory", "files"): ends may be cut */
	MSG_LOST_KINDS
};

enum msg_printed_stream {
	MSG_PRINTED_STDOUT,
	MSG_PRINTED_STDERR,
	MSG_PRINTED_STREAMS
};

/* The messages of msg.def as structs; all integers are uint64_t. */
#define NUMBER(message, field, ...) uint64_t field;
#define NOT_0(message, field, ...) uint64_t field;
#define STRING(message, field, ...) struct str field;
#define MESSAGE(type, name, count, check, fields)                              \
	struct msg_##name {                                                    \
		fields                                                         \
	};
#include "ipc/msg.def"

struct msg {
	enum msg_type type;
	union {
#define NUMBER(...)
#define NOT_0(...)
#define STRING(...)
#define MESSAGE(type, name, ...) struct msg_##name name;
#include "ipc/msg.def"
	};
};

/*
 * Encode M into OUT (CHAN_FRAME_MAX bytes), without allocating; return the
 * length. A message of our own that does not fit fails an assertion. msg_put()
 * is async-signal-safe, since the SIGSYS handler of a worker sends FAIL.
 */
size_t msg_put(void *out, const struct msg *m);

/*
 * Decode LEN bytes at FRAME into M, whose strings borrow from FRAME. Nothing is
 * allocated for a mere claim of the frame. 0, or -EBADMSG and the offence in
 * *ERRMSG (a static text, for people): not msgpack, trailing bytes, too deep,
 * an unknown type, a wrong shape, a text that is not UTF-8 or has a NUL, a
 * value out of its bounds.
 */
int msg_get(struct msg *m, const void *frame, size_t len, const char **errmsg);

/*
 * Return the cost of M against a rate of RATE messages a second. A CHUNK costs
 * nothing, as its body is bounded; a question costs more by its size, a
 * second's worth at most. A sender may save up MSG_BURST_S seconds' worth.
 */
uint64_t msg_cost(const struct msg *m, uint64_t rate);

/* Set the total and the head of M, a message with a body. */
void msg_set_body(struct msg *m, uint64_t total, struct str head);

/*
 * May a reply's error have CODE? JSON-RPC keeps some codes for itself and for
 * MCP, and the server itself uses 429 for a client above its rate.
 */
bool msg_reply_code_ok(int64_t code);
#define MSG_REPLY_CODE_RULE                                                    \
	"-32603, or an integer of 32 bits that is neither 429 nor one from "   \
	"-32768 to -32000"

#endif
