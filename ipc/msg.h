/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.h - the messages of a run, one msgpack array a frame.
 *
 * ipc/PROTOCOL.md is the schema: fields, bounds, legal states; msg.def has the
 * fields and bounds for the compiler. Here each message is a struct, with one
 * msg_put() to encode and one msg_get() to decode any. Whatever is decoded is a claim: types, lengths, ranges and
 * UTF-8 are checked here, meaning (order, totals, rates) by the receiver.
 *
 * A body (code and inputs, an artifact, a result, a question's parameters,
 * an answer) is a total and a head, then CHUNKs until the total is reached.
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
#define MSG_BODY_MAX (1ull << 30) /* bytes: any body's claimed total */
#define MSG_ASK_VALUES_MAX 20000  /* in the JSON of that */
#define MSG_ASK_MAX (1u << 20)	  /* bytes: CALL's or INPUT's parameters */
#define MSG_ANSWER_MAX (4u << 20) /* bytes: ANSWER's value, or its error */
#define MSG_SEQ_MAX UINT32_MAX	  /* CALL's or INPUT's number */
#define MSG_KB_MAX UINT32_MAX	  /* of memory: 4 TiB */
#define MSG_ASKS_MAX 64u	  /* CALLs and INPUTs that wait at once */
#define MSG_BURST_S 4u		  /* seconds: see msg_cost() */
#define MSG_ASK_PACE 1024u	  /* bytes of them that pass for a message */
#define MSG_RATE_MIN 100u	  /* messages a second */
#define MSG_RATE_MAX 1000000u
#define MSG_INT_MAX (1ull << 53) /* any integer: what JSON carries exactly */
#define MSG_STEPS_MAX 1000000u	 /* steps in a run: their indexes are below */
#define MSG_PENDING_MAX 10000u	 /* steps that one STEP declares */

enum msg_type {
	/* supervisor to worker */
	MSG_RUN = 1,
	MSG_CHUNK = 2, /* both ways */
	MSG_ANSWER = 3,
	MSG_PREPARE = 4,
	/* worker to supervisor */
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
};

/* A borrowed piece of the frame, or of the caller's memory; not NUL-ended. */
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
	MSG_RESULT_VALUE, /* a plain JSON value: checked against outputsSchema */
	/* {content?, structuredContent?, isError?}, or {error} */
	MSG_RESULT_REPLY,
	MSG_RESULT_KINDS
};

enum msg_input_kind {
	MSG_INPUT_ELICIT, /* of the user */
	MSG_INPUT_SAMPLE, /* of the client's model */
	MSG_INPUT_ROOTS,  /* of the client: its roots */
	MSG_INPUT_KINDS
};

/* Why what a template made is no artifact. */
enum msg_lost_kind {
	MSG_LOST_REFUSED, /* by the last ANSWER of seq 0, which said why */
	MSG_LOST_LIMIT,	  /* artifact_bytes, so it was not sent */
	MSG_LOST_UNFIT,	  /* a file that cannot be one */
	MSG_LOST_NO_FILE, /* not a plain file, which none is kept of */
	MSG_LOST_ROOM, /* ERRMSG is full ("memory", "files"): ends may be cut */
	MSG_LOST_KINDS
};

/* Each message of msg.def as a struct, all integers of one width. */
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
 * Encode M into OUT (CHAN_FRAME_MAX bytes), without allocating. The length;
 * a message that does not fit is our own fault and asserts. msg_put() is
 * async-signal-safe, since the SIGSYS handler of a worker sends FAIL.
 */
size_t msg_put(void *out, const struct msg *m);

/*
 * Decode LEN bytes at FRAME into M, whose strings borrow from FRAME. Nothing
 * is allocated for what the frame merely claims. 0, or -EBADMSG and the
 * offence in *ERRMSG (a static text, for people): not msgpack, trailing bytes,
 * too deep, an unknown type, a wrong shape, a text that is not UTF-8 or has
 * a NUL, a value out of its bounds.
 */
int msg_get(struct msg *m, const void *frame, size_t len, const char **errmsg);

/*
 * What M takes from a rate of RATE messages a second: a CHUNK nothing, as its
 * body has a bound; a question counts by its size too, for a second's worth at
 * the most. Of what a sender has not used MSG_BURST_S seconds' worth is kept.
 */
uint64_t msg_cost(const struct msg *m, uint64_t rate);

/* M has a body, but no total and head yet: sets them. */
void msg_set_body(struct msg *m, uint64_t total, struct str head);

/*
 * May a reply's error have CODE? JSON-RPC keeps some for itself and for MCP, and
 * by 429 the server says that a client asks too often.
 */
bool msg_reply_code_ok(int64_t code);
#define MSG_REPLY_CODE_RULE                                                    \
	"-32603, or an integer of 32 bits that is neither 429 nor one from "   \
	"-32768 to -32000"

#endif
