/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_impl.h - what the parts of the store share; nobody else includes it.
 *
 *   store.c          opening, closing, answers to the caller
 *   store_thread.c   the queue and its thread
 *   store_api.c      the calls of store.h that ask for something
 *   store_about.c     what is told of a database
 *   store_wake.c     whom to wake on other machines, and being woken
 *   store_readq.c     reads that wait for others of their requestor
 *   store_engine.h   what a database does for all of these
 *   store_req.c      a request: what it carries, what it brought back
 *   store_batch.c    many requests, one transaction; what to do on failure
 *   store_staged.c   rows that are committed, and not yet where they belong
 *   store_sql.c      opens what is needed, runs statements; errors in words
 *   store_row.c      a row's struct to a statement's parameters, and back
 *   store_runs.c     rows of runs
 *   store_artifacts.c  rows of artifacts, and their files
 *   store_leaving.c  files whose rows let them go
 *   store_uploads.c  what belongs to no run
 *   store_used.c     what was used, by the hour
 *   store_nodes.c    servers that have a database together
 *   store_mail.c     what instances ask of each other, and show
 *   store_queue.c    runs that wait for any instance
 *   store_sessions.c  rows of sessions
 *   store_recover.c  instances: our lock, and what the dead left behind
 *   store_sweep.c    what has expired
 *   store_delete.c   what somebody wants to have forgotten
 *   store_probe.c    can it be used at all
 *   state_file.c     files
 *
 * All but store.c, store_api.c, store_readq.c and store_req.c, and store_submit() of
 * store_thread.c, is run by the store's thread alone.
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
 * What a kind of request does. PREP runs before the transaction (what is
 * slow and needs no lock), EXEC inside it, then KEEP after the commit or UNDO
 * after a rollback; DROP when it has failed for good. PREP and EXEC return 0,
 * also when only their own request failed (store_req_fail()); else -errno for
 * what fails the whole batch, with S->why filled.
 */
struct store_op {
	bool writes;
	bool
	    ours; /* it writes what is ours alone, for as long as we are who we are */
	bool large; /* what it brings may be: it has lanes */
	bool whole; /* a statement of EXEC's changes all of it, or nothing */
	bool ends; /* what is again to be done, is while the store stops, too */
	/* a read; what EXEC asks first may go ahead, and EXEC is then called again */
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
    store_op_find_idem, store_op_list_runs, store_op_put_artifact,
    store_op_expire_artifacts, store_op_read_artifact, store_op_list_artifacts,
    store_op_usage, store_op_put_session, store_op_get_session,
    store_op_drop_session, store_op_drop_sessions, store_op_recover,
    store_op_sweep, store_op_send_mail, store_op_read_mail, store_op_show,
    store_op_probe, store_op_open, store_op_delete_run, store_op_delete_ended,
    store_op_used, store_op_nodes, store_op_send_answer, store_op_send_to,
    store_op_drop_answer, store_op_delete_upload, store_op_delete_uploads,
    store_op_serve, store_op_claim, store_op_look_at_queue, store_op_share,
    store_op_end_unserved, store_op_heard, store_op_unheard;

struct store_recovery; /* store_recover.c */
struct store_lane;     /* store_readq.c */

struct store_req {
	STAILQ_ENTRY(store_req) link; /* one of: queue, kept, finished, batch */
	const struct store_op *op;
	store_done done; /* NULL: nobody is told */
	void *arg;
	int64_t asked_ms;
	unsigned epoch; /* of the store, when it was asked */
	bool urgent;	/* does not wait for company */
	bool retry;	/* is kept when it fails */
	bool deferred;	/* in the queue, while the others go */
	bool decided;	/* its result is settled already: do no more */
	bool begun;	/* recover: what has begun, alone */
	bool all;	/* list_artifacts: those of runs, too */
	bool synced;	/* put_artifact: the file was, with SYNC_RC */
	int sync_rc;
	bool placed;   /* put_artifact: the file has its name */
	bool again;    /* there is more of it, for a later batch */
	bool is_ahead; /* what it asks first was asked with others */
	/* put_artifact: parts of it that the database has, and those of this batch */
	int64_t parts_kept, parts;
	struct store_lane *readq; /* its requestor's, of a read; or NULL */
	/* a later put of the same row does our work */
	struct store_req *superseded_by;
	char *inputs_carried; /* …and wrote these, which we left to it; owned */

