/* SPDX-License-Identifier: Apache-2.0 */
/*
 * residents_private.h - the table of residents, for the files of residents alone.
 *
 *   residents.c       the table; the process of a resident and the runs that use it
 *   residents_room.c  limits: who has to end for another, and when nobody uses one
 *   residents_home.c  the server where a resident lives, among several
 *   residents_name.c  the name of a run's resident
 */
#ifndef SUPERVISOR_WARM_RESIDENTS_PRIVATE_H
#define SUPERVISOR_WARM_RESIDENTS_PRIVATE_H

#include <sys/queue.h>
#include <uthash.h>

#include "supervisor/context.h"
#include "supervisor/run/warm/residents.h"

#define RESIDENTS_LOOK_MS 1000 /* between looks for residents to be ended */

struct resident {
	struct residents *all;
	struct requestor *requestor;
	struct template *template; /* a counted reference */
	char *key;	  /* owned: the requestor, a new line, TEMPLATE/NAME */
	const char *name; /* in KEY */
	struct spawner_job job;	 /* of the process; its pointers are not used */
	struct spawned *spawned; /* the process, while it has no run; or NULL */
	enum {
		HOME_NONE,  /* not known, or another server */
		HOME_ASKED, /* residents_homed() follows; runs wait */
		HOME_HERE,
	} home;
	bool is_refused; /* home is HOME_HERE, for runs that are to fail */
	bool alive;	 /* there is a process, perhaps with a run */
	bool doomed;	 /* to be ended after its run */
	bool is_changed; /* other servers do not know the view */
	bool is_rest;	 /* neither process nor runs: only LOST is of use */
	uint64_t runs;	 /* of the present process */
	uint64_t bytes;	 /* memory, while the process is stopped */
	int64_t born_ms, used_ms;	  /* monotonic */
	int64_t created_ms, last_used_ms; /* the same as wall time */
	char *lost; /* why the state before was lost; NULL: no state was */
	TAILQ_HEAD(run_turns, run)
	turns; /* runs, the first may have the process */
	/* in list; or, at rest, in the requestor's lost_residents */
	TAILQ_ENTRY(resident) link;
	UT_hash_handle hh; /* in by_key */
};

struct residents {
	struct context *ctx;
	struct resident *by_key;
	TAILQ_HEAD(, resident) list; /* in use, the longest unused first */
	TAILQ_HEAD(, spawned) ending;
	struct event *look;
	const struct resident_homes *homes; /* NULL: one server alone */
	void *homes_arg;
	uint64_t begun, restored, evicted;
	bool stopped;
};

/* ---- residents.c ---- */

/* End the process of X, which has no run, for the reason WHY (copied). */
void resident_end(struct resident *x, const char *why);
/* End the resident NAME of Q without a run for the reason WHY. 0, -ENOENT or -EBUSY. */
int residents_end_for(struct residents *all, const struct requestor *q,
		      const char *template_id, const char *name,
		      const char *why);

/* Return the resident NAME of Q and of the template ID, or NULL. */
struct resident *residents_find(const struct residents *all,
				const struct requestor *q, const char *id,
				const char *name);
/*
 * X has neither a process nor runs: remember for a while why the state was lost, or free X.
 * Where servers share residents a row remembers.
 */
void resident_put_to_rest(struct resident *x);
struct json_object *resident_view(const struct resident *x); /* the caller's */

/* ---- residents_home.c ---- */

/* Could another server have residents of this server's requestors? */
bool residents_are_shared(const struct residents *all);
/* Does X live here? False: the answer follows, or X lives at another server. */
bool residents_home_is_known(struct resident *x);
/* The view of X has changed. */
void resident_note_changed(struct resident *x);

/* ---- residents_room.c ---- */

/* Return how many processes Q has, or all requestors (Q NULL). */
unsigned residents_room_count(const struct residents *all,
			      const struct requestor *q);
/* Return the memory of the stopped residents of Q, or of all (Q NULL). */
int64_t residents_room_bytes(const struct residents *all,
			     const struct requestor *q);
/* Why a resident ends for another one of the requestor. */
#define RESIDENTS_ROOM_NEEDED                                                  \
	"another notebook of the same requestor needed its place "             \
	"(max_residents)"
/* The memory of X has come: the requestor of X keeps to a share. */
void residents_room_weigh(struct resident *x, uint64_t bytes);
/*
 * Make room for one more process of R's requestor, at the requestor's own cost. 0, or
 * -EDQUOT with the reason in R's error.
 */
int residents_room_make(struct residents *all, struct run *r);
/* End what is due; a timer's callback, ARG is struct residents. */
void residents_room_look(evutil_socket_t fd, short what, void *arg);

/* ---- residents_name.c ---- */

/* Read the name from the inputs of R, which was made of another server's row. */
void residents_name_read(struct run *r);

#endif
