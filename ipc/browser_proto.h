/* SPDX-License-Identifier: Apache-2.0 */
/*
 * browser_proto.h - the supervisor's requests to paddock-browser.
 *
 * The frames are the frames of msg.h: the supervisor sends CALL and CHUNK, the
 * browser ANSWER and CHUNK; PROTOCOL.md, "paddock-browser", has the bodies. The
 * actions are a table, so calls are checked by the same rules that the
 * supervisor publishes.
 */
#ifndef IPC_BROWSER_PROTO_H
#define IPC_BROWSER_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BROWSER_PROTO_FD 3 /* paddock-browser's end, from exec on */
/* CALLs waiting at once; for more: BROWSER_BUSY */
#define BROWSER_PROTO_CALLS_MAX 256u
#define BROWSER_PROTO_TIMEOUT_MAX 900000 /* the most for a call's timeoutMs */
/* the most bytes of a requestor's name */
#define BROWSER_PROTO_REQUESTOR_MAX 256u
#define BROWSER_PROTO_SESSION "sess" /* ids of sessions: PREFIX_ and */
#define BROWSER_PROTO_TAB "tab"	     /* 26 characters, as in base/id.h */

enum browser_proto_type {
	BROWSER_PROTO_STRING,  /* a string of min to max bytes */
	BROWSER_PROTO_INTEGER, /* an integer from min to max */
	BROWSER_PROTO_BOOLEAN,
	BROWSER_PROTO_CHOICE, /* a word of values */
	BROWSER_PROTO_SESSION_ID,
	BROWSER_PROTO_TAB_ID,
};

struct browser_proto_arg {
	const char *name; /* the name; NULL ends a list */
	enum browser_proto_type type;
	bool required;
	int64_t min, max;
	int64_t value; /* default of an integer or boolean */
	bool has_value;
	const char *values; /* CHOICE: "png jpeg"; the first is the default */
	const char *about;  /* a text for people, in a tool's description */
};

struct browser_proto_action {
	const char *name;
	const char *title;
	const char *about;
	const struct browser_proto_arg *args;
	/*
	 * Members of a success: "name:type", with "!" when always there, and
	 * spaces.
	 */
	const char *result;
	bool read_only;	 /* changes nothing visible to a page or a server */
	bool runs_alone; /* clients may not call the action */
};

/* The actions, in the order of listing; a NULL name ends the table. */
extern const struct browser_proto_action browser_proto_actions[];

/* Return the action NAME, or NULL. */
const struct browser_proto_action *browser_proto_action(const char *name);
/* Return ACTION's argument NAME (LEN bytes), or NULL. */
const struct browser_proto_arg *
browser_proto_arg(const struct browser_proto_action *action, const char *name,
		  size_t len);

#endif
