/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_elsewhere.h - the server's requests to a client whose session several
 * servers have: the response may come to another server, which forwards it to
 * the server which asked.
 */
#ifndef SUPERVISOR_SESSION_CLIENT_ELSEWHERE_H
#define SUPERVISOR_SESSION_CLIENT_ELSEWHERE_H

#include "supervisor/session/session.h"
#include "supervisor/store/store.h"

/*
 * Write the id of the next request to S's client, as JSON text. If other
 * servers may have S, the id names this instance, so that no two servers use
 * the same id.
 */
void client_elsewhere_name(char *out, size_t size, struct session *s);

/*
 * Forward the response M, which no request here awaits, to the server which
 * asked, if any.
 */
void client_elsewhere_forward(struct session *s, const struct rpc_msg *m);

/*
 * Read LETTER. For a forwarded response: return its text and write to KEY the
 * session of the requestor; for any other letter: return the whole text and
 * write "".
 */
const char *client_elsewhere_open(char key[SESSION_KEY_SIZE],
				  const struct store_letter *letter);
/* Does session KEY of Q await a response of its client? */
bool client_elsewhere_awaits(const struct context *ctx,
			     const struct requestor *q, const char *key);
/*
 * Take M, a forwarded response for session KEY of Q. The caller frees what is
 * left of M.
 */
void client_elsewhere_hear(const struct context *ctx, const struct requestor *q,
			   const char *key, struct rpc_msg *m);

#endif
