/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_async.h - large messages: to trees, and trees to nothing, on a thread. A
 * tree costs up to 100 ns for each value to make and as much to let go, so
 * that a message of 16 MB is away for 200 ms; small ones take the loop as long
 * as the way to a thread and back.
 */
#ifndef SUPERVISOR_THREADS_RPC_ASYNC_H
#define SUPERVISOR_THREADS_RPC_ASYNC_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/mcp/rpc.h"

#define RPC_ASYNC_LARGE 65536 /* bytes of a message; above it, it is large */
/* A large response, of a batch as well, has its text as inputs, up to so many bytes: for
   who passes it on. */
#define RPC_ASYNC_TEXT_MAX (1u << 20)

struct rpc_async;
struct thread_pool;
struct requestor;

static inline bool rpc_async_is_large(size_t len)
{
	return len > RPC_ASYNC_LARGE;
}

/* M is the callee's; it is BROKEN when the time was not enough. */
typedef void (*rpc_async_done)(void *arg, struct rpc_msg *m);

/*
 * Parse LEN bytes at TEXT, which is taken, for Q; then DONE is called, on the
 * loop. NULL: Q has too much of that under way, and TEXT has been freed.
 */
struct rpc_async *rpc_async_parse(struct thread_pool *o, struct requestor *q,
				  char *text, size_t len, rpc_async_done done,
				  void *arg);
/* Nobody waits for it any more. NULL is fine. */
void rpc_async_cancel(struct rpc_async *in);

/* As rpc_fini(), for who has a large M on a thread of its own already. */
void rpc_async_fini(struct rpc_msg *m);

/* As rpc_fini(); nobody else has a reference to a part of a large one. */
void rpc_async_free(struct thread_pool *o, struct requestor *q,
		    struct rpc_msg *m);

/* The same for a TREE (NULL is fine): put, on a thread if there is one. */
void rpc_async_put(struct thread_pool *o, struct requestor *q,
		   struct json_object *tree);

/* For who is told NULL by rpc_async_parse(). */
#define RPC_ASYNC_FULL                                                          \
	"too many large messages of yours are being read; send this one again " \
	"when others have been answered"

#endif
