/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_elsewhere.h - requests of ours to a client of a session that several machines
 * have: its answer may come to another than the one that asked, which forwards it.
 */
#ifndef SUPERVISOR_SESSION_CLIENT_ELSEWHERE_H
#define SUPERVISOR_SESSION_CLIENT_ELSEWHERE_H

#include "supervisor/session/session.h"
#include "supervisor/store/store.h"

/*
 * The id of the next request to S's client, as JSON text. Of one that other machines may
 * have, it says which machine asks, so that no two ask by the same one.
 */
void client_elsewhere_name(char *out, size_t size, struct session *s);

/* M, a response that nobody here waits for, goes to whoever asked for it, if any. */
void client_elsewhere_forward(struct session *s, const struct rpc_msg *m);

/*
 * What LETTER says: of such a response, which came to another machine, its text, and to
 * KEY of which session of its requestor's; of any other letter all, and "".
 */
const char *client_elsewhere_open(char key[SESSION_KEY_SIZE],
				  const struct store_letter *letter);
/* Has that session of Q's asked its client anything? */
bool client_elsewhere_awaits(const struct context *ctx,
			     const struct requestor *q, const char *key);
/* M is such a message: what it leaves of it is the caller's. */
void client_elsewhere_hear(const struct context *ctx, const struct requestor *q,
			   const char *key, struct rpc_msg *m);

#endif
