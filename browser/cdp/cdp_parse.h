/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cdp_parse.h - messages from Chromium's debugging pipe: JSON, each ended by a
 * NUL. Pure; the same bytes give the same messages however cut. Pages control
 * parts of the messages.
 */
#ifndef BROWSER_CDP_CDP_PARSE_H
#define BROWSER_CDP_CDP_PARSE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define CDP_MESSAGE_MAX (16u << 20) /* bytes; a longer message is lost */

/* Zeroed but for max: nothing has come. */
struct cdp_parse {
	struct buf got; /* input is appended here; buf_fini() frees all */
	size_t max;	/* most bytes of a message */
	size_t scanned; /* bytes of got known to have no NUL */
	bool dropping;	/* skipping the rest of a long message */
};

/* A message; its members borrow from tree, which the caller puts. */
struct cdp_message {
	struct json_object *tree; /* NULL: LOST bytes that are no message */
	size_t lost;
	const char *method;  /* name of an event; NULL: an answer */
	const char *session; /* the target's; NULL: the browser's */
	struct json_object *params;
	uint32_t id; /* id of the answered call; 0: of no call */
	struct json_object *result;
	const char *error; /* the failure, for people, when there is no
			      result */
};

/* Take the next message into M; false: none is complete. */
bool cdp_parse_next(struct cdp_parse *p, struct cdp_message *m);

#endif
