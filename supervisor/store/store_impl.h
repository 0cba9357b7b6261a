/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_impl.h - types and functions that the files of the store share; no other
 * file includes the header.
 *
 *   store.c          opening, closing, answers to the caller
 *   store_thread.c   the queue and its thread
 *   store_api.c      the calls of store.h that make a request
 *   store_about.c     the state of a database server
 *   store_wake.c     wake-ups to and from other instances
 *   store_readq.c     reads that wait for other reads of the requestor
 *   store_engine.h   the interface of a database engine
 *   store_req.c      a request with parameters and result
 *   store_batch.c    many requests in one transaction; failures
 *   store_staged.c   committed rows in the table staged, to be moved to runs
 *   store_sql.c      opens the database, runs statements; errors in words
 *   store_row.c      a row's struct to a statement's parameters, and back
 *   store_runs.c     rows of runs
 *   store_artifacts.c  rows of artifacts, and their files
 *   store_leaving.c  files of deleted artifacts
 *   store_uploads.c  uploads, which are artifacts without a run
 *   store_used.c     sums of use, by the hour
 *   store_nodes.c    servers with a common database
 *   store_mail.c     mail between instances, and shown views
 *   store_queue.c    the common queue of instances
 *   store_residents.c  the nodes on which residents live
 *   store_sessions.c  rows of sessions
 *   store_proposals.c  rows of proposed grants
 *   store_recover.c  the lock of the instance, and take-over of dead instances
 *   store_sweep.c    deletes expired rows
 *   store_delete.c   deletes runs and uploads at request
 *   store_probe.c    tests whether the store works
 *   state_file.c     files
 *
 * The thread of the store alone runs all code except store.c, store_api.c, store_readq.c,
 * store_req.c, and store_submit() of store_thread.c.
 */
#ifndef SUPERVISOR_STORE_STORE_IMPL_H
#define SUPERVISOR_STORE_STORE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "supervisor/store/store.h"
#include "supervisor/store/store_engine.h"

#define STORE_WHY_SIZE 512

struct store_req;

/*
 * A kind of request. PREP runs before the transaction (slow work without a lock), EXEC in
 * the transaction, then KEEP after the commit or UNDO after a rollback; DROP runs when
 * the request has failed for good. PREP and EXEC return 0, also when only R failed
 * (store_req_fail()), or -errno for a failure of the whole batch, with S->errmsg filled.
 */
struct store_op {
	bool writes;
	bool ours; /* writes rows of this instance alone: void under a new id */
	bool large; /* the result may be large: waits in the requestor's lane */
	bool whole; /* EXEC is one statement, which changes all or nothing */
	bool ends;  /* a repeated request is done while the store stops, too */
	/* a read whose first query may be sent ahead; EXEC is then called again */
	bool goes_ahead;
	int (*prep)(struct store *s, struct store_req *r);
	int (*exec)(struct store *s, struct store_req *r);
	void (*keep)(struct store *s, struct store_req *r);
	void (*undo)(struct store *s, struct store_req *r);
	void (*drop)(struct store *s, struct store_req *r);
};

#define STORE_OP(what, ...)                                                    \
	const struct store_op store_op_##what = {.exec = what, __VA_ARGS__}
extern const struct store_op store_op_put_run, store_op_get_run,
    store_op_get_inputs, store_op_get_task, store_op_list_tasks,
    store_op_find_idem, store_op_find_child, store_op_list_runs,
    store_op_put_artifact, store_op_expire_artifacts, store_op_read_artifact,
    store_op_list_artifacts, store_op_usage, store_op_put_session,
    store_op_get_session, store_op_drop_session, store_op_drop_sessions,
    store_op_recover, store_op_sweep, store_op_send_mail, store_op_read_mail,
    store_op_show, store_op_probe, store_op_open, store_op_delete_run,
    store_op_delete_ended, store_op_used, store_op_nodes, store_op_send_answer,
    store_op_send_to, store_op_drop_answer, store_op_delete_upload,
    store_op_delete_uploads, store_op_serve, store_op_claim,
    store_op_look_at_queue, store_op_share, store_op_end_unserved,
    store_op_heard, store_op_unheard, store_op_home_resident,
    store_op_leave_resident, store_op_show_resident, store_op_list_residents,
    store_op_end_resident, store_op_keep_resident, store_op_resident_ends,
    store_op_add_proposal, store_op_list_proposals, store_op_end_proposal,
    store_op_orphans;