	/* what was asked; strings are in text */
	struct store_run run;
	struct store_artifact artifact;
	struct store_session session;
	struct store_filter filter;
	struct store_share share;
	const char *requestor;
	const char *id;
	const char *key;
	const char *tmp_path;
	int64_t offset;
	int64_t limit;	 /* recover: how long the artifacts of such a run are */
	int64_t time_ms; /* recover: how long a run is kept that was lost;
			    send_mail has that in LIMIT */
	enum store_mail kind;
	struct store_recovery *recovery;

	/* what came of it; owned */
	struct store_result res;
	struct store_run *rows;
	char **row_text; /* a block per row */
	size_t rows_cap;
	struct store_artifact found;
	struct store_session found_session;
	/* an artifact's, a session's; what is shown; whom mail is for */
	char *found_text;
	struct store_letter *letters;
	struct store_use *uses;
	struct store_node *nodes;
	struct store_artifact *artifacts;
	char **artifact_text; /* a block each */
	void *data;
	char *errmsg;

	char text[];
};

STAILQ_HEAD(store_reqs, store_req);

/* Ask for OP, as ASKED says; all is copied. For store_api.c. */
void store_ask(struct store *s, const struct store_op *op,
	       const struct store_req *asked);

/* A request like ASKED, with copies of its strings. */
struct store_req *store_req_new(const struct store_op *op,
				const struct store_req *asked);
void store_req_free(struct store_req *r);
void store_req_forget(struct store_req *r); /* drop what it brought back */

/* R itself has failed, and nothing else has. ERRMSG is a printf format. */
void store_req_fail(struct store_req *r, int rc, const char *errmsg, ...)
    __attribute__((format(printf, 3, 4)));
/* A fresh row at the end of R's answer. */
struct store_run *store_req_row(struct store_req *r);

/* A file that goes once the transaction is durable. */
struct store_file {
	char folder[128]; /* of old uploads it has a digest */
	char id[ID_SIZE];
};

struct store_closing; /* store_leaving.c */

/* One that is in use, so often; or wanted to go meanwhile. */
struct store_held {
	char id[ID_SIZE];
	unsigned users;
	bool wanted;
};

struct store {
	char *dir;
	char *url;	 /* of the database; NULL: SQLite's, in DIR */
	char *db_path;	 /* what it is called where something is said of it */
	char *files;	 /* the folder whose artifacts/ has those… */
	bool in_rows;	 /* …unless the database has them in rows */
	int64_t look_ms; /* when to look for strays there, if others share it */
	char *instance;
	pthread_t thread;
	int event_fd;
	int wake_fd; /* eventfd: as WAKE, of an engine that rests; or -1 */
	atomic_bool resting;	   /* the thread waits for that */
	int nudge_fd;		   /* inotify(7) on our lock's file, or -1… */
	atomic_bool nudged;	   /* …and it is watched */
	struct store_lane *readqs; /* the caller's thread's, as these are: */
	int64_t lost_run_ms, lost_artifact_ms; /* store_keep_lost()'s */
	bool begun; /* there is a thread, since there was a request */
	void (*on_news)(void *arg);
	void *on_news_arg;
	char *node_name;
	void (*on_begin)(void *arg, int err);
	void *on_begin_arg;

