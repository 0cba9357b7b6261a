/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requestor.h - who asks, which a client never decides by its own words; the
 * limits and the use of each requestor.
 *
 * A [requestor "NAME"] section names the client that shows its token, or has
 * its uid on the unix socket or on stdio. Other users are "uid:N", callers
 * without a token "anonymous"; neither has limits of its own. The counters are
 * of this instance alone and begin anew with the instance, but for the bytes of
 * artifacts, which the store knows.
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
#include "supervisor/requestor/memory.h"
#include "supervisor/requestor/quota.h"
#include "supervisor/requestor/sched.h"
#include "supervisor/requestor/usual.h"
#include "supervisor/packages/templates/template.h"
#include "supervisor/requestor/fair_queue.h"

#define REQUESTOR_DIGEST 32 /* SHA-256 of a token */

/*
 * The part of a requestor's limits that this instance may use, where several
 * instances share a database: cluster/limit_shares.c asks for the part. All-zero:
 * there are no other instances.
 */
struct requestor_share {
	/* the limits are a part of the section's; for runs: lane.share */
	bool is_part;
	int64_t rate;	   /* part of the calls a second, in units of quota.h */
	int64_t cpu_ms;	   /* CPU time at other instances in the last hour */
	int64_t untold_ms; /* CPU time not yet told to other instances */
	int64_t calls;	   /* calls since the part was asked for */
	int64_t asked_ms; /* monotonic: when the part was asked for; 0: never */
	int64_t nodes;	  /* how many nodes lived then */
	int64_t used_ms;  /* when the requestor was last active */
	bool asking;
};

struct http_exchange;
struct resident;
struct tool_error;

struct requestor {
	char *name; /* a section's name, "uid:1000" or "anonymous" */
	const struct config_requestor *section; /* borrowed; 0: no limit */
	/* The section was removed: the requestor may ask for nothing, and
	   older runs keep the limits that they had. */
	bool gone;
	/* those limits, without name, token and uid */
	struct config_requestor had;
	bool has_token;
	unsigned char token[REQUESTOR_DIGEST];
	/* how often the token changed: sessions of an older token are over */
	unsigned tokens;
	/* waiting runs, and the number of running runs */
	struct sched_lane lane;
	struct fair_queue_flow turns; /* turns of messages at the loop */
	struct quota_rate rate;
	/* rate of messages that ask for nothing */
	struct quota_rate other_rate;
	struct quota_hour cpu;
	struct requestor_share share;
	/* steps of checks on the loop: lately, until steps_ms, and not yet
	   charged */
	uint64_t steps_spent, steps_due;
	int64_t steps_ms; /* when steps_spent was last lowered */
	bool has_made_runs;
	bool usage_asked, usage_known;
	int64_t store_bytes; /* most stored bytes; CONFIG_NONE: no limit */
	/* size of artifacts in the store, once known */
	int64_t replayable_bytes;
	int64_t row_bytes; /* size of rows of runs in the store, once known */
	/* the part of row_bytes added since the store was asked */
	int64_t newer_bytes;
	int64_t keeping_bytes; /* size of artifacts on their way to the store */
	uint64_t refused;      /* runs refused by one of these limits */
	uint64_t rate_limited;
	uint64_t lookups_failed;
	uint64_t overpolls;
	/* names whose state was lost, the longest ago first: warm/residents.c */
	TAILQ_HEAD(lost_residents, resident) lost_residents;
	size_t n_lost_residents;
	bool browses;  /* a client or a run has used the browser */
	size_t parked; /* runs that wait for answers while no client is there */
	size_t n_requests; /* requests under way */
	size_t n_reads;	   /* large answers under way now */
	/* answers that were made since LOOKED, by the loop's clock */
	unsigned n_answers;
	struct timeval looked;
	size_t n_listens; /* requests that listen for notifications */
	size_t http_sessions, http_streams; /* open sessions and streams */
	/* connections last used by this requestor */
	size_t http_conns;
	/* HTTP requests that wait for the store */
	size_t http_store_waits;
	/* rows of sessions that the store is to drop */
	size_t http_session_deletes;
	size_t http_open_streams; /* streams with answers to come */
	/* bytes kept by open streams, and by streams of no request */
	size_t http_live_bytes;
	/* ended streams, the oldest first */
	TAILQ_HEAD(http_exchange_list, http_exchange) http_ended;
	size_t http_ended_bytes;
	/* size of messages on their way to other servers */
	size_t message_bytes;
	size_t uploads;	  /* uploads under way */
	size_t downloads; /* artifacts open to be sent */
	/* size of lines that clients have begun and not ended */
	size_t line_bytes;
	struct http_usage http; /* bytes held by the connections */
	/* the memory that the server keeps for the requestor */
	struct memory_account memory;
	struct usual usual; /* how long the runs take */
	UT_hash_handle hh;  /* entry in requestors.by_name */
};

/*
 * All requestors ever seen; each lives as long as the server. All-zero: none.
 */
struct requestors {
	struct requestor *by_name;
	const struct config *config; /* lent by the last requestors_apply() */
	struct memory memory;	     /* the bytes of all requestors */
};

/*
 * Apply the sections of C to all requestors, at the start and after each change
 * of the configuration: limits in place, counters kept. A requestor whose
 * section was removed is gone. C is lent until the next call. True: what a
 * requestor sees may have changed.
 */
bool requestors_apply(struct requestors *all, const struct config *c);