struct store_recovery; /* store_recover.c */
struct store_lane;     /* store_readq.c */

struct store_req {
	STAILQ_ENTRY(store_req) link; /* one of: queue, kept, finished, batch */
	const struct store_op *op;
	store_done done; /* or NULL */
	void *arg;
	int64_t asked_ms;
	unsigned epoch; /* of the store, at the time of the request */
	bool urgent;	/* does not wait for other requests */
	bool retry;	/* kept after a failure */
	bool stuck;	/* kept, and set aside: see db/store_stuck.c */
	bool deferred;	/* stays in the queue while other requests are done */
	bool decided;	/* the result is final: nothing is left to do */
	bool begun;	/* recover: running runs alone */
	bool all; /* list_artifacts: artifacts of runs, too; claim: own runs */
	bool synced; /* put_artifact: the file was synced, with SYNC_RC */
	int sync_rc;
	bool placed;   /* put_artifact: the file has its name */
	bool again;    /* the rest is for a later batch */
	bool is_ahead; /* the first query was sent ahead */
	/* put_artifact: parts in the database, and parts of this batch */
	int64_t parts_kept, parts;
	struct store_lane *readq; /* of a read: the requestor's lane; or NULL */
	/* a later put of the same row, which replaces this put */
	struct store_req *superseded_by;
	char *inputs_carried; /* inputs of a replaced put; owned */

	/* the parameters; strings are in TEXT */
	struct store_run run;
	struct store_artifact artifact;
	struct store_session session;
	struct store_proposal proposal;
	struct store_filter filter;
	struct store_share share;
	const char *requestor;
	const char *id;
	const char *key;
	const char *tmp_path;
	int64_t offset;
	int64_t
	    limit; /* recover: how long artifacts of interrupted runs are kept */
	int64_t time_ms; /* recover: how long interrupted runs are kept;
			    send_mail has that in LIMIT */
	enum store_mail kind;
	struct store_recovery *recovery;

	/* the result; owned */
	struct store_result res;
	struct store_run *rows;
	char **row_text; /* a block per row */
	size_t rows_cap;
	struct store_artifact found;
	struct store_session found_session;
	/* texts of FOUND or FOUND_SESSION; a shown view; the reader of mail */
	char *found_text;
	struct store_message *messages;
	struct store_use *uses;
	struct store_node *nodes;
	struct store_resident *residents;
	struct store_proposal *proposals;
	struct store_artifact *artifacts;
	char **artifact_text; /* a block each */
	void *data;
	char *errmsg;

	char text[];
};

STAILQ_HEAD(store_reqs, store_req);

/* Make a request for OP with the parameters of ASKED, which are *copied*. */
void store_ask(struct store *s, const struct store_op *op,
	       const struct store_req *asked);

/* Returns a request like ASKED, with copies of ASKED's strings. */
struct store_req *store_req_new(const struct store_op *op,
				const struct store_req *asked);
void store_req_free(struct store_req *r);
void store_req_forget(struct store_req *r); /* free the result */

/* Fail R alone, and not the batch. ERRMSG is a printf format. */
void store_req_fail(struct store_req *r, int rc, const char *errmsg, ...)
    __attribute__((format(printf, 3, 4)));
/* Add an empty row to R's result. */
struct store_run *store_req_row(struct store_req *r);

/* A file that is deleted once the transaction is durable. */
struct store_file {
	char folder[128]; /* of old uploads: with a digest */
	char id[ID_SIZE];
};

struct store_closing; /* store_leaving.c */

/* An artifact's file in use by USERS; WANTED: deleted meanwhile. */
struct store_held {
	char id[ID_SIZE];
	unsigned users;
	bool wanted;
};

