/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdp_parse.h - messages from Chromium's debugging pipe: JSON, each ended by a
 * NUL. Pure; the same bytes give the same messages however they are cut. Pages
 * control parts of them.
 */
#ifndef BROWSER_CDP_CDP_PARSE_H
#define BROWSER_CDP_CDP_PARSE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define CDP_MESSAGE_MAX (16u << 20) /* bytes; a longer one is lost */

/* All-zero but for max: nothing has come. */
struct cdp_parse {
	struct buf got; /* what came is added here */
	size_t max;	/* bytes of a message */
	size_t scanned; /* of got, without a NUL */
	bool dropping;	/* skipping the rest of one that is too long */
};

/* Borrows from tree, which the caller puts. */
struct cdp_message {
	struct json_object *tree; /* NULL: LOST bytes that are no message */
	size_t lost;
	const char *method;  /* of an event; NULL: it is an answer */
	const char *session; /* the target's; NULL: the browser's */
	struct json_object *params;
	uint32_t id; /* an answer's; 0: that of no call */
	struct json_object *result;
	const char *error; /* for people, when there is no result */
};

/* The next message; false: it is not complete yet. */
bool cdp_parse_next(struct cdp_parse *p, struct cdp_message *m);
void cdp_parse_fini(struct cdp_parse *p);

#endif
