/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - the functions that exist because several machines may share a database:
 * a table, which supervisor/cluster/ fills and the rest of the supervisor calls by
 * ctx->cluster. On one machine the pointer is NULL, and no function is called.
 */
#ifndef SUPERVISOR_EXEC_CLUSTER_H
#define SUPERVISOR_EXEC_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_ANSWERS_MAX (256u << 10) /* bytes of answers in a message */
#define CLUSTER_NO_WAITER ""		 /* no client waits at another server */

struct client_terms;
struct context;
struct input_request;
struct json_object;
struct proxied_request;
struct request;
struct requestor;
struct rpc_msg;
struct run;
struct runs;
struct session;
struct store_message;
struct store_result;
struct store_run;
struct template;

struct cluster {
	/* Make the state in RUNS; first, when RUNS are made. */
	void (*init)(struct runs *s);
	/* The first request to the store has begun: take part in the cluster. */
	void (*open)(struct runs *s);
	/* Free the state in RUNS, of which no run is left. */
	void (*fini)(struct runs *s);

	/* Has this server the lease, by which runs begin and go on? */
	bool (*has_lease)(const struct runs *s);
	/*
	 * May a new run with the idempotency KEY (NULL: no key) start at once? Else the
	 * run has to be in the shared queue first.
	 */
	bool (*may_start)(const struct runs *s, const char *key);
	/* May another server run what this server cannot? */
	bool (*has_others)(const struct runs *s);
	/* Put the new run R, which waits here, into the shared queue by R's first row. */
	void (*set_aside)(struct runs *s, struct run *r);
	/* Leave R to other servers: R's next row puts R into the shared queue. */
	void (*leave)(struct runs *s, struct run *r);
	/* R's first row is written, by the result RC. False: R is no more. */
	bool (*queued)(struct runs *s, struct run *r, int rc);
	/* Look soon: runs may have come to the shared queue, or may start again. */
	void (*wake)(struct runs *s);
	/* Claim the next runs of the shared queue, as far as there is room. */
	void (*claim)(struct runs *s);
	/* Tell other servers what this server runs, after a reload. */
	void (*serve)(struct runs *s);
	/* The server ends soon: leave all runs that wait to other servers. */
	void (*hand_over)(struct runs *s);

	/*
	 * Did R, whose worker is gone, end with the lease? Then R stays open until it is
	 * known whether another server has R.
	 */
	bool (*keeps)(struct runs *s, struct run *r);
	/* The store refused R's end, for R is another server's: follow R's row. */
	void (*disowned)(struct runs *s, struct run *r);
	/* Ask the server that has R, or the shared queue, to cancel R. */
	int (*cancel)(struct runs *s, struct run *r);
	/*
	 * Return the run of ROW, which another server has, for a watcher that is added
	 * at once. The run's template is T, of which a reference is kept. NULL: the run
	 * has come here since, or has ended. The result is *lent*.
	 */
	struct run *(*visit)(struct runs *s, struct requestor *requestor,
			     struct template *t, const struct store_run *row);
	/* Return the number of remote runs for which no client here waits. */
	size_t (*unwatched)(const struct runs *s);

	/* The message L says what another server did with R (NULL: an unknown run). */
	void (*message)(struct runs *s, struct run *r,
			const struct store_message *l);
	/* The message L asks for the end of a resident of this server. */
	void (*end_asked)(struct runs *s, const struct store_message *l);
	/* All messages of other servers have been read and followed. */
	void (*messages_read)(struct runs *s);

	/* ---- clients at other servers, for runs of this server ---- */

	/*
	 * May answers of clients at other servers be read? Not before the earlier
	 * answers are heard; then mail is read once more.
	 */
	bool (*wants_answers)(struct context *ctx);
	/* Hear the answers in RES, a result of store_read_mail(). */
	void (*answers)(struct context *ctx, const struct store_result *res);
	/* Return R's questions for clients of other servers: JSON, the caller's; or NULL. */
	char *(*shown_questions)(const struct run *r);
	/*
	 * NULL: a client that waits at another server can be asked Q of R. Else the
	 * capability that those clients lack, or CLUSTER_NO_WAITER.
	 */
	const char *(*missing)(const struct run *r,
			       const struct input_request *q);
	/* Does a client wait at another server that can take along a question of R? */
	bool (*may_ask)(const struct run *r);
	/* Give R's questions to the client that has waited longest. False: none waits. */
	bool (*ask)(struct context *ctx, struct run *r);

	/* ---- clients at this server, for runs of other servers ---- */

	/*
	 * Let REQ, which watches the remote run R, wait at R's server as well, and give
	 * that server ANSWERS (lent, or NULL) to the questions of R with the number
	 * ROUND. R's server answers later, by asked_abroad() or not_heard() of REQ's
	 * ops. The result is the caller's; NULL: the answers are larger than
	 * CLUSTER_ANSWERS_MAX.
	 */
	struct proxied_request *(*wait)(struct request *req, struct run *r,
					uint32_t round,
					struct json_object *answers);
	/*
	 * Free P: the request waits no more. With CANCEL the run ends, unless another
	 * client waits for it. NULL is fine.
	 */
	void (*wait_over)(struct proxied_request *p, bool cancel);
	/* As input_requests(), for ROW's run, of another server. */
	struct json_object *(*questions)(const struct store_run *row,
					 const struct client_terms *t);
	/*
	 * Send ANSWERS (lent; the answers of REQ by their keys) to the server of run ID. REQ
	 * is held until the call of THEN: RC 0 once the message is durable, or -errno:
	 * -E2BIG over CLUSTER_ANSWERS_MAX, -ENOBUFS when too much of REQ's requestor is on
	 * its way.
	 */
	void (*answer)(struct request *req, const char *id,
		       struct json_object *answers,
		       void (*then)(struct request *req, int rc));

	/*
	 * Give an answer to the question KEY of R, a called run at another server: TEXT is
	 * JSON, an MCP result or (OK false) an error. R's server hears the answer later; a
	 * lost answer is as none.
	 */
	void (*reply)(struct context *ctx, const struct run *r, const char *key,
		      bool ok, const char *text, size_t len);

	/* ---- residents of other servers ---- */

	/*
	 * Answer REQ with {residents}: LIST (taken) and those of Q (NULL: of all
	 * requestors) at other servers, each with the node if NODES.
	 */
	void (*list_residents)(struct request *req, const struct requestor *q,
			       bool nodes, struct json_object *list);
	/*
	 * End the resident NAME of Q (or of nobody, NULL) and of template ID at another
	 * server. REQ is held until the call of THEN: 0, -ENOENT, -EBUSY, or -ETIMEDOUT:
	 * the server did not answer.
	 */
	void (*end_resident)(struct request *req, const struct requestor *q,
			     const char *id, const char *name,
			     void (*then)(struct request *req, int rc,
					  const char *id, const char *name));

	/* ---- sessions that several servers have ---- */

	/*
	 * Write to OUT the id of request N to S's client, as JSON text, by which each
	 * server knows the asking server. False: no other server may have S.
	 */
	bool (*name_request)(char *out, size_t size, const struct session *s,
			     uint64_t n);
	/*
	 * Forward the response M, which no request here awaits, to the server which
	 * asked, if any.
	 */
	void (*forward)(struct session *s, const struct rpc_msg *m);
};

#endif