/* Find or add the local user UID. The result is borrowed, here and below. */
struct requestor *requestors_of_uid(struct requestors *all, uid_t uid);
/*
 * Find the owner of the bearer token, LEN bytes at TOKEN; NULL: there is no
 * owner.
 */
struct requestor *requestors_of_token(struct requestors *all, const char *token,
				      size_t len);
/*
 * Find or add the requestor of callers without a token; NULL: a section has a
 * token, so every caller needs one.
 */
struct requestor *requestors_anonymous(struct requestors *all);
/* Find the requestor NAME, or NULL. */
struct requestor *requestors_find(struct requestors *all, const char *name);
/*
 * Count the counters that are not at zero, and write a line of the log for
 * each. To be called when all work of all requestors is over.
 */
size_t requestors_left(const struct requestors *all);
void requestors_fini(struct requestors *all);

/* The name of the requestor shared by all callers that nothing tells apart. */
#define REQUESTOR_ANONYMOUS "anonymous"
bool requestor_is_anonymous(const struct requestor *q);

/*
 * Write a line of the log for each of a few requestors, from FROM (NULL: the
 * first) on: use and refusals. Returns the next requestor; NULL: there is no
 * more.
 */
struct requestor *requestors_log(struct requestors *all,
				 struct requestor *from);
/*
 * Log each requestor that was refused for want of memory since the last line,
 * at most once a minute. To be called once a second.
 */
void requestors_log_memory(struct requestors *all);

/* returns "local" or "remote" */
const char *trust_name(enum template_trust trust);

/*
 * Return Q's trust on a connection of trust VIA: that of Q's section, or VIA.
 */
enum template_trust requestor_trust(const struct requestor *q,
				    enum template_trust via);
/* Does the template ID exist, for Q? */
bool requestor_sees(const struct requestor *q, const char *id);
/* May Q call the browser's TOOL? */
bool requestor_uses(const struct requestor *q, const char *tool);

/*
 * Was Q's section removed? Then Q's credentials are good no more, though runs
 * may go on.
 */
bool requestor_gone(const struct requestor *q);
/* Count a request of Q's. False: too many; try again RETRY_AFTER_MS later. */
bool requestor_take(struct requestor *q, int64_t *retry_after_ms);
/*
 * As requestor_take() for messages that ask for nothing: pings, notifications,
 * answers of clients, what is no message, GET and DELETE. Ten may come for each
 * request.
 */
bool requestor_take_other(struct requestor *q, int64_t *retry_after_ms);
/*
 * Count such a message where none can be refused. Returns how long (ms) the
 * client is not to be read.
 */
int64_t requestor_owe_other(struct requestor *q);
/*
 * Charge Q for a run that used CPU_MS, rounded down: one millisecond more is
 * charged.
 */
void requestor_charge(struct requestor *q, int64_t cpu_ms);
/*
 * Return how many steps of a check (proto/schema/schema.h) Q may take on the
 * loop now: SCHEMA_STEPS_INLINE, or less when Q had many lately.
 * requestor_stepped() counts the steps taken.
 */
uint64_t requestor_steps(struct requestor *q);
void requestor_stepped(struct requestor *q, uint64_t steps);
/* Hold Q's queue, or let it go on, by the CPU time that Q used in this hour. */
void requestor_hold(struct requestor *q);
/* returns the use in this hour */
int64_t requestor_cpu_ms(struct requestor *q);
/*
 * Return how long (ms) until Q may use CPU time again, where Q has a limit; 0:
 * now.
 */
int64_t requestor_cpu_wait(struct requestor *q);

/*
 * Return the bytes of Q's artifacts, as far as known; and all bytes that Q has
 * stored.
 */
int64_t requestor_kept(const struct requestor *q);
int64_t requestor_stored(const struct requestor *q);

struct requestor_over { /* a limit that would be passed */
	/* where the limit is set: for people, lent */
	const char *key, *section;
	int64_t used, allowed;
};
/*
 * Would SIZE bytes more, of an ARTIFACT or of a row, be too many? O says of
 * which limit.
 */
bool requestor_is_over(const struct requestor *q, int64_t size, bool artifact,
		       struct requestor_over *o);
bool requestor_has_room(const struct requestor *q, int64_t size);
/* Return the text that says who can raise O; the caller frees the text. */
char *requestor_who(const struct requestor *q, const struct requestor_over *o);
/* Is there no room for an artifact of SIZE bytes? Then ERRMSG says so. */
bool requestor_no_room(const struct requestor *q, int64_t size,
		       struct tool_error *errmsg);
/*
 * An artifact of SIZE bytes is on the way to the store, which takes the
 * artifact or does not (TAKEN).
 */
void requestor_keep(struct requestor *q, int64_t size);
void requestor_kept_one(struct requestor *q, int64_t size, bool taken);
/* A row of Q's, to be written, has SIZE bytes more than before (or less). */
void requestor_row(struct requestor *q, int64_t size);
/* The store is asked now how many bytes Q has. */
void requestor_asks_usage(struct requestor *q);
/* The store has counted bytes of artifacts and of rows. */
void requestor_set_usage(struct requestor *q, int64_t artifacts, int64_t rows);

/* Q asked for an id that is unknown, or is another requestor's. */
void requestor_missed(struct requestor *q);
/*
 * Q asked how a run goes, and was told to ask each INTERVAL_MS; *LAST_MS is
 * kept by the run (0: never). An interval of less than half of INTERVAL_MS is
 * counted.
 */
void requestor_polled(struct requestor *q, int64_t *last_ms,
		      int64_t interval_ms);

#endif
