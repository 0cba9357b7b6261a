/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_proto.h - what the supervisor may ask of paddock-browser.
 *
 * The frames are those of msg.h: CALL and CHUNK one way, ANSWER and CHUNK the
 * other; PROTOCOL.md, "The broker", says what the bodies hold. The actions
 * are a table, so that the broker checks by it what the supervisor publishes.
 */
#ifndef IPC_BROWSER_PROTO_H
#define IPC_BROWSER_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BROKER_FD 3	      /* the broker's end, from exec on */
#define BROKER_CALLS_MAX 256u /* CALLs that wait at once; more: BROWSER_BUSY   \
			       */
#define BROKER_TIMEOUT_MAX 900000 /* ms: a call's timeoutMs */
#define BROKER_REQUESTOR_MAX 256u /* bytes: a requestor's name */
#define BROKER_SESSION "sess"	  /* the prefixes of its ids: base/id.h's */
#define BROKER_TAB "tab"	  /* scheme, 26 characters after PREFIX_ */

enum broker_type {
	BROKER_STRING,	/* min to max bytes */
	BROKER_INTEGER, /* min to max */
	BROKER_BOOLEAN,
	BROKER_CHOICE, /* one of the words of values */
	BROKER_SESSION_ID,
	BROKER_TAB_ID,
};

struct broker_arg {
	const char *name; /* NULL ends a list */
	enum broker_type type;
	bool required;
	int64_t min, max;
	int64_t value; /* an integer's or boolean's default */
	bool has_value;
	const char *values; /* CHOICE: "png jpeg"; the first is the default */
	const char *about;  /* for people, and for a tool's description */
};

struct broker_action {
	const char *name;
	const char *title;
	const char *about;
	const struct broker_arg *args;
	/* What a success has: "name:type" and "!" when always, by spaces. */
	const char *result;
	bool read_only; /* changes nothing that a page or server can see */
};

/* All actions, in the order to list them; the last one's name is NULL. */
extern const struct broker_action broker_actions[];

/* The action called NAME, or NULL. */
const struct broker_action *broker_action(const char *name);
/* ACTION's argument called NAME (LEN bytes), or NULL. */
const struct broker_arg *broker_arg(const struct broker_action *action,
				    const char *name, size_t len);

#endif
