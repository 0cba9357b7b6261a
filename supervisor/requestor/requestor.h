/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor.h - who asks, which is never what a client says of itself; what
 * each may use, and has used.
 *
 * A [requestor "NAME"] section names whoever shows its token, or is its uid
 * on the unix socket or on stdio. Other users are "uid:N", callers without
 * a token "anonymous"; these have no limits of their own. What is counted
 * here is this instance's alone, and begins anew with it, but for the bytes
 * of artifacts, which the store knows.
 */
#ifndef SUPERVISOR_REQUESTOR_REQUESTOR_H
#define SUPERVISOR_REQUESTOR_REQUESTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uthash.h>

#include "supervisor/config/config.h"
#include "supervisor/requestor/http_usage.h"
#include "supervisor/requestor/quota.h"
#include "supervisor/requestor/sched.h"
#include "supervisor/templates/template.h"
#include "supervisor/requestor/fair_queue.h"

#define REQUESTOR_DIGEST 32 /* SHA-256 of a token */

/*
 * What this instance may use of limits that hold for all that share a database, where
 * some do: exec/runs_share.c asks for it. All-zero: there are no others.
 */
struct requestor_share {
	bool is_part;	   /* of the section's limits; runs: lane.share */
	int64_t rate;	   /* calls a second, as quota.h has them */
	int64_t cpu_ms;	   /* that others have used in the last hour */
	int64_t untold_ms; /* of CPU time that they were not told of */
	int64_t calls;	   /* that came since it was asked for */
	int64_t asked_ms;  /* monotonic: when that was; 0: never */
	int64_t used_ms;   /* when it was last of use */
	bool asking;
};

struct http_stream;
struct tool_error;

struct requestor {
	char *name; /* a section's, "uid:1000" or "anonymous" */
	const struct config_requestor *section; /* borrowed; 0: no limit */
	/* its section was removed: it may ask for nothing, and what it asked for
	   before is held to the limits that it had */
	bool gone;
	struct config_requestor had; /* these, and nothing of who it is */
	bool has_token;
	unsigned char token[REQUESTOR_DIGEST];
	unsigned tokens;	/* it had: what began with another is over */
	struct sched_lane lane; /* its runs that wait; how many have begun */
	struct fair_queue_flow turns; /* of its messages, at the loop */
	struct quota_rate rate;
	struct quota_rate other_rate; /* of what asks for nothing */
	struct quota_hour cpu;
	struct requestor_share share;
	uint64_t steps_spent, steps_due; /* of checks on the loop: lately… */
	int64_t steps_ms;		 /* …that is, then; and not charged */
	bool has_made_runs;
	bool usage_asked, usage_known;
	int64_t store_bytes;	  /* it may have; CONFIG_NONE: no limit */
	int64_t replayable_bytes; /* of artifacts in the store, once known */
	int64_t row_bytes;	  /* of its runs' rows there, likewise */
	int64_t newer_bytes;	  /* of these, since the store was asked */
	int64_t keeping_bytes;	  /* of those on their way there */
	uint64_t refused;	  /* runs, by one of these limits */
	uint64_t rate_limited;
	uint64_t lookups_failed;
	uint64_t overpolls;
	bool browses;	  /* it has asked something of the browser */
	size_t parked;	  /* runs of its that wait for answers, nobody there */
	size_t n_reads;	  /* large answers that it awaits now */
	size_t n_listens; /* requests of its that listen */
	size_t http_sessions, http_streams; /* that it has now */
	size_t http_conns;		    /* on which it asked last */
	size_t http_store_waits; /* of these, that wait for the store */
	/* rows of sessions that the store is to drop */
	size_t http_session_deletes;
	size_t http_open_streams; /* streams whose answers are to come */
	size_t http_live_bytes;	  /* that these, and unrelated ones, keep */
	TAILQ_HEAD(http_streams, http_stream) http_ended; /* the oldest first */
	size_t http_ended_bytes;
	size_t letter_bytes; /* of what it says to other servers, on its way */
	size_t uploads;	     /* that it has under way */
	size_t line_bytes;   /* of messages that its streams have not ended */
	struct http_usage http; /* what its connections hold */
	UT_hash_handle hh;	/* in requestors.by_name */
};

/* All that were seen; they live as long as the server. All-zero: none. */
struct requestors {
	struct requestor *by_name;
	const struct config *config; /* lent by the last requestors_apply() */
};

/*
 * Hold them to C's sections, at the start and again when these have changed:
 * limits in place, counters kept; who has no section any more is gone. C is
 * lent until the next time. True: what one of them sees may have changed.
 */
bool requestors_apply(struct requestors *all, const struct config *c);