struct store {
	char *dir;
	char *url;     /* of the database; NULL: SQLite, in DIR */
	char *db_path; /* the name of the database in messages */
	char *files;   /* the folder with artifacts/ */
	bool in_rows;  /* bytes of artifacts are in rows of the database */
	int64_t
	    look_ms; /* when to look for stray files, if the folder is shared */
	char *instance;
	pthread_t thread;
	int event_fd;
	int wake_fd;	     /* eventfd: wakes an engine that rests; or -1 */
	atomic_bool resting; /* the thread waits for WAKE_FD */
	int nudge_fd;	     /* inotify(7) on the instance's lock file, or -1 */
	atomic_bool nudged;  /* NUDGE_FD is watched */
	struct store_lane
	    *readqs; /* of the caller's thread, as the next members */
	int64_t lost_run_ms, lost_artifact_ms; /* of store_keep_lost() */
	bool begun; /* the thread exists, since the first request */
	void (*on_news)(void *arg);
	void *on_news_arg;
	char *node_name;
	void (*on_begin)(void *arg, int err);
	void *on_begin_arg;

	pthread_mutex_t lock; /* protects the members up to ABOUT */
	struct store_held *held;
	size_t n_held;
	pthread_cond_t wake; /* the thread has work */
	pthread_cond_t idle; /* no work is left */
	struct store_reqs queue;
	struct store_reqs finished;
	struct store_keep *lost_own; /* of store_keep_lost(); owned */
	size_t n_lost_own;
	size_t queued;	   /* requests in QUEUE */
	size_t n_urgent;   /* of QUEUED: urgent requests */
	size_t ends;	   /* of N_URGENT: rows of ended runs */
	size_t others;	   /* of QUEUED: requests that write no row of a run */
	int64_t urgent_ms; /* when the oldest urgent request came */
	int64_t
	    lazy_until_ms; /* until when the oldest deferred request waits */
	bool busy;	   /* a batch is under way, or requests are kept */
	bool worked;	   /* the thread has done work since the last rest */
	bool
	    dozing; /* the thread looks again before a deferred request is due */
	bool stopping;
	bool stopped;		      /* no request is taken any more */
	bool abandon;		      /* time is up: open requests fail */
	bool used;		      /* a request was made before */
	char failing[STORE_WHY_SIZE]; /* "": the store works */
	int failing_rc;
	bool fails_writes; /* a write failed: only a write ends the failure */
	bool wrote, not_wrote; /* writes since the last diagnosis */
	bool lost;	       /* taken for dead, until store_rejoin() */
	char *rejoin;	       /* the new id of the instance, or NULL */
	struct store_load load;
	bool sealed; /* SEAL_KEY is filled */
	unsigned char seal_key[STORE_SEAL_BYTES];
	bool death;	/* a dead instance was found, and is not told yet */
	unsigned woken; /* STORE_WOKEN_ flags that are not told yet */
	_Atomic int64_t poll_ms; /* of a shared store: see store_poll_ms() */
	atomic_uint epoch;	 /* one more with each store_rejoin() */
	_Atomic int64_t lease_until_ms; /* CLOCK_BOOTTIME, or STORE_NO_LEASE */
	_Atomic int64_t
	    beaten_ms; /* CLOCK_BOOTTIME: of the last answered heartbeat */
	struct store_database about; /* of PostgreSQL */

