/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - what the components of one instance share: pointers to each other,
 * and what the instance is doing. server.c fills it before anything is served
 * and owns all that it points to; who includes it includes the headers of what
 * it uses.
 */
#ifndef SUPERVISOR_CONTEXT_H
#define SUPERVISOR_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct browser;
struct catalogue;
struct config;
struct spawner;
struct remote_run_lookup;
struct event_base;
struct input_letters;
struct interpreters;
struct isolation;
struct methods;
struct thread_pool;
struct requestor;
struct requestors;
struct runs;
struct sessions;
struct store;
struct warm;
struct fair_queue_flow;
struct fair_queue;

struct context {
	struct event_base *base;
	const struct config *config; /* another one after a reload */
	struct catalogue *catalogue; /* likewise */
	struct requestors *requestors;
	struct requestor *local; /* one of them: the user who started us */
	struct isolation *isolation;
	struct spawner *spawner;
	struct warm *warm; /* NULL: no worker waits for a run */
	struct interpreters *interpreters;
	struct thread_pool *thread_pool;
	struct browser *browser;
	struct store *store;
	struct runs *runs;
	struct sessions *sessions;
	const struct methods *methods;
	struct fair_queue *turns; /* of all clients' messages */
	/* of nobody's: what is done in pieces */
	struct fair_queue_flow *chores;
	struct remote_run_lookup *looks; /* at runs of other instances */
	struct input_letters *letters;	 /* of clients at other machines */
	size_t uploads;			 /* that are under way */
	size_t client_requests;		 /* of ours to clients, likewise */
	/* its id: another one once it was taken for dead */
	const char *instance;
	int64_t started_ms; /* of the wall clock */
	bool others;	    /* it serves every local user, not LOCAL alone */
	bool passing; /* it ends soon: what waited elsewhere is left waiting */
	bool with_client; /* it serves one on stdin, and ends when that goes */
	bool measured;	  /* it is known how well all that can run is caged */
	bool opened;	  /* the store has answered, whatever it said */
	bool quiet;    /* runs are accepted and queued, but none is started */
	bool draining; /* nor accepted: this instance is ending */
	int64_t flush_until_ms; /* the loop has ended: for clients to read */
	/* End the loop, and then the process with EXIT_STATUS. */
	void (*stop)(struct context *ctx, int exit_status);
};

#endif
