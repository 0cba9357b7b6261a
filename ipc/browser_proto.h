/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_proto.h - what the supervisor may ask of paddock-browser.
 *
 * The frames are those of msg.h: CALL and CHUNK one way, ANSWER and CHUNK the
 * other; PROTOCOL.md, "paddock-browser", has the bodies. The actions are a
 * table, so that calls are checked by what the supervisor publishes.
 */
#ifndef IPC_BROWSER_PROTO_H
#define IPC_BROWSER_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BROWSER_PROTO_FD 3 /* paddock-browser's end, from exec on */
/* CALLs that wait at once; more: BROWSER_BUSY */
#define BROWSER_PROTO_CALLS_MAX 256u
#define BROWSER_PROTO_TIMEOUT_MAX 900000 /* ms: a call's timeoutMs */
#define BROWSER_PROTO_REQUESTOR_MAX 256u /* bytes: a requestor's name */
#define BROWSER_PROTO_SESSION "sess" /* the prefixes of its ids: base/id.h's */
#define BROWSER_PROTO_TAB "tab"	     /* scheme, 26 characters after PREFIX_ */

enum browser_proto_type {
	BROWSER_PROTO_STRING,  /* min to max bytes */
	BROWSER_PROTO_INTEGER, /* min to max */
	BROWSER_PROTO_BOOLEAN,
	BROWSER_PROTO_CHOICE, /* one of the words of values */
	BROWSER_PROTO_SESSION_ID,
	BROWSER_PROTO_TAB_ID,
};

struct browser_proto_arg {
	const char *name; /* NULL ends a list */
	enum browser_proto_type type;
	bool required;
	int64_t min, max;
	int64_t value; /* an integer's or boolean's default */
	bool has_value;
	const char *values; /* CHOICE: "png jpeg"; the first is the default */
	const char *about;  /* for people, and for a tool's description */
};

struct browser_proto_action {
	const char *name;
	const char *title;
	const char *about;
	const struct browser_proto_arg *args;
	/* What a success has: "name:type" and "!" when always, by spaces. */
	const char *result;
	bool read_only;	 /* changes nothing that a page or server can see */
	bool runs_alone; /* no client may call it */
};

/* All actions, in the order to list them; the last one's name is NULL. */
extern const struct browser_proto_action browser_proto_actions[];

/* The action called NAME, or NULL. */
const struct browser_proto_action *browser_proto_action(const char *name);
/* ACTION's argument called NAME (LEN bytes), or NULL. */
const struct browser_proto_arg *
browser_proto_arg(const struct browser_proto_action *action, const char *name,
		  size_t len);

#endif
