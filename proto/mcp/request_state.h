/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_state.h - what a client brings back when it repeats a call with the
 * answers that were asked for (MCP 2026-07-28, multi round-trip requests):
 * sealed, so that it is ours as it was or nothing; pure functions.
 *
 * It is no secret: whoever has it can read it. Where a run waits no more, or its
 * round is over, is for the caller to see: a seal tells nothing of replays.
 */
#ifndef PROTO_MCP_REQUEST_STATE_H
#define PROTO_MCP_REQUEST_STATE_H

#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

#define REQUEST_STATE_KEY 32   /* bytes, random */
#define REQUEST_STATE_CALL 32  /* bytes, of a call's digest */
#define REQUEST_STATE_SIZE 189 /* of its text, all of which are as long */

struct request_state {
	/* what it is bound to */
	const char *requestor; /* lent: the name */
	unsigned char call[REQUEST_STATE_CALL];
	/* what it says */
	char run[ID_SIZE];  /* "": of no run */
	uint32_t round;	    /* of questions */
	int64_t expires_ms; /* wall clock; good before it */
};

enum request_state_verdict {
	REQUEST_STATE_OK,
	REQUEST_STATE_MALFORMED, /* no text that is ever made here */
	REQUEST_STATE_FORGED,	 /* by another key, or changed */
	/* Only whoever has a seal of ours learns which of these it is. */
	REQUEST_STATE_OTHER_REQUESTOR,
	REQUEST_STATE_OTHER_CALL,
	REQUEST_STATE_EXPIRED,
	REQUEST_STATE_VERDICTS
};

/*
 * The digest of a call: of METHOD, of the tool, prompt or URI that is called
 * NAME, and of its ARGUMENTS (NULL: none), whatever the order of their members.
 */
void request_state_call(unsigned char out[REQUEST_STATE_CALL],
			const char *method, const char *name,
			struct json_object *arguments);

/* S as a text, with NUL, that fits into JSON as it stands. */
void request_state_seal(char out[REQUEST_STATE_SIZE],
			const unsigned char key[REQUEST_STATE_KEY],
			const struct request_state *s);

/*
 * Open TEXT, LEN bytes of a client's. S has the requestor and the call of the
 * request that brings it; only when all is well does it get what TEXT says.
 */
enum request_state_verdict
request_state_open(struct request_state *s,
		   const unsigned char key[REQUEST_STATE_KEY], const char *text,
		   size_t len, int64_t now_ms);

/* The sentence for the client; "" for REQUEST_STATE_OK. */
const char *request_state_text(enum request_state_verdict v);

#endif