	pthread_mutex_t lock; /* over this part */
	struct store_held *held;
	size_t n_held;
	pthread_cond_t wake; /* there is something for the thread */
	pthread_cond_t idle; /* there is nothing left to do */
	struct store_reqs queue;
	struct store_reqs finished;
	struct store_keep *lost_own; /* store_keep_lost()'s; owned */
	size_t n_lost_own;
	size_t queued;	   /* requests in queue… */
	size_t n_urgent;   /* …that do not wait… */
	size_t ends;	   /* …of these, rows of runs that have ended… */
	size_t others;	   /* …and of all, what is no row of a run */
	int64_t urgent_ms; /* when the oldest that does not wait came */
	int64_t lazy_until_ms; /* when the oldest lazy request has waited */
	bool busy;	       /* a batch is under way, or some are kept */
	bool worked;	       /* the thread has, since it rested last */
	bool dozing;	       /* it looks again before what is lazy is due */
	bool stopping;
	bool stopped;		      /* nothing is taken any more */
	bool abandon;		      /* time is up: what is left fails */
	bool used;		      /* it has been asked before */
	char failing[STORE_WHY_SIZE]; /* "" is well */
	int failing_rc;
	bool fails_writes;     /* a write met it, so only a write ends it */
	bool wrote, not_wrote; /* writes since the last diagnosis */
	bool lost; /* and will be until store_rejoin(), whatever else works */
	char *rejoin; /* the id to be known by from now on, or NULL */
	struct store_load load;
	bool sealed; /* SEAL_KEY is there */
	unsigned char seal_key[STORE_SEAL_BYTES];
	bool death;	/* another was found dead, and nobody was told yet */
	unsigned woken; /* STORE_WOKEN_…, and nobody was told yet */
	_Atomic int64_t poll_ms; /* see store_poll_ms(); of a shared one */
	atomic_uint epoch;	 /* one more with each store_rejoin() */
	_Atomic int64_t lease_until_ms; /* CLOCK_BOOTTIME, or STORE_NO_LEASE */
	_Atomic int64_t
	    beaten_ms; /* the same: the last beat that was answered */
	struct store_database about; /* of an engine that tells that */

