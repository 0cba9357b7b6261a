/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_shared.h - the state that instances on several machines share through a database:
 * the list of instances, the queue, and limits. A part of store.h, which describes
 * requests and answers. Without a shared database nothing calls these functions.
 */
#ifndef SUPERVISOR_STORE_STORE_SHARED_H
#define SUPERVISOR_STORE_STORE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;
struct store_result;

typedef void (*store_done)(void *arg, const struct store_result *res);

/* ---- nodes ---- */

/* The load that an instance reports to other instances. */
struct store_load {
	size_t running, queued;
	size_t room; /* number of runs of the common queue that could start */
	bool draining;
};

/* An instance among the instances that share a database. */
struct store_node {
	char *id;
	char *name; /* for people */
	char *version;
	int64_t started_ms;
	struct store_load load;
	int64_t silent_ms; /* since the last heartbeat */
};

/*
 * Was this instance declared dead, since the database received no heartbeat? Then other
 * instances own the runs: this instance can write nothing more. Requests for runs and
 * artifacts fail with -EOWNERDEAD, even promised requests, until store_rejoin().
 */
bool store_is_lost(struct store *s);
/*
 * Continue under the new id INSTANCE (copied), which has no runs: the caller
 * has forgotten all runs.
 */
void store_rejoin(struct store *s, const char *instance);

/* May other machines use the same database without the state folder? */
bool store_is_shared(const struct store *s);

/*
 * Milliseconds for which the runs may continue: after the lease other instances
 * may declare the runs interrupted. At most 0: the runs must end now.
 * STORE_NO_LEASE: no instance on another machine exists.
 */
#define STORE_NO_LEASE INT64_MAX
int64_t store_lease_left_ms(const struct store *s);

/*
 * Milliseconds without an acknowledged heartbeat; 0 before the first heartbeat,
 * and on one machine.
 */
int64_t store_silent_ms(const struct store *s);

/* Is the silence longer than STORE_SILENT_MS, or is the lease over? */
#define STORE_SILENT_MS 3000
bool store_is_silent(const struct store *s);

/*
 * ON_NEWS is called when this instance is lost, when another instance was found
 * dead, or at a wake-up.
 */
void store_on_news(struct store *s, void (*on_news)(void *arg), void *arg);
/* Was an instance found dead since the last call? See store_recover(). */
bool store_found_dead(struct store *s);

/*
 * The reasons of wake-ups since the last call: another instance of the database
 * asks this instance to read mail or the queue. A wake-up may be spurious, and
 * a missed wake-up is found by polling, each store_poll_ms().
 */
#define STORE_WOKEN_MAIL 1u
#define STORE_WOKEN_QUEUE 2u
unsigned store_woken(struct store *s);

/* The name of this instance for people (copied), to be set before the first request. */
void store_set_node_name(struct store *s, const char *name);
const char *store_node_name(const struct store *s);
/* The load to report to other instances from the next heartbeat on. */
void store_tell_load(struct store *s, const struct store_load *load);
/*
 * Get all instances, including this instance; empty without a shared database.
 * The result is in nodes.
 */
void store_nodes(struct store *s, store_done done, void *arg);

/*
 * The common key with which all instances of a database seal; the key is stored in the
 * database. False: instances of one machine, or the database was not reached yet.
 */
#define STORE_SEAL_BYTES 32
bool store_seal_key(struct store *s, unsigned char key[STORE_SEAL_BYTES]);

/* ---- the queue ---- */

/*
 * Instances that share a database (store_is_shared()) share a queue as well:
 * store_put_run() adds a run to the queue, and the row has all data of the run.
 */

/*
 * Report which runs of the common queue this instance can run: a line each,
 * "template DIGEST", "requestor NAME", or "uids" for every requestor named
 * uid:N. Replaces the earlier report.
 */
void store_serve(struct store *s, const char *lines, store_done done,
		 void *arg);
/* The runs of the queue to claim. Texts are copied. */
struct store_claim {
	int limit;
	unsigned least; /* the least depth of the runs */
	bool own;	/* only runs that this instance queued */
	/*
	 * Lines with requestor, tab, a depth, tab, 0 or 1: runs of the requestor that are
	 * less deep are skipped; with 1 also all runs but called runs that the instance of
	 * their caller cannot run.
	 */
	const char *except;
	const char
	    *busy; /* residents to skip: requestor, tab, TEMPLATE/NAME each */
};
/*
 * Claim the next runs of the queue, as C says: the result has whole rows, with vtime, in
 * order. No two instances claim the same run.
 * After a failed claim, the result may include runs of the failed claim, and with them
 * other open runs of this instance that wait outside the queue.
 */
