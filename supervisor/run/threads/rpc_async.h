/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_async.h - parses large messages, and frees large trees, on a thread. Each
 * value of a tree takes up to 100 ns to make and as much to free, so that a
 * message of 16 MB would hold up the loop for 200 ms. A small message takes the
 * loop no longer than the way to a thread and back.
 */
#ifndef SUPERVISOR_THREADS_RPC_ASYNC_H
#define SUPERVISOR_THREADS_RPC_ASYNC_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

#include "proto/mcp/rpc.h"
#include "supervisor/requestor/memory.h"

/* a message of more bytes is large */
#define RPC_ASYNC_LARGE 65536
/*
 * A large response, of a batch as well, keeps its text as inputs, up to so many
 * bytes, for passing on.
 */
#define RPC_ASYNC_TEXT_MAX (1u << 20)

struct rpc_async;
struct thread_pool;
struct requestor;

static inline bool rpc_async_is_large(size_t len)
{
	return len > RPC_ASYNC_LARGE;
}

/*
 * Parse LEN bytes at TEXT, a small message, for Q, on the loop. The cost of the
 * tree is counted as Q's until rpc_async_free() gets M. Where Q keeps too much
 * already, M is BROKEN, and rpc_async_refusal() returns the details.
 */
void rpc_async_parse_now(struct requestor *q, struct rpc_msg *m,
			 const char *text, size_t len);
/*
 * Return the data of the error for a BROKEN M refused for memory; the caller
 * frees the data. NULL: M was refused for another reason.
 */
struct json_object *rpc_async_refusal(const struct rpc_msg *m);

/*
 * Does parsing LEN bytes at TEXT need a thread, for the length or for the
 * number of values? A message parsed on a thread counts as large from then on,
 * however few bytes came.
 */
bool rpc_async_takes_thread(const char *text, size_t len);

/*
 * Called with M, which the callee takes; M is BROKEN when the time was not
 * enough.
 */
typedef void (*rpc_async_done)(void *arg, struct rpc_msg *m);

/*
 * Parse LEN bytes at TEXT (taken) for Q; then DONE is called, on the loop.
 * NULL: Q has too many large messages under way, and TEXT has been freed.
 */
struct rpc_async *rpc_async_parse(struct thread_pool *o, struct requestor *q,
				  char *text, size_t len, rpc_async_done done,
				  void *arg);
/* Cancel IN: DONE is not called. NULL is fine. */
void rpc_async_cancel(struct rpc_async *in);

/* As rpc_fini(), for a caller that is on a thread with its own large M. */
void rpc_async_fini(struct requestor *q, struct rpc_msg *m);

/*
 * As rpc_fini(), on a thread for a large M, to which no other reference may
 * exist.
 */
void rpc_async_free(struct thread_pool *o, struct requestor *q,
		    struct rpc_msg *m);

/* Put TREE (NULL is fine), on a thread if there is one. */
void rpc_async_put(struct thread_pool *o, struct requestor *q,
		   struct json_object *tree);

/*
 * Put TREE, the inputs of M, which is Q's: from now on little of M is counted.
 */
void rpc_async_put_inputs(struct thread_pool *o, struct requestor *q,
			  struct rpc_msg *m, struct json_object *tree);

/* The message for a client when rpc_async_parse() returned NULL. */
#define RPC_ASYNC_FULL                                                          \
	"too many large messages of yours are being read; send this one again " \
	"when others have been answered"

#endif
