/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - one instance: who owns what, and the order of start and stop.
 */
#ifndef SUPERVISOR_SERVER_H
#define SUPERVISOR_SERVER_H

#include <event2/event.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "supervisor/templates/catalogue.h"
#include "supervisor/config/config.h"
#include "supervisor/spawn/spawner.h"
#include "supervisor/spawn/isolation.h"
#include "supervisor/threads/thread_pool.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/exec/runs.h"
#include "supervisor/store/store.h"

struct server {
	struct event_base *base;
	struct config *config;
	struct catalogue *catalogue;
	struct spawner *spawner;
	struct isolation isolation;
	enum isolation_level require;	 /* ISOLATION_NONE: none is required */
	struct thread_pool *thread_pool; /* for what would keep the loop away */
	struct browser *browser;
	struct store *store; /* NULL until server_runs() is first asked */
	struct runs *runs;   /* likewise */
	struct remote_run_lookup
	    *looks; /* at runs of others, that are watched */
	struct requestors requestors;
	struct requestor *local; /* borrowed from them: whose uid is ours */
	bool others;  /* it serves every local user, not LOCAL alone */
	bool passing; /* it ends soon: what waited elsewhere is left waiting */
	bool with_client; /* it serves one on stdin, and ends when that goes */
	bool programs_known; /* it is measured whether they can be caged */
	bool told_ready;
	bool opened;	 /* the store has answered, whatever it said */
	bool quiet;	 /* runs are accepted and queued, but none is started */
	bool recovering; /* the store looks for dead instances, or will again */
	bool draining;	 /* nor accepted: this instance is ending */
	struct daemon *daemon;
	struct fair_queue turns;       /* of all clients' messages */
	struct fair_queue_flow chores; /* of nobody's: what is done in pieces */
	struct fair_queue_turn
	    telling; /* those in TO_TELL, that lists have changed */
	TAILQ_HEAD(to_tell, session) to_tell;
	struct fair_queue_turn
	    logging; /* requestors, for USR1, from LOGGED on */
	struct requestor *logged;
	LIST_HEAD(sessions, session) sessions; /* each is its connection's */
	int child_fd;			       /* signalfd(2) */
	struct event *on_child, *on_store, *sweep, *sick, *minute;
	char instance[ID_SIZE];
	int exit_status;
	int64_t flush_until_ms; /* the loop has ended: for clients to read */
	/* Called once the cage has been measured and is good enough. */
	void (*on_ready)(struct server *srv);
	/* Called once the store has been tried: 0, or -errno with ERRMSG. */
	void (*on_opened)(struct server *srv, int rc, const char *errmsg);
	void *transport; /* of stdio.c */
};

/*
 * Start the zygote and watch signals; CONFIG and CATALOGUE are taken.
 * WORKER_PATH is the worker program,
 * BROWSER_PATH (lent for good) the browser's broker, which may be missing. 0, or the exit status to end with,
 * after a line that says why.
 */
int server_start(struct server *srv, struct config *config,
		 struct catalogue *catalogue, const char *worker_path,
		 const char *browser_path, enum isolation_level require);

/* The templates that CONFIG names; a default folder may be missing. */
struct catalogue *server_templates(const struct config *config,
				   bool (*goes_on)(void *arg), void *arg);

/* Serve until somebody stops it; the exit status. */
int server_loop(struct server *srv);
void server_stop(struct server *srv, int exit_status); /* ends the loop */

/* End every worker, record what was running, free everything. */
void server_fini(struct server *srv);

/*
 * The runs, with the store behind them: opened, and dead instances'
 * runs taken over, when this is first called. Starting a server must have no
 * side effect, for clients start it just to ask what it is.
 */
struct runs *server_runs(struct server *srv);

/* An instance on this state seems to be dead: take over what it had. */
void server_recover(struct server *srv);

/* Serve, and start what waits, once all that can run has been measured. */
void server_look(struct server *srv);

/* Is it known how well all that can run is caged? */
bool server_is_measured(const struct server *srv);

/* Hold the groups of all workers to what C lets them use together. */
void server_limit_groups(const struct config *c);

#endif
