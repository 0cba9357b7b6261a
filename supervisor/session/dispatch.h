/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - passes each request of a client to its method, each response to
 * the asker, and a batch a part at a time.
 */
#ifndef SUPERVISOR_SESSION_DISPATCH_H
#define SUPERVISOR_SESSION_DISPATCH_H

#include "supervisor/session/request.h"

struct method {
	const char *name;
	/* Serve REQ: answer now or later. */
	void (*serve)(struct request *req);
	/* clients without the feature do not find the method */
	enum mcp_feature needs;
	bool early; /* served before initialize as well */
	bool slow;  /* the answer may take long, with messages before it */
};

/*
 * The functions and methods of methods.c for sessions and transports:
 * context.methods.
 */
struct methods {
	const struct method *all; /* the last has no name */
	/*
	 * Return the URIs to which S is subscribed, BYTES at most; the
	 * caller's.
	 */
	struct json_object *(*subscriptions)(const struct session *s,
					     size_t bytes);
	/* Subscribe S, without subscriptions yet, to URIS (*lent*). */
	void (*resubscribe)(struct session *s, struct json_object *uris);
};

/* Has REV a method NAME which is slow? */
bool method_is_slow(const struct context *ctx, const char *name,
		    enum mcp_revision rev);

/*
 * Take M, a message or a batch which came by STREAM; M is emptied. True: STREAM
 * gets an answer, now or later; false: no part of M wants an answer.
 */
bool session_take(struct session *s, void *stream, struct rpc_msg *m);

#endif