	/* of the store's thread: */
	struct store_reqs retry_queue; /* requests to repeat, in order */
	int64_t retry_ms;	       /* when to repeat */
	int64_t backoff_ms;
	int64_t hurry_until_ms;		/* a lock of a row was met lately */
	int64_t stuck_ms;		/* when to try stuck requests next */
	char stuck_why[STORE_WHY_SIZE]; /* the last failure of such a request */
	const struct store_engine *engine;
	void *db;   /* the engine's handle; NULL: never opened */
	bool alone; /* one request is tried in a transaction of its own */
	const struct store_req *doing; /* the request in EXEC */
	size_t company;		/* rows that wait while a batch is done */
	bool staging;		/* rows go into the table staged, not runs */
	bool blind;		/* reads look into staged, too */
	int64_t blind_until_ms; /* until when reads do not try to move rows */
	size_t staged;		/* rows in the table staged */
	int64_t
	    unstage_ms;	   /* after a failure: the earliest time to move rows */
	bool claim_failed; /* the last store_claim() */
	struct store_file *leaving; /* with this transaction */
	size_t n_leaving;
	struct store_closing *closing; /* or NULL */
	int parts_left;	 /* parts of artifacts that the batch may write yet */
	int64_t beat_ms; /* when the next heartbeat is due */
	struct {	 /* wake-ups to send */
		struct buf nodes;  /* "\nNODE" for each node */
		char run[ID_SIZE]; /* the last run put into the common queue */
		int runs;	   /* the number of such runs */
		int64_t next_ms;   /* the earliest time */
	} wakes;
	int instance_fd; /* locked */
	char errmsg[STORE_WHY_SIZE];
	int why_rc; /* -errno of ERRMSG */
};

/* The end of an id is random, and serves as a hash. */
#define STORE_SLOTS 512
size_t store_slot(const char *id);

/* Returns URL without user, password and options; the caller's. */
char *store_url_name(const char *url);
/* Note the state of the database after a heartbeat or an attempt. */
void store_note_about(struct store *s);
void store_note_reached(struct store *s);
/* The part of the lease, a quarter, by which an instance ends runs before other
 * instances may take the instance for dead. */
#define STORE_LEASE_MARGIN 4

/* Tell the caller's thread that a dead instance was found. LOCK is not held. */
void store_tell_death(struct store *s);
/* Tell likewise that this instance was taken for dead. */
void store_tell_lost(struct store *s);
struct store_load store_load(struct store *s);

/*
 * Once the transaction is durable, wake NODE (unless this instance or "") to read mail, or
 * some nodes with room to look at the common queue, in which RUN is.
 */
void store_wake_node(struct store *s, const char *node);
void store_wake_some(struct store *s, const char *run);
/* Return when wake-ups are due; INT64_MAX: none. */
int64_t store_wake_due_ms(const struct store *s);
void store_wake_now(struct store *s);
/* Tell the caller's thread of a wake-up for WHAT, a STORE_WOKEN_ flag. LOCK is not held. */
void store_tell_woken(struct store *s, unsigned what);
/* Wake-ups come, so that a look each MS is enough; or wake-ups come no more. */
void store_hears(struct store *s, int64_t ms);
void store_wakes_lost(struct store *s);

#define STORE_BEAT_MS 1000 /* between heartbeats of an engine that has them */
#define STORE_FOREVER INT64_MAX

/* Start the thread, with signals blocked; returns the error of pthread_create(3). */
int store_thread_start(struct store *s);
/* Give R (*taken*) to the thread; NULL is fine. */
void store_submit(struct store *s, struct store_req *r);
/* Wait on C until MS (monotonic), or STORE_FOREVER. LOCK is held. */
void store_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t ms);
/* Wake the thread. */
void store_wake_thread(struct store *s);
/* Return when the thread has work next (monotonic ms). LOCK is held. */
int64_t store_due_ms(const struct store *s);

/*
 * Execute BATCH as one transaction. Afterwards BATCH has the decided requests, and the
 * end of RETRY_QUEUE the requests to repeat. S->errmsg has the last failure, or "".
 */
void store_batch(struct store *s, struct store_reqs *batch,
		 struct store_reqs *retry_queue);

/* ---- store_batch.c, for store_stuck.c ---- */

/* Execute the whole BATCH in a single transaction: 0, or -errno with S->errmsg. */
int store_attempt(struct store *s, struct store_reqs *batch);
/* Make the result of R final. */
void store_settle(struct store *s, struct store_req *r);
/* Return the older write of R's row in QUEUE, which R would overtake; or NULL. */
const struct store_req *store_overtaken(const struct store_req *r,
					const struct store_reqs *queue);