/* The local user UID. Borrowed, as all of these. */
struct requestor *requestors_of_uid(struct requestors *all, uid_t uid);
/* Whose bearer token is the LEN bytes of TOKEN; NULL: nobody's. */
struct requestor *requestors_of_token(struct requestors *all, const char *token,
				      size_t len);
/* Who asks without a token; NULL: a section has one, so all have to. */
struct requestor *requestors_anonymous(struct requestors *all);
/* The one of that name, or NULL. */
struct requestor *requestors_find(struct requestors *all, const char *name);
void requestors_fini(struct requestors *all);

/* Callers that nothing tells apart: they share this one. */
#define REQUESTOR_ANONYMOUS "anonymous"
bool requestor_is_anonymous(const struct requestor *q);

/*
 * A line of the log for each of a few, FROM (NULL: the first) on: what it uses,
 * what it was refused. Who is next; NULL: that were all.
 */
struct requestor *requestors_log(struct requestors *all,
				 struct requestor *from);

const char *trust_name(enum template_trust trust); /* "local", "remote" */

/* Q's trust on a connection of trust VIA: its section's, or VIA. */
enum template_trust requestor_trust(const struct requestor *q,
				    enum template_trust via);
/* Does the template ID exist, for Q? */
bool requestor_sees(const struct requestor *q, const char *id);
/* May Q call the browser's TOOL? */
bool requestor_uses(const struct requestor *q, const char *tool);

/* Credentials of Q are good no more, though its runs may go on. */
bool requestor_gone(const struct requestor *q);
/* A request of Q's came. False: too many; again RETRY_AFTER_MS later. */
bool requestor_take(struct requestor *q, int64_t *retry_after_ms);
/*
 * The same for what asks for nothing: pings, notifications, answers of clients,
 * what is no message, GET and DELETE. Ten may come for each request.
 */
bool requestor_take_other(struct requestor *q, int64_t *retry_after_ms);
/* One that cannot be refused: how long its client is to be read no more. */
int64_t requestor_owe_other(struct requestor *q);
/* A run of Q's has used CPU_MS, rounded down: one more is charged. */
void requestor_charge(struct requestor *q, int64_t cpu_ms);
/*
 * How many steps of a check (proto/schema/schema.h) may be made on the loop for Q
 * now: SCHEMA_STEPS_INLINE, or less when it had many lately; and so many were.
 */
uint64_t requestor_steps(struct requestor *q);
void requestor_stepped(struct requestor *q, uint64_t steps);
/* Let Q's queue rest, or go on, as its CPU time of this hour says. */
void requestor_hold(struct requestor *q);
int64_t requestor_cpu_ms(struct requestor *q); /* of this hour */
/* How long (ms) until Q may use more, where it has such a limit; 0: it may now. */
int64_t requestor_cpu_wait(struct requestor *q);

/* The artifacts that Q has, as far as is known; and all that it has stored. */
int64_t requestor_kept(const struct requestor *q);
int64_t requestor_stored(const struct requestor *q);

struct requestor_over {		   /* a limit that would be passed */
	const char *key, *section; /* where it is set: for people, lent */
	int64_t used, allowed;
};
/*
 * Would SIZE bytes more, of an ARTIFACT or of a row, be too many? O says of
 * which limit.
 */
bool requestor_is_over(const struct requestor *q, int64_t size, bool artifact,
		       struct requestor_over *o);
bool requestor_has_room(const struct requestor *q, int64_t size);
/* Who can raise O, the caller's. */
char *requestor_who(const struct requestor *q, const struct requestor_over *o);
/* Is there no room for an artifact of SIZE? Then ERRMSG says so. */
bool requestor_no_room(const struct requestor *q, int64_t size,
		       struct tool_error *errmsg);
/* One of SIZE is on its way to the store, which will take it or not. */
void requestor_keep(struct requestor *q, int64_t size);
void requestor_kept_one(struct requestor *q, int64_t size, bool taken);
/* A row of Q's, to be written, has SIZE bytes more than before (or less). */
void requestor_row(struct requestor *q, int64_t size);
/* The store is asked now what Q has… */
void requestor_asks_usage(struct requestor *q);
/* …and has counted so many bytes of artifacts, and of rows. */
void requestor_set_usage(struct requestor *q, int64_t artifacts, int64_t rows);

/* Q asked for what it does not have: an id that is unknown, or another's. */
void requestor_missed(struct requestor *q);
/*
 * Q asked how a run goes, and was told to ask each INTERVAL_MS; *LAST_MS is
 * the run's own (0: never). Twice as often as that, and it is counted.
 */
void requestor_polled(struct requestor *q, int64_t *last_ms,
		      int64_t interval_ms);

#endif
