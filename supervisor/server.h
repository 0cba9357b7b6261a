/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - one instance: its parts, and the order of start and stop. Read by
 * main.c and reload.c alone; all other files know the context.
 */
#ifndef SUPERVISOR_SERVER_H
#define SUPERVISOR_SERVER_H

#include "supervisor/context.h"
#include "supervisor/requestor/requestor.h"
#include "supervisor/session/session.h"
#include "supervisor/spawn/isolation.h"

struct server {
	struct context context; /* pointers to the members below, and more */
	struct isolation isolation;
	struct requestors requestors;
	struct sessions sessions;
	struct fair_queue turns;
	struct fair_queue_flow chores;
	enum isolation_level require; /* required level; ISOLATION_NONE: any */
	int child_fd; /* descriptor of signalfd(2), for SIGCHLD */
	struct event *on_child, *on_store, *sweep, *sick, *minute;
	char instance[ID_SIZE];
	bool told_ready;
	int exit_status;
	unsigned failed_turns; /* of the loop, in a row */
	bool stopped;	       /* the loop is to end */
	/* Set after the start. Called when the cage has been measured and is
	   good enough. */
	void (*on_ready)(void *arg);
	/* Called when the store has been tried: 0, or -errno with ERRMSG; or
	   NULL. */
	void (*on_opened)(void *arg, int rc, const char *errmsg);
	void *arg;
};

/* Paths, lent for good; paddock-browser and paddock-egress may be missing. */
struct server_programs {
	const char *worker, *browser, *egress;
};

/*
 * Start the zygote, load the templates, watch signals; CONFIG is taken. 0, or
 * the exit status, after a line with the reason.
 */
int server_start(struct server *srv, const struct config *config,
		 const struct server_programs *programs,
		 enum isolation_level require);

/* Serve until stopped; returns the exit status. */
int server_loop(struct server *srv);

/* End every worker, record the running runs, free everything. */
void server_fini(struct server *srv);

/*
 * Serve, and start waiting runs, once the cages of all templates have been
 * measured.
 */
void server_look(struct server *srv);

#endif