/* R failed with RC: queue R again, or report the failure. */
void store_refuse(struct store *s, struct store_req *r, int rc,
		  const char *errmsg, struct store_reqs *decided,
		  struct store_reqs *retry_queue);

/* ---- db/store_stuck.c ---- */

/* Move the stuck requests of BATCH, and later writes of the same rows, to STUCK. */
void store_stuck_set_aside(struct store_reqs *batch, struct store_reqs *stuck);
/* Do other sessions lock rows alone, so that other writes can go on? */
bool store_stuck_rows_alone(struct store *s);
/*
 * R, tried alone, failed with RC. Note whether the fault is of R's row alone, so that
 * other writes go on. ROWS: other sessions lock rows alone.
 */
bool store_stuck_note(struct store *s, struct store_req *r, int rc, bool rows);
/*
 * Try the requests of STUCK when due, each alone; decided requests go to DECIDED, others to
 * RETRY_QUEUE.
 */
void store_stuck_try(struct store *s, struct store_reqs *stuck,
		     struct store_reqs *decided,
		     struct store_reqs *retry_queue);

#define STORE_STAGED_MANY 64 /* rows are moved then, even while requests wait */

/* Return the number of rows of BATCH if all may be staged; else 0. */
size_t store_stageable(const struct store *s, const struct store_reqs *batch);
/* Move staged rows to runs, in a transaction that writes. 0 or -errno. */
int store_unstage(struct store *s);
int store_is_staged(struct store *s); /* are rows staged? 1, 0 or -errno */
int store_count_staged(struct store *s);
/* Move staged rows in a separate transaction, which need not be durable. */
int store_unstage_now(struct store *s);
/* Return when staged rows are to be moved; other work is due at DUE. LOCK is held. */
int64_t store_unstage_due_ms(const struct store *s, int64_t due);
/* Execute BATCH, of reads alone, in a transaction that sees staged rows. */
int store_read(struct store *s, struct store_reqs *batch,
	       int (*execute)(struct store *s, struct store_reqs *batch));

/* Open folder, instance lock and database, unless open. 0 or -errno. */
int store_sql_open(struct store *s);
/*
 * Wait a little, for the COUNT-th time, while another process holds a lock. False: the
 * time for waiting is over, or store_stop() was called.
 */
bool store_pause(struct store *s, int count);
void store_sql_close(struct store *s);

#define STORE_STR(t) ((struct store_value){.is_text = true, .text = (t)})
#define STORE_NUM(n) ((struct store_value){.number = (n)})

/* Return the statement WHICH, ready to be bound; the first step returns errors. */
struct store_cursor *store_sql(struct store *s, enum store_stmt which);
/* The same with parameters, each by STORE_STR() or STORE_NUM(). */
#define store_query(s, which, ...)                                             \
	store_query_values(s, which,                                           \
			   (const struct store_value[]){__VA_ARGS__},          \
			   sizeof((const struct store_value[]){__VA_ARGS__}) / \
			       sizeof(struct store_value))
struct store_cursor *store_query_values(struct store *s, enum store_stmt which,
					const struct store_value *v, size_t n);
/* The same, stepped, for a statement without rows. 0 or -errno. */
#define store_change(s, which, ...)                                            \
	store_sql_step(s, store_query(s, which, __VA_ARGS__))
int store_sql_run(struct store *s, enum store_stmt which); /* without rows */
void store_sql_rollback(struct store *s); /* if a transaction is open */
/* Step to a row: 1, 0 at the end, or -errno. Not 1: the statement is reset. */
int store_sql_step(struct store *s, struct store_cursor *st);
void store_sql_reset(struct store_cursor *st); /* before the last row */
/* Does RC of a write mean that the row broke a rule of the table? */
bool store_is_refused(int rc);
/* Put -RC at PATH into S->errmsg, with the remedy; returns RC. */
int store_failed(struct store *s, int rc, const char *path);

void store_bind(struct store_cursor *st, int at, struct store_value v);
/* Return column AT, "" for null, *lent* until the next step. */
const char *store_text(const struct store_cursor *st, int at);
int64_t store_number(const struct store_cursor *st, int at);

