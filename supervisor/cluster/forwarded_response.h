/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forwarded_response.h - the server's requests to a client with a session of several
 * servers: the response may come to another server, and is forwarded to the server which
 * asked.
 */
#ifndef SUPERVISOR_CLUSTER_FORWARDED_RESPONSE_H
#define SUPERVISOR_CLUSTER_FORWARDED_RESPONSE_H

#include "supervisor/session/session.h"
#include "supervisor/store/store.h"

/* For the table: see supervisor/run/exec/cluster.h. */
bool forwarded_response_name(char *out, size_t size, const struct session *s,
			     uint64_t n);
void forwarded_response_forward(struct session *s, const struct rpc_msg *m);

/*
 * Read MESSAGE. For a forwarded response: return its text and write to KEY the
 * session of the requestor; for any other message: return the whole text and
 * write "".
 */
const char *forwarded_response_open(char key[SESSION_KEY_SIZE],
				    const struct store_message *message);
/* Does session KEY of Q await a response of its client? */
bool forwarded_response_awaits(const struct context *ctx,
			       const struct requestor *q, const char *key);
/*
 * Take M, a forwarded response for session KEY of Q. The caller frees what is
 * left of M.
 */
void forwarded_response_hear(const struct context *ctx,
			     const struct requestor *q, const char *key,
			     struct rpc_msg *m);

#endif
