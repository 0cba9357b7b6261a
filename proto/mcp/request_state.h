/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_state.h - the text that a client brings back when it repeats a call
 * with answers (MCP 2026-07-28, multi round-trip requests). The text is sealed:
 * a change is detected. Pure functions.
 *
 * The text is no secret: any holder can read it. A seal does not stop replays:
 * the caller checks whether the run still waits and the round is still open.
 */
#ifndef PROTO_MCP_REQUEST_STATE_H
#define PROTO_MCP_REQUEST_STATE_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

#define REQUEST_STATE_KEY 32  /* random bytes */
#define REQUEST_STATE_CALL 32 /* bytes of a call's digest */
/* bytes of a sealed text, with NUL; all texts have this length */
#define REQUEST_STATE_SIZE 189

struct request_state {
	/* values that the text is bound to: */
	const char *requestor; /* the requestor's name, lent */
	unsigned char call[REQUEST_STATE_CALL];
	/* values that the text carries: */
	char run[ID_SIZE];  /* the run's id; "": no run */
	uint32_t round;	    /* number of the round of questions */
	int64_t expires_ms; /* wall clock; the text expires then */
};

enum request_state_verdict {
	REQUEST_STATE_OK,
	REQUEST_STATE_MALFORMED, /* not a text of this server's form */
	REQUEST_STATE_FORGED,	 /* sealed by another key, or changed */
	/* Only a text with a good seal gets one of these verdicts. */
	REQUEST_STATE_OTHER_REQUESTOR,
	REQUEST_STATE_OTHER_CALL,
	REQUEST_STATE_EXPIRED,
	REQUEST_STATE_VERDICTS
};

/*
 * Digest a call: METHOD, NAME (of the tool, prompt or URI) and ARGUMENTS (NULL:
 * none), independent of the order of their members.
 */
void request_state_call(unsigned char out[REQUEST_STATE_CALL],
			const char *method, const char *name,
			struct json_object *arguments);

/* Write S as a sealed text with NUL, which needs no escape in JSON. */
void request_state_seal(char out[REQUEST_STATE_SIZE],
			const unsigned char key[REQUEST_STATE_KEY],
			const struct request_state *s);

/*
 * Open TEXT, LEN bytes from a client. S has the requestor and the call of the
 * request with TEXT; S gets the data of TEXT only when the verdict is OK.
 */
enum request_state_verdict
request_state_open(struct request_state *s,
		   const unsigned char key[REQUEST_STATE_KEY], const char *text,
		   size_t len, int64_t now_ms);

/* Return the sentence for the client; "" for REQUEST_STATE_OK. */
const char *request_state_text(enum request_state_verdict v);

#endif