/* The kind and the offset of a column's member in the struct of a row. */
struct store_column {
	enum {
		STORE_NOT_READ,
		STORE_ID,   /* char [ID_SIZE] */
		STORE_TEXT, /* const char *; NULL is null */
		STORE_TIME, /* int64_t */
		STORE_INT,  /* int, or an enum */
		STORE_FLAG, /* bool */
	} kind;
	size_t at;
};

#define STORE_COLUMN(what, row, field)                                         \
	{                                                                      \
		.kind = STORE_##what, .at = offsetof(struct row, field)        \
	}

/* Bind N columns of ROW to the parameters of ST from number FIRST on. */
void store_bind_row(struct store_cursor *st, int first, const void *row,
		    const struct store_column *columns, size_t n);
/*
 * Read the first N columns of ST's row into ROW. Returns one block with the texts, the
 * caller's, to which ROW points. Members of null or missing columns are left unchanged.
 */
char *store_read_row(const struct store_cursor *st, void *row,
		     const struct store_column *columns, size_t n);

/* Take the lock of S's instance, unless held. 0 or -errno with S->errmsg. */
int store_instance_lock(struct store *s);
void store_instance_unlock(struct store *s); /* and remove the file */

/* Is the lock of the instance NAME held? */
bool store_instance_lives(struct store *s, const char *name);
char *store_instance_path(const struct store *s, const char *name);

/*
 * Read the owner of the open RUN, whose row was read for R, and what the owner shows; with
 * BULK also the view and the log. 0 or -errno.
 */
int store_read_shown(struct store *s, struct store_req *r,
		     struct store_run *run, bool bulk);

/*
 * Remove the file of the artifact ID in FOLDER, and mark the row as gone. 1; 0: the file
 * could not be removed, which is logged; or -errno.
 */
int store_drop_file(struct store *s, const char *folder, const char *id);

/*
 * Read ST's row into A by the columns of PUT_ARTIFACT. Returns the texts, the caller's, to
 * which A points. Further columns begin at STORE_ARTIFACT_COLUMNS.
 */
#define STORE_ARTIFACT_COLUMNS 9
char *store_artifact_row(struct store_cursor *st, struct store_artifact *a);
/* Add ST's row to R's result. */
void store_artifact_add(struct store_req *r, struct store_cursor *st);

/*
 * Delete the run ID with artifacts and files. 1; 0: a file could not be removed, which is
 * logged, and the run stays; or -errno.
 */
int store_drop_run(struct store *s, const char *requestor, const char *id);

/*
 * Delete the bytes of an artifact once the transaction is durable. 0; 1: the file could
 * not be removed, which is logged; or -errno.
 */
int store_remove_bytes(struct store *s, const char *run_id, const char *id);
/* Is the file of ID in use? Then the file is marked as deleted. */
bool store_is_held(struct store *s, const char *id);
/* The transaction is durable: remove the files of deleted artifacts. */
void store_leaving_go(struct store *s);
void store_leaving_forget(struct store *s); /* rolled back: keep the files */
/* The thread ends: close all removed files. */
void store_closing_end(struct store *s);
#define STORE_CLOSING_MAX 128 /* at once; further deletes wait */

/* May RUN enter the common queue beside the waiting runs of RUN's requestor? */
int store_queue_room(struct store *s, const struct store_run *run,
		     bool *is_there);
/* Put RUN, whose row was written, into the common queue. 0 or -errno. */
int store_enqueue(struct store *s, const struct store_run *run);
/* Cancel R's run if in the common queue: 1, queued by FOUND_TEXT, ended; 0; or -errno. */
int store_cancel_queued(struct store *s, struct store_req *r);
/*
 * Leave the queued runs of the dead INSTANCE to all instances; runs that no other instance
 * can start have failed, and are kept for KEPT_MS. 0 or -errno.
 */
int store_queue_again(struct store *s, const char *instance, int64_t now_ms,
		      int64_t kept_ms);

/* Add ST's row, in the order of the columns of a run, to R's result. */
void store_run_row(struct store_req *r, struct store_cursor *st);

#endif
