/* SPDX-License-Identifier: Apache-2.0 */
/*
 * egress.h - paddock-egress as a child of paddockd, and for each run with network
 * a child of paddock-egress, which alone reaches hosts for the run. Started for
 * the first such run, started again when it ends, ended with paddockd. The
 * supervisor itself opens no connection.
 */
#ifndef SUPERVISOR_EGRESS_EGRESS_H
#define SUPERVISOR_EGRESS_EGRESS_H

#include <event2/event.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/limits.h"
#include "ipc/egress_proto.h"
#include "supervisor/config/config.h"

#define EGRESS_CHILD_BYTES UINT64_C(33554432) /* memory of a child */

struct egress;	     /* of a server */
struct egress_child; /* of a run, or of a resident */

/*
 * Nothing is started yet. PROGRAM is paddock-egress' path, *lent* for good;
 * CONFIG is *lent* until the next egress_configure().
 */
struct egress *egress_new(struct event_base *base, const char *program,
			  const struct config *config);
/* The configuration is another now, or the files of its secrets are. */
void egress_configure(struct egress *e, const struct config *config);
/* End the program; children are lost without a call. NULL is fine. */
void egress_stop(struct egress *e);
/* After egress_stop(), and when no child is left. NULL is fine. */
void egress_free(struct egress *e);
/* Handle the end of the process PID. Was PID paddock-egress? */
bool egress_exited(struct egress *e, pid_t pid, int status);

/* Return why paddock-egress does not work, or NULL: no fault is known. */
const char *egress_trouble(const struct egress *e);
/* Log how many children there are, and the refusals since the start. */
void egress_log(const struct egress *e);

/* ---- the child of a run ---- */

struct egress_ops {
	/* a checked report of the child, which may lie all the same; *lent* */
	void (*on_report)(void *owner, const struct egress_report *r);
	/* there is no child, or no more: WHY is a sentence; once, and last */
	void (*on_lost)(void *owner, const char *why);
};

/* The task of a child; all members are *lent*. */
struct egress_ask {
	const char *run, *template, *requestor;
	struct json_object *network; /* as of grants_network() */
	struct json_object *secrets; /* names; NULL: none */
	int64_t bytes, requests, connections, cpu_ms;
	bool streams; /* the worker itself speaks HTTP, on a stream */
};

/*
 * Ask for a child. *CAGE is the worker's end of the cage channel, the caller's. NULL:
 * none can be had; *RC is -EAGAIN: now, or else -errno, and *WHY has the reason, a
 * clause, lent until the next call.
 */
struct egress_child *egress_open(struct egress *e, const struct egress_ask *ask,
				 int *cage, const char **why, int *rc);

/* Return the limit of a run that REASON is about; LIMITS: none. */
enum limit egress_limit(enum egress_reason reason);

/*
 * Is C alive, and may it reach NETWORK with SECRETS, members of ASK? C NULL: nothing.
 */
bool egress_child_serves(const struct egress_child *c,
			 struct json_object *network,
			 struct json_object *secrets);

/* ---- egress_config.c ---- */

/*
 * Return the variables with placeholders of SECRETS (NULL: none) by C: NAME=VALUE with
 * a NUL after each, *LEN bytes. The caller's.
 */
char *egress_variables(const struct config *c, struct json_object *secrets,
		       size_t *len);
/* May paddock-egress be started with ARGV? C has all files of ARGV's secrets. */
bool egress_may_start(const struct config *c, char *const argv[]);

/* From now on OPS are called with OWNER; OPS NULL: nobody. C NULL is fine. */
void egress_child_watch(struct egress_child *c, const struct egress_ops *ops,
			void *owner);

/*
 * The worker has ended: let the child tell the rest, and then call DONE, within
 * EGRESS_END_MS. False: nothing more can come, and DONE is not called. C NULL:
 * false.
 */
bool egress_child_end(struct egress_child *c, void (*done)(void *arg),
		      void *arg);
#define EGRESS_END_MS 1000

void egress_child_free(struct egress_child *c); /* NULL is fine */

#endif
