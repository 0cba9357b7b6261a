/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - what a client sends: each request to its method, each answer to
 * who asked for it, a batch a part at a time.
 */
#ifndef SUPERVISOR_SESSION_DISPATCH_H
#define SUPERVISOR_SESSION_DISPATCH_H

#include "supervisor/session/request.h"

struct method {
	const char *name;
	/* Serve C: it is answered now or later. */
	void (*serve)(struct request *c);
	enum mcp_feature needs; /* a client without it finds no such method */
	bool early;		/* also before initialize */
	bool slow; /* the answer may take long, and say things meanwhile */
};

/* What methods.c has for sessions and their transports: context.methods. */
struct methods {
	const struct method *all; /* the last has no name */
	/* The URIs that S is subscribed to, BYTES at most; the caller's… */
	struct json_object *(*subscriptions)(const struct session *s,
					     size_t bytes);
	/* …and S, which has none, has those of URIS (lent) again. */
	void (*resubscribe)(struct session *s, struct json_object *uris);
};

/* Is NAME a method that REV has, and slow? */
bool method_is_slow(const struct context *ctx, const char *name,
		    enum mcp_revision rev);

/*
 * M, one message or a batch, came by STREAM; it is emptied. True: STREAM gets an
 * answer, now or later; false: nothing in M wants one.
 */
bool session_take(struct session *s, void *stream, struct rpc_msg *m);

#endif
