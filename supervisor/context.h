/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - shared by the components of one instance: pointers to each other,
 * and the activity of the instance. server.c fills the context before anything
 * is served and owns the parts; a file that includes context.h includes the
 * headers of the parts used there.
 */
#ifndef SUPERVISOR_CONTEXT_H
#define SUPERVISOR_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct browser;
struct catalogue;
struct cluster;
struct config;
struct egress;
struct spawner;
struct remote_run_lookup;
struct event_base;
struct interpreters;
struct json_object;
struct isolation;
struct methods;
struct thread_pool;
struct reload;
struct requestor;
struct requestors;
struct residents;
struct runs;
struct sessions;
struct store;
struct warm;
struct fair_queue_flow;
struct fair_queue;

struct context {
	struct event_base *base;
	const struct config *config; /* replaced by a reload */
	struct catalogue *catalogue; /* replaced by a reload */
	struct requestors *requestors;
	struct requestor *local; /* the user who started the server */
	struct isolation *isolation;
	struct spawner *spawner;
	struct warm *warm;	     /* NULL: no worker waits for a run */
	struct residents *residents; /* programs that stay between runs */
	struct interpreters *interpreters;
	struct thread_pool *thread_pool;
	struct egress *egress;
	struct browser *browser;
	/* Return why paddock-browser does not work, or NULL. */
	const char *(*browser_trouble)(const struct browser *b);
	struct store *store;
	/* the functions of a server that shares its database; NULL: alone */
	const struct cluster *cluster;
	struct runs *runs;
	struct sessions *sessions;
	const struct methods *methods;
	struct fair_queue *turns; /* turns for the messages of all clients */
	/* turns for the server's own work, done in pieces */
	struct fair_queue_flow *chores;
	struct remote_run_lookup *looks; /* lookups of remote runs */
	size_t uploads;			 /* uploads under way */
	size_t downloads;		 /* artifacts being sent */
	/* requests of the server to clients, under way */
	size_t client_requests;
	/* requests waiting for the store or another instance */
	size_t lookups;
	/* the instance's id; new after other servers took the instance for
	   dead */
	const char *instance;
	int64_t started_ms; /* start of the instance, by the wall clock */
	bool others;	    /* serves every local user, not LOCAL alone */
	/* ends soon: runs that wait at other servers are left waiting */
	bool passing;
	bool with_client; /* serves a client on stdin, and ends with it */
	bool measured;	  /* the cages of all loaded templates are measured */
	bool opened;	  /* the store has answered, with any result */
	bool quiet;    /* runs are accepted and queued, but none is started */
	bool draining; /* runs are not accepted: this instance is ending */
	/* after the loop: until when clients may still read */
	int64_t flush_until_ms;
	/*
	 * Read configuration and templates again. TOLD (NULL: no callback) gets
	 * the report (lent; supervisor/start/reload_report.c), or NULL: the
	 * server ends first.
	 */
	void (*reload_ask)(struct reload *r,
			   void (*told)(void *arg, struct json_object *report),
			   void *arg);
	struct reload *reload;
	/* End the loop, and then the process with EXIT_STATUS. */
	void (*stop)(struct context *ctx, int exit_status);
};

#endif