	/* the thread's own */
	struct store_reqs retry_queue; /* to be tried again, in order */
	int64_t retry_ms;	       /* when */
	int64_t backoff_ms;
	const struct store_engine *engine;
	void *db;   /* the engine's own; NULL: it was never opened */
	bool alone; /* one request is tried by itself */
	const struct store_req *doing; /* whose EXEC is called */
	size_t company;		/* rows that wait on, while a batch is done */
	bool staging;		/* rows are put into staged, instead of runs */
	bool blind;		/* reads do not find in runs what is staged */
	int64_t blind_until_ms; /* so long reads do not try to move it */
	size_t staged;		/* rows: ours, and others' when it was opened */
	int64_t unstage_ms;	/* not before, after a failure */
	bool claim_failed;	/* the last store_claim() */
	struct store_file *leaving; /* with this transaction */
	size_t n_leaving;
	struct store_closing *closing; /* NULL: there was none yet */
	int parts_left;	 /* of artifacts, that this batch may write yet */
	int64_t beat_ms; /* when to say next that we live */
	struct {	 /* whom to wake */
		struct buf nodes;  /* a line each, after a newline */
		char run[ID_SIZE]; /* who may have this one, the last… */
		int runs;	   /* …of so many */
		int64_t next_ms;   /* not before */
	} wakes;
	int instance_fd; /* locked */
	char errmsg[STORE_WHY_SIZE];
	int why_rc; /* of the last failure, the text of which is ERRMSG */
};

/* An id ends at random, so its end is as good as a hash. */
#define STORE_SLOTS 512
size_t store_slot(const char *id);

/* URL without whom it names and what is behind a question mark; the caller's. */
char *store_url_name(const char *url);
/* The thread has beaten, or tried to: what is known of the database now. */
void store_note_about(struct store *s);
void store_note_reached(struct store *s);
/* An instance of several machines' ends its runs so long before others may call
 * it dead: a quarter of the lease. */
#define STORE_LEASE_MARGIN 4

/* Another was found dead: the caller's thread is to know. LOCK is not held. */
void store_tell_death(struct store *s);
/* We were: the same. */
void store_tell_lost(struct store *s);
struct store_load store_load(struct store *s);

/*
 * Once all that was written is durable: NODE, unless it is ourselves or "", is to look
 * at its mail; some that have room are to look at the queue, where RUN is.
 */
void store_wake_node(struct store *s, const char *node);
void store_wake_some(struct store *s, const char *run);
/* When the thread is to wake them; INT64_MAX: there is none. */
int64_t store_wake_due_ms(const struct store *s);
void store_wake_now(struct store *s);
/* We were woken for WHAT, STORE_WOKEN_…. LOCK is not held. */
void store_tell_woken(struct store *s, unsigned what);
/* We can be woken, so that to look each MS is enough; or can no more. */
void store_hears(struct store *s, int64_t ms);
void store_is_deaf(struct store *s);

#define STORE_BEAT_MS 1000 /* between heartbeats of an engine that has them */
#define STORE_FOREVER INT64_MAX

/* Without signals, which are the loop's; pthread_create(3)'s error. */
int store_thread_start(struct store *s);
/* To the thread goes R, owned; NULL is fine. */
void store_submit(struct store *s, struct store_req *r);
/* On C until MS (monotonic). LOCK is held. */
void store_wait_until(struct store *s, pthread_cond_t *c, int64_t ms);
/* There is something for the thread to see. */
void store_wake_thread(struct store *s);
/* When the thread has something to do (monotonic ms). LOCK is held. */
int64_t store_due_ms(const struct store *s);

/*
 * Run BATCH as one transaction. Afterwards it holds what has been decided;
 * what is to be tried again is at the end of KEPT. The words of the last
 * failure are S->why, "" when there was none.
 */
void store_batch(struct store *s, struct store_reqs *batch,
		 struct store_reqs *retry_queue);

#define STORE_STAGED_MANY                                                      \
	64 /* then they are moved, though there is more to do */

/* May all that BATCH has to do be staged? So many rows; 0: it may not. */
size_t store_stageable(const struct store *s, const struct store_reqs *batch);
/* In a transaction that writes: what is staged is where it belongs. 0 or -errno. */
int store_unstage(struct store *s);
int store_is_staged(struct store *s); /* is there any? 1, 0 or -errno */
int store_count_staged(struct store *s);
/* The same in a transaction of its own, which need not be durable. */
int store_unstage_now(struct store *s);
/* When the thread is to do so, which has other things to do at DUE; LOCK is held. */
int64_t store_unstage_due_ms(const struct store *s, int64_t due);
/* Do BATCH, of reads alone, in a transaction: it sees what is staged. */
int store_read(struct store *s, struct store_reqs *batch,
	       int (*execute)(struct store *s, struct store_reqs *batch));

/* Open what is not open: folder, instance lock, database. 0 or -errno. */
int store_sql_open(struct store *s);
/*
 * Another supervisor has what we need: wait a little, for the COUNT-th time.
 * False: that was long enough, or store_stop() wants an end.
 */
bool store_pause(struct store *s, int count);
void store_sql_close(struct store *s);

#define STORE_STR(t) ((struct store_value){.is_text = true, .text = (t)})
#define STORE_NUM(n) ((struct store_value){.number = (n)})

/* The statement, ready to be bound; its first step tells what is wrong. */
struct store_cursor *store_sql(struct store *s, enum store_stmt which);
/* The same with its parameters, from the first: STORE_STR(…), STORE_NUM(…). */
#define store_query(s, which, ...)                                             \
	store_query_values(s, which,                                           \
			   (const struct store_value[]){__VA_ARGS__},          \
			   sizeof((const struct store_value[]){__VA_ARGS__}) / \
			       sizeof(struct store_value))
struct store_cursor *store_query_values(struct store *s, enum store_stmt which,
					const struct store_value *v, size_t n);
/* The same, stepped: for what yields no row. 0 or -errno. */
#define store_change(s, which, ...)                                            \
	store_sql_step(s, store_query(s, which, __VA_ARGS__))
int store_sql_run(struct store *s, enum store_stmt which); /* no row wanted */
void store_sql_rollback(struct store *s); /* if there is a transaction */
/* Step to a row: 1, 0 at the end, or -errno. Not 1: the statement is reset. */
int store_sql_step(struct store *s, struct store_cursor *st);
void store_sql_reset(struct store_cursor *st); /* before its end */
/* Did the row that was written with RC break a rule of its table? */
bool store_is_refused(int rc);
/* Put -RC at PATH into S->why, with what would mend it; RC. */
int store_failed(struct store *s, int rc, const char *path);

void store_bind(struct store_cursor *st, int at, struct store_value v);
/* Column AT, "" for null; lent until the next step. */
const char *store_text(const struct store_cursor *st, int at);
int64_t store_number(const struct store_cursor *st, int at);

/* What a column of a statement is in a row's struct, and where. */
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
 * The first N columns of ST's row into ROW. Its texts are in one block, which the
 * caller owns and ROW borrows from; what is null or no column of ST is left as
 * it is.
 */
char *store_read_row(const struct store_cursor *st, void *row,
		     const struct store_column *columns, size_t n);

/* Take the lock of S's instance, unless it is held. 0 or -errno, why set. */
int store_instance_lock(struct store *s);
void store_instance_unlock(struct store *s); /* and remove its file */

/* Does the instance NAME hold its lock? */
bool store_instance_lives(struct store *s, const char *name);
char *store_instance_path(const struct store *s, const char *name);

/*
 * RUN, whose row was read for R, is open: whose is it, and what does that one
 * show of it? With BULK also its view and log. 0 or -errno.
 */
int store_read_shown(struct store *s, struct store_req *r,
		     struct store_run *run, bool bulk);

/*
 * Remove the file of the artifact ID in FOLDER; its row says from now on that it is
 * gone. 1; 0: it would not go, which is logged; or -errno.
 */
int store_drop_file(struct store *s, const char *folder, const char *id);

/* What PUT_ARTIFACT binds and others read: a row of st's into A, and its texts, the
 * caller's; A borrows from them. Columns after these begin at STORE_ARTIFACT_COLUMNS. */
#define STORE_ARTIFACT_COLUMNS 9
char *store_artifact_row(struct store_cursor *st, struct store_artifact *a);
/* One of ST's rows at the end of R's answer. */
void store_artifact_add(struct store_req *r, struct store_cursor *st);

/*
 * Forget the run ID with its artifacts and their files. 1; 0: a file would not
 * go, which is logged, and the run stays; or -errno.
 */
int store_drop_run(struct store *s, const char *requestor, const char *id);

/*
 * The bytes of an artifact are nobody's any more, once the transaction is durable: 0; 1: its
 * file would not go, which is logged; or -errno.
 */
int store_remove_bytes(struct store *s, const char *run_id, const char *id);
/* Is the file of ID in use? Then it is noted that it was to go. */
bool store_is_held(struct store *s, const char *id);
/* The transaction is durable: files that it let go are removed… */
void store_leaving_go(struct store *s);
void store_leaving_forget(struct store *s); /* …or it is not, and they stay */
/* At the end of the thread: none that has no name any more is left open. */
void store_closing_end(struct store *s);
#define STORE_CLOSING_MAX 128 /* at once; beyond that who deletes waits */

/* May RUN, whose row is to be put, wait there beside others of its requestor's? */
int store_queue_room(struct store *s, const struct store_run *run,
		     bool *is_there);
/* RUN, whose row was put, waits for any instance. 0 or -errno. */
int store_enqueue(struct store *s, const struct store_run *run);
/* R's is to be cancelled: 1, it was in the queue, of FOUND_TEXT, and has ended; 0, or -errno. */
int store_cancel_queued(struct store *s, struct store_req *r);
/*
 * What INSTANCE had queued, which is dead, waits for any; what nobody else can
 * start has failed, and is kept for KEPT_MS. 0 or -errno.
 */
int store_queue_again(struct store *s, const char *instance, int64_t now_ms,
		      int64_t kept_ms);

/* One row of STMT_CLAIM_QUEUED, STMT_GET_RUN… into R's answer. */
void store_run_row(struct store_req *r, struct store_cursor *st);

#endif