void store_claim(struct store *s, const struct store_claim *c, store_done done,
		 void *arg);
/*
 * Is a run in the queue to be claimed? The result is in waits. With COUNTS also uses: the
 * number (runs) of each requestor's runs that other instances queued; and unserved.
 */
void store_look_at_queue(struct store *s, bool counts, store_done done,
			 void *arg);
/*
 * End runs that have waited for long and that no instance serves: failed as interrupted.
 * A silent instance counts as serving until another instance has taken over.
 */
void store_end_unserved(struct store *s);
/*
 * Which of IDS (copied), a line each, all queued by this instance, have left
 * the queue without any mail to say so? The result is in runs, ids alone.
 */
void store_find_unheard(struct store *s, const char *ids, store_done done,
			void *arg);
/*
 * Find the runs of CALLED (copied), a line each, that have lost their caller. A line has
 * the run, the caller, the caller's instance and the requestor, with tabs between. A caller
 * that is to end, or runs again at another instance, is lost, too. The result is in runs,
 * ids alone.
 */
void store_find_orphans(struct store *s, const char *called, store_done done,
			void *arg);
/* Acknowledge STORE_MAIL_OVER of the run ID, which is then not delivered again. */
void store_heard(struct store *s, const char *id);

#define STORE_QUEUE_TURN 1000000 /* vtime of a run whose weight is 1 */
#define STORE_UNSERVED_MS 10000

/* ---- residents ---- */

/*
 * A resident of REQUESTOR, named TEMPLATE/NAME, lives on one node, as a row says. The
 * bounds are for rows of a requestor whose resident lives on no node.
 */
#define STORE_RESIDENTS_LOST 64
#define STORE_RESIDENTS_LOST_MS 86400000
#define STORE_RESIDENTS_LISTED 1000

/* A resident that another node shows. */
struct store_resident {
	char *view; /* JSON, as given to store_show_resident() */
	char *node; /* name of the node */
};

/*
 * From now on RESIDENT lives here: 0, with text, the reason why an earlier state was
 * lost, or NULL. -EREMOTE: RESIDENT lives on another node. -EINPROGRESS: MOST other
 * residents of REQUESTOR live on nodes, and the one that was used longest ago is asked to
 * end, by mail of STORE_MAIL_EVICT_RESIDENT; -EDQUOT: all of these refused to end.
 * Repeated until answered.
 */
void store_home_resident(struct store *s, const char *requestor,
			 const char *resident, int64_t most, store_done done,
			 void *arg);
/* RESIDENT lives here no more; LOST (may be NULL) is why the state was lost. */
void store_leave_resident(struct store *s, const char *requestor,
			  const char *resident, const char *lost);
void store_show_resident(struct store *s, const char *requestor,
			 const char *resident, const char *view,
			 store_done done, void *arg);
/* List the residents of REQUESTOR (NULL: of all) on other nodes. */
void store_list_residents(struct store *s, const char *requestor,
			  store_done done, void *arg);
/*
 * Ask the node of RESIDENT for the end: mail of STORE_MAIL_END_RESIDENT until the row is
 * left, or store_keep_resident(). -ENOENT: RESIDENT lives on no other node.
 */
void store_end_resident(struct store *s, const char *requestor,
			const char *resident, store_done done, void *arg);
/* Refuse to end RESIDENT, which lives here. */
void store_keep_resident(struct store *s, const char *requestor,
			 const char *resident);
/* Look for the outcome of store_end_resident(). 0: ended; -EBUSY: refused; -EINPROGRESS. */
void store_resident_ends(struct store *s, const char *requestor,
			 const char *resident, store_done done, void *arg);

/* ---- limits ---- */

/*
 * The share of this instance in limits that hold for all instances together:
 * the request and the grant. Runs at a time, and calls a second in thousandths;
 * MOST 0: no such limit.
 */
struct store_share {
	const char *requestor;
	int64_t runs_used, runs_wanted, runs_most;
	int64_t rate_wanted, rate_most;
	int64_t cpu_ms; /* used since the last report */
	/* granted: */
	int64_t runs, rate;
	/* used by all other instances in the last hour */
	int64_t cpu_others_ms;
};

/*
 * Request the share SHARE (copied) of a requestor's limits. A grant holds until
 * a smaller request, or until this instance is dead; a share in use is never
 * revoked. The sum of all grants never exceeds the limit. -EAGAIN: another
 * instance is requesting at the moment, and nothing has changed.
 */
void store_share(struct store *s, const struct store_share *share,
		 store_done done, void *arg);

#endif
