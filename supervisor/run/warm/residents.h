/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residents.h - programs that stay after a run and serve the next runs, one after the
 * other: each for one requestor, one template and one name. The runs of a resident are
 * ordinary runs; a run waits until the run before has ended. A resident that nobody uses
 * is stopped, and ended after a while. The limits are max_residents, resident_idle_ms and
 * resident_life_ms of a requestor, max_residents_in_all and resident_memory of the server.
 */
#ifndef SUPERVISOR_WARM_RESIDENTS_H
#define SUPERVISOR_WARM_RESIDENTS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "supervisor/run/run.h"
#include "supervisor/run/warm/spawned.h"
#include "supervisor/spawn/spawner.h"

struct catalogue;
struct context;
struct resident;
struct residents;
struct tool_error;

/*
 * Where several servers share a database each resident lives at one of them. The functions
 * are cluster/resident_homes.c's.
 */
struct resident_homes {
	/* Could another server have residents of this server's requestors? */
	bool (*is_shared)(void *arg);
	/* Ask whether X may live here: residents_homed() follows. */
	void (*ask)(void *arg, struct resident *x);
	/* X lives here: start R, X's first run. */
	void (*start)(void *arg, struct run *r);
	/* R's resident, which R has left, has no home here, or IS_ELSEWHERE. */
	void (*give_back)(void *arg, struct run *r, bool is_elsewhere);
	/* X lives here no more; LOST (lent, or NULL) is why the state was lost. */
	void (*leave)(void *arg, const struct resident *x, const char *lost);
	/* A view has changed: residents_show_changed() is to be called soon. */
	void (*changed)(void *arg);
	void (*show)(void *arg, const struct resident *x, const char *view);
};

struct residents *residents_new(struct context *ctx);
/* Ask HOMES (lent) for residents from now on. */
void residents_share(struct residents *all, const struct resident_homes *homes,
		     void *arg);
/* End all residents that have no run, and each other after its run. */
void residents_stop(struct residents *all);
/* Free ALL after spawner_stop(), which has ended the workers. NULL is fine. */
void residents_free(struct residents *all);

/*
 * *NAME is the name of the resident for a run of T with INPUTS, lent by INPUTS; NULL: the
 * run is of no resident. False: E has the fault of the name.
 */
bool residents_name(const struct template *t, struct json_object *inputs,
		    const char **name, struct tool_error *e);

/*
 * Have R, which is to wait for a worker, use the resident R->notebook.name, if any. False:
 * another run of the resident is before R; residents_next() gives R later.
 */
bool residents_join(struct residents *all, struct run *r);
/* Does R's resident live here, if any, so that R may join without a question? */
bool residents_live_here(const struct residents *all, const struct run *r);
/*
 * Return the run that has to end before R, new or waiting, has its turn in R's resident;
 * or NULL. Before that run there may be others.
 */
const struct run *residents_before(const struct residents *all,
				   const struct run *r);
/*
 * The answer to a question for X. 0: X lives here, and LOST (lent, or NULL) is why an
 * earlier state was lost; -EDQUOT: all residents of the requestor are in use at their
 * servers, so that the runs of X fail; another error: X may live here later, or never.
 */
void residents_homed(struct resident *x, int rc, const char *lost);
/* Does a run wait for X? */
bool resident_is_wanted(const struct resident *x);
/* Return how many residents the requestor of X may have, at all servers. */
int64_t resident_most(const struct resident *x);
/* Return TEMPLATE/NAME of X, lent. */
const char *resident_text(const struct resident *x);
const struct requestor *resident_owner(const struct resident *x);
/*
 * R has ended, or waits no more. Returns the next run of the resident, which has waited
 * for R; or NULL.
 */
struct run *residents_leave(struct residents *all, struct run *r);

/*
 * Return the waiting process of R's resident, from now on OWNER's with OPS as in
 * spawned_ask(); or NULL: R's worker becomes the process, and JOB is changed for that.
 * Counts the run, and makes room: *RC is 0, or -EDQUOT with the reason in R's error. A
 * process with another NETWORK (lent) than the run may have is ended first.
 */
struct spawned *residents_take(struct residents *all, struct run *r,
			       struct spawner_job *job,
			       struct json_object *network,
			       const struct spawned_ops *ops, void *owner,
			       int *rc);
/*
 * R has ended and its process B (taken) has stayed, with BYTES of memory: of a program the
 * shim tells again.
 */
void residents_rest(struct residents *all, struct run *r, struct spawned *b,
		    uint64_t bytes);
/*
 * R's process has ended: the state is lost, because of WHY (copied). NULL: there was no
 * process after all.
 */
void residents_lost(struct residents *all, struct run *r, const char *why);

/* End the residents whose template or requestor is gone, or has changed. */
void residents_reloaded(struct residents *all, const struct catalogue *c);

/* End the resident NAME of Q without a run. 0, -ENOENT or -EBUSY. */
int residents_end(struct residents *all, const struct requestor *q,
		  const char *template_id, const char *name);

/* The same by TEMPLATE/NAME, at request of another server: FOR_ROOM, or by a client. */
int residents_end_asked(struct residents *all, const struct requestor *q,
			const char *text, bool for_room);
/* Other servers own what this server had: end all residents. */
void residents_disown(struct residents *all);
void residents_show_changed(struct residents *all);
void residents_show_again(struct residents *all); /* all views, soon */
/* Return the residents with runs, a line with requestor, tab, TEMPLATE/NAME each. */
char *residents_busy(const struct residents *all);

/*
 * Return [{requestor, templateId, version, name, runs, state, memoryBytes?, createdAt,
 * lastUsedAt}] of Q, or of all requestors (Q NULL); the caller's.
 */
struct json_object *residents_view(const struct residents *all,
				   const struct requestor *q);
unsigned residents_count(const struct residents *all); /* processes */
void residents_log(const struct residents *all); /* a line with the sums */

#endif
