/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_shared.h - the state that instances on several machines share through a
 * database: the list of instances, the queue, and limits. A part of store.h,
 * which describes requests and answers. Without a shared database nothing calls
 * these functions.
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

/* What an instance says to others of itself. */
struct store_load {
	size_t running, queued;
	size_t room; /* for so many runs more of the queue of all */
	bool draining;
};

/* One of those that have a database together. */
struct store_node {
	char *id;
	char *name; /* for people */
	char *version;
	int64_t started_ms;
	struct store_load load;
	int64_t silent_ms; /* since its heartbeat */
};

/*
 * Was this instance taken for dead, since its database did not hear of it? What it had
 * is another's: it can write no more. What was asked about runs and artifacts fails
 * with -EOWNERDEAD, promised or not, until…
 */
bool store_is_lost(struct store *s);
/*
 * …it goes on as INSTANCE (copied), another one, which has no runs: the caller has
 * forgotten all of them.
 */
void store_rejoin(struct store *s, const char *instance);

/* May other machines have the same database, and not the state folder? */
bool store_is_shared(const struct store *s);

/*
 * For how many ms what runs may go on: then others may call it interrupted soon. Not
 * above 0: it is to end now. STORE_NO_LEASE: nobody on another machine can.
 */
#define STORE_NO_LEASE INT64_MAX
int64_t store_lease_left_ms(const struct store *s);

/* For how many ms no heartbeat has been answered; 0 before the first, and on one machine… */
int64_t store_silent_ms(const struct store *s);

/* …so long that something is wrong, or until the lease was over. */
#define STORE_SILENT_MS 3000
bool store_is_silent(const struct store *s);

/* ON_NEWS is called when this instance is lost, another was found dead, or it is woken. */
void store_on_news(struct store *s, void (*on_news)(void *arg), void *arg);
/* Was one found since the last time that this was asked? See store_recover(). */
bool store_found_dead(struct store *s);

/*
 * What this instance was woken for since this was asked last: others that share its
 * database ask it to look. It may be woken in vain, and what was missed is looked for by
 * itself, each store_poll_ms().
 */
#define STORE_WOKEN_MAIL 1u
#define STORE_WOKEN_QUEUE 2u
unsigned store_woken(struct store *s);

/* What people call this instance by (copied), before the first request. */
void store_set_node_name(struct store *s, const char *name);
const char *store_node_name(const struct store *s);
/* What other machines are told of it, from the next heartbeat on. */
void store_tell_load(struct store *s, const struct store_load *load);
/* All, with ourselves; none, when no other machine can be one. In nodes. */
void store_nodes(struct store *s, store_done done, void *arg);

/*
 * What all instances on several machines seal with, which is in their database. False:
 * they are of one machine, or the database was not reached yet.
 */
#define STORE_SEAL_BYTES 32
bool store_seal_key(struct store *s, unsigned char key[STORE_SEAL_BYTES]);

/* ---- the queue ---- */

/*
 * Where instances share a database (store_is_shared()) there is a queue of all of
 * them: of a run there, put by store_put_run(), its row says all.
 */

/*
 * What this instance runs, for others in the queue: a line each, "template DIGEST",
 * "requestor NAME", or "uids", which is every requestor that is called uid:N. In
 * place of what it said before.
 */
void store_serve(struct store *s, const char *lines, store_done done,
		 void *arg);
/*
 * Those of the queue whose turn is next, up to LIMIT, are ours: whole rows, with
 * their vtime, in that order. EXCEPT: requestors, a line each, of whom none is to
 * come. Two that claim never get the same. After one that failed, what it had claimed
 * may be among them, and with it what else of ours waits outside the queue.
 */
void store_claim(struct store *s, int limit, const char *except,
		 store_done done, void *arg);
/*
 * Is there one to be claimed? In waits. With COUNTS also uses: how many (runs) of
 * each requestor's others have put there; and unserved.
 */
void store_look_at_queue(struct store *s, bool counts, store_done done,
			 void *arg);
/*
 * Those that nobody serves, and have waited for long, have failed: interrupted. Who is
 * silent serves what it did until another has taken over what it had.
 */
void store_end_unserved(struct store *s);
/*
 * Which of IDS (copied), a line each, that this instance has put there have left it, and
 * there is no mail that would say so? In runs, the ids alone.
 */
void store_find_unheard(struct store *s, const char *ids, store_done done,
			void *arg);
/* STORE_MAIL_OVER of the run ID has been heeded: it comes no more. */
void store_heard(struct store *s, const char *id);

#define STORE_QUEUE_TURN 1000000 /* vtime of a run whose weight is 1 */
#define STORE_UNSERVED_MS 10000

/* ---- limits ---- */

/*
 * Of limits of a requestor's that hold for all instances together: what this one asks
 * for, and is given. Runs at a time, and calls a second in thousandths; MOST 0: there
 * is no such limit.
 */
struct store_share {
	const char *requestor;
	int64_t runs_used, runs_wanted, runs_most;
	int64_t rate_wanted, rate_most;
	int64_t cpu_ms; /* used since that was told last */
	/* given: */
	int64_t runs, rate;
	int64_t cpu_others_ms; /* that all others have used in the last hour */
};

/*
 * Ask for SHARE (copied) of its requestor's limits. What is given holds until it is
 * asked for less, or this instance is dead; what is in use is not taken. The sum of
 * what all have is never over the limit. -EAGAIN: another is asking, and nothing has
 * changed.
 */
void store_share(struct store *s, const struct store_share *share,
		 store_done done, void *arg);

#endif
