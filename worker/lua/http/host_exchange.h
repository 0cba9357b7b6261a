/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_exchange.h - one request and its answer on the stream to paddock-egress. Exchanges
 * come one after another. An exchange whose caller has left goes on to the end, since the
 * stream has no other way to the next exchange.
 */
#ifndef WORKER_LUA_HTTP_HOST_EXCHANGE_H
#define WORKER_LUA_HTTP_HOST_EXCHANGE_H

#include <stdbool.h>

#include "worker/lua/http/http_answer.h"

bool host_exchange_is_free(void); /* may an exchange begin, or never? */

/* Begin. REQUEST stays in place until the next exchange begins. */
void host_exchange_begin(struct str request, bool to_head);

/* Read and write as far as possible without waiting. */
void host_exchange_go_on(void);

/* The events for wait_until_told(). */
short host_exchange_events(void);

/* Is the answer whole, or the stream at its end? */
bool host_exchange_is_over(void);

/*
 * After the end: the answer, or NULL: the stream has ended. BODY.p NULL: not enough
 * memory. Answer and body are lent until host_exchange_leave().
 */
const struct http_answer *host_exchange_answer(struct str *body);

/* The caller has read the answer, or does not wait for the answer. */
void host_exchange_leave(void);

#endif
