/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the record of runs, artifacts and sessions, in a state directory.
 *
 *   STATE/paddock.db           SQLite, WAL, synchronous=FULL
 *   STATE/instances/ID         locked while the instance lives; another instance
 *                              touches the file after writing mail to the instance
 *   STATE/artifacts/RUN/ART    written, synced, then named; rows point at the files.
 *                              An upload has a folder of the upload's id
 *
 * Calls return at once. One thread owns the database: the thread takes the requests,
 * executes the requests in order in one transaction (reads see earlier writes), and
 * commits. Then each DONE is called, in order, from store_dispatch() on the caller's
 * thread. A few reads of whole runs and artifacts of one requestor are asked at a time;
 * the others wait, so that reads of other requestors are not delayed. Strings in a
 * request are *copied*; strings in a result are *lent* until DONE returns. Several
 * supervisors may share one directory.
 *
 * The time of a row is Unix milliseconds; 0 is none.
 */
#ifndef SUPERVISOR_STORE_STORE_H
#define SUPERVISOR_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "supervisor/store/store_columns.def"
#include "supervisor/store/store_shared.h"

struct store;

#define STORE_DATABASE_NAME 256

/* The stored values; never renumber. */
enum store_status {
	STORE_QUEUED = 0,
	STORE_RUNNING = 1,
	STORE_SUCCEEDED = 2,
	STORE_FAILED = 3,
	STORE_PARTIAL_SUCCESS = 4,
	STORE_CANCELED = 5,
	STORE_STATUSES
};

/* The form of a run's task, by the tool that tasks/result answers for; never renumber. */
enum store_task {
	STORE_TASK_NONE = 0,
	STORE_TASK_VIEW = 1,   /* run_task_template: the run's view */
	STORE_TASK_OUTPUT = 2, /* the template's tool: its plain output */
	STORE_TASK_REPLY =
	    3, /* the template's tool: the template's own tool result */
};

/* The owner of an open run, for the reader of the row. */
enum store_owner {
	STORE_OWNER_NONE =
	    0, /* the run has ended, or the owner was not looked for */
	STORE_OWNER_SELF,
	STORE_OWNER_OTHER, /* another, living instance */
	STORE_OWNER_DEAD,  /* store_recover() takes it over */
	STORE_OWNER_QUEUE, /* no instance: the run waits in the common queue */
};

/* The instances that may start a waiting run, where instances share a queue. */
enum store_wait {
	STORE_WAITS_HERE = 0, /* in the queue of the run's instance alone */
	STORE_WAITS_PINNED, /* in the common queue, for the run's instance alone */
	STORE_WAITS_ANYWHERE, /* for each instance that serves the run */
	STORE_WAITS_LEFT, /* likewise; the run's instance has dropped the run */
	STORE_WAITS_ELSEWHERE, /* for each other instance that serves the run */
};

struct store_run {
	char id[ID_SIZE];
	const char *requestor;
	/* JSON. NULL: no inputs are kept, or, written, INPUTS_BEFORE is not 0 */
	const char *inputs;
	/* written: the row's inputs, of so many bytes, stay; 0: no inputs */
	int64_t inputs_before;
	STORE_RUN_HEAD(STORE_RUN_MEMBER, )
	STORE_RUN_BULK(STORE_RUN_MEMBER, )
	STORE_RUN_ADDED(STORE_RUN_MEMBER, )
	/* written: CPU time as far as the writer knows. The row's never becomes less */
	int64_t cpu_ms;
	bool began_here; /* written: the last attempt began at the writer */
	/*
	 * Written: whether a first row was committed is not known. If another run has the
	 * idempotency key by now, no row is made.
	 */
	bool unsure;
	/*
	 * Written: the client was told that there is no such run. On PostgreSQL a row of
	 * the run is deleted, unless another instance has claimed the run.
	 */
	bool refused;
	/*
	 * Written: corrects view and cpu_ms, which may be less, in the row of an ended
	 * run. Without a row no row is made.
	 */
	bool corrects;

	/* The next six are written of a QUEUED run, which enters the common queue. */
	enum store_wait waits;
	int64_t weight; /* of the requestor: 1 or more */
	/* -EXFULL if as many runs of the requestor wait there; 0: no bound */
	int64_t queued_most;
	/* the place that the run had before, also read by a claim; 0: a new place */
	int64_t vtime;
	/* name of the run's resident; or NULL */
	const char *notebook;
	/* the other instance that queued the run, and is told of the end; or "" */
	char home[ID_SIZE];

	/* Read of an open run by id; then view, log and task_note are those shown last. */
	enum store_owner owner;
	/* JSON: questions to clients; on PostgreSQL alone */
	const char *asked;
	const char
	    *node;     /* name of the node that has or had the run; or NULL */
	bool awaiting; /* the run waits for an answer of a client */
	int64_t shown_until_ms; /* until when the owner renews the shown view */
	int64_t log_until_ms;	/* until when the owner renews the shown log */
	int64_t shown_seq, log_seq; /* counters of changes of view and log */
};

/*
 * Returns the bytes of RUN's row in the requestor's account: inputs, options, view, log,
 * and STORE_ROW_BYTES for the other columns.
 */
#define STORE_ROW_BYTES 512
int64_t store_row_bytes(const struct store_run *run);

/* Does the row of the waiting RUN have all inputs? */
static inline bool store_has_inputs(const struct store_run *run)
{
	return run->inputs != NULL &&
	       (run->inputs_lack == NULL || run->inputs_lack[0] == '{');
}

/* Do the inputs of RUN stay in the row after the run has begun? */
static inline bool store_keeps_inputs(const struct store_run *run)
{
	return run->inputs_lack == NULL || run->inputs_lack[0] != '{';
}

/* Kinds of mail about a run from one instance to another; never renumber. */
enum store_mail {
	STORE_MAIL_CANCEL = 1,
	STORE_MAIL_WATCH = 2, /* show the run's view */
	STORE_MAIL_LOG = 3,   /* show the run's log */
	/* news of a run that the reader put into the common queue */
	STORE_MAIL_CLAIMED = 4, /* another instance has claimed the run */
	STORE_MAIL_OVER = 5,	/* the run has ended at another instance */
	/* a client of another node asks to end the resident BODY of REQUESTOR */
	STORE_MAIL_END_RESIDENT = 6,
	/* the same, since REQUESTOR needs the room for another resident */
	STORE_MAIL_EVICT_RESIDENT = 7,
	STORE_MAIL_ANSWER =
	    16, /* an answer of a client, of this number or above */
};

/*
 * What an artifact takes of the requestor's account beside the artifact's bytes: a file, a
 * folder, a row with places in indexes.
 */
#define STORE_ARTIFACT_BYTES 8192

struct store_message {
	char run_id[ID_SIZE]; /* or STORE_MESSAGE_TO_SESSION */
	enum store_mail kind;
	int64_t until_ms; /* the message is of no use afterwards */
	/* of an answer, or of an end: */
	int64_t number; /* for store_drop_answer() */
	char *body;
	char *requestor;
};

/* The run_id of an answer by store_send_to(). */
#define STORE_MESSAGE_TO_SESSION "session"
/* Answers in one read, at most: by number, or by bytes and one answer more. */
#define STORE_MESSAGES_READ 64
#define STORE_MESSAGE_BYTES_READ 1048576
/* Unread answers of one requestor at all instances, at most. */
#define STORE_MESSAGES_MAX 1024
#define STORE_MESSAGE_BYTES_MAX 16777216

struct store_artifact {
	char id[ID_SIZE];
	char run_id[ID_SIZE];
	const char *requestor;
	const char *name;
	const char *mime_type;
	const char *sha256; /* hex */
	int64_t size;
	int64_t created_ms;
	int64_t expires_ms; /* 0: the run has not ended yet */
};

/*
 * A session over HTTP. The client knows the session's id; the store has the id's SHA-256,
 * so that a reader of the database cannot use the session.
 */
struct store_session {
	const char *key; /* SHA-256 of the id, hex */
	const char *requestor;
	const char
	    *credential;      /* hash of the requestor's token; "": no token */
	const char *revision; /* of MCP */
	const char *client;   /* JSON: the client's capabilities */
	const char *uris;     /* JSON: the client's subscriptions */
	int log_level;
	int64_t
	    used_ms; /* last use: of too many sessions the longest unused go */
	int64_t expires_ms;
	bool
	    was_there; /* written: without a row the session was ended, and stays so */
};

/* A grant that a client proposed, until an operator decides. */
struct store_proposal {
	char id[ID_SIZE];
	const char *requestor, *template_id, *digest;
	const char *body; /* JSON: the wishes and the reason */
	int64_t made_ms, expires_ms;
	int64_t approved_ms; /* 0: waits */
	char *text;	     /* the store's own block of the texts */
};

#define STORE_PROPOSALS_EACH 8 /* of one requestor */
#define STORE_PROPOSALS_MAX 256

/* Sums over the runs of one requestor by one template. */
struct store_use {
	char *requestor;
	char *template_id; /* "": uploads in place of runs */
	int64_t runs;	   /* deleted runs count, too */
	int64_t cpu_ms;	   /* likewise */
	int64_t bytes;	   /* of rows and artifacts that are not deleted */
};

#define STORE_USES_MAX 1000		     /* in an answer */
#define STORE_USE_HOUR_MS ((int64_t)3600000) /* the unit of time of the sums */
#define STORE_USE_KEPT_MS                                                      \
	(STORE_USE_HOUR_MS * 24 * 366) /* how long sums are kept */

#define STORE_SESSIONS_EACH 2048 /* of one requestor */
#define STORE_SESSIONS_MAX 8192

/* The result for DONE. Only the members that the request fills are set. */
struct store_result {
	int rc;		    /* 0, or -errno: -ENOENT not found; -EIO,
				   -ENOSPC, -EROFS, -EACCES and the like;
				   -EUCLEAN the database is damaged; -ENOTSUP
				   a newer paddock made the database;
				   -ECANCELED store_stop() was called */
	const char *errmsg; /* rc != 0: the failure with the path and the
				   remedy, for the log; else "" */
	const struct store_run *runs; /* found, listed, reclaimed */
	size_t n_runs;
	int64_t
	    total; /* list: the number of matches; delete: of deleted rows */
	const char *next; /* delete: the id to go on from, or NULL */
	const struct store_artifact *artifact;
	/* list_artifacts; delete_uploads: artifacts whose files could not be deleted */
	const struct store_artifact *artifacts;
	size_t n_artifacts;
	const struct store_session *session; /* get_session */
	const void *data; /* read_artifact: the bytes of the range */
	size_t len;
	int64_t artifact_bytes; /* usage: of the requestor's live artifacts */
	int64_t row_bytes;	/* usage: of rows, by store_row_bytes() */
	const struct store_node *nodes;
	size_t n_nodes;
	const struct store_resident *residents;
	size_t n_residents;
	const char *text; /* home_resident: why a state was lost; or NULL */
	const struct store_proposal *proposals; /* listed, or the added one */
	size_t n_proposals;
	const struct store_use *uses;
	size_t n_uses;
	size_t interrupted;		  /* recover: runs that were running */
	const struct store_message *mail; /* read_mail */
	size_t n_mail;
	bool more;		  /* more answers may be unread */
	struct store_share share; /* share */
	bool waits; /* look_at_queue: runs that this instance may claim wait */
	bool
	    unserved; /* look_at_queue: runs have long been claimed by no instance */
};

/*
 * Make a store in STATE_DIR (*copied*), which is created (0700) when missing. Before the
 * first request no file is opened, and no thread exists; a failure then fails each
 * request. INSTANCE is this supervisor's id (*copied*). NULL and errno: no descriptor
 * was available.
 */
struct store *store_start(const char *state_dir, const char *instance);

/*
 * Keep rows in the database of URL (*copied*), a postgresql:// address, in place of
 * STATE_DIR. NULL or "": in STATE_DIR. Call before the first request.
 */
void store_set_url(struct store *s, const char *url);

/*
 * Keep the bytes of artifacts in FOLDER/artifacts (*copied*), or, if NULL, in a
 * PostgreSQL database. Without the call: in STATE_DIR/artifacts. Call after
 * store_set_url().
 */
void store_set_artifacts(struct store *s, const char *folder);

/*
 * Call ON_BEGIN at the first request, and execute the requests of ON_BEGIN before the
 * first request. ERR: no thread could be started, and no request will be answered.
 */
void store_on_begin(struct store *s, void (*on_begin)(void *arg, int err),
		    void *arg);
bool store_is_begun(const struct store *s);
/* Begin without a request. */
void store_begin(struct store *s);

/* Readable when store_dispatch() has work. Owned by the store. */
int store_fd(const struct store *s);
/* Call each due DONE, in order, for STORE_DISPATCH_US at most. */
#define STORE_DISPATCH_US 2000 /* then other events have a turn */
void store_dispatch(struct store *s);

/*
 * Wait until all requests are done or have failed, TIMEOUT_MS at most; dispatch the
 * results, release the instance's lock, and free S. NULL is fine.
 */
void store_stop(struct store *s, int timeout_ms);

/*
 * Hold the file of artifact ID: a deleted artifact's file stays, and counts, until
 * store_release() was called as often. store_release() returns true if the artifact was
 * deleted meanwhile: a sweep removes the file then.
 */
void store_hold(struct store *s, const char *id);
bool store_release(struct store *s, const char *id);

/* The state of a database server about a second ago. */
struct store_database {
	bool
	    reachable; /* at the last try; false: the other members are older */
	bool standby;  /* the server takes no writes */
	int64_t latency_us; /* of one round trip; 0: not measured yet */
	int64_t nodes;	    /* living nodes, with this node */
	int64_t waiting;    /* rows in memory that wait to be written */
	int64_t schema;	    /* the version of the tables; 0: no tables */
	int64_t
	    schema_known; /* the version that this program makes and reads */
	char version[32]; /* of the server: "15.13" */
	char name[STORE_DATABASE_NAME]; /* the url without user and options */
};

/* Fill ABOUT. False: the database is a file in the state folder. */
bool store_about(struct store *s, struct store_database *about);
/*
 * Look at the database of URL as a start would: connect, for 5 s at most, and change
 * nothing. 0 and ABOUT filled, or -errno and ERRMSG as in struct store_result.
 */
int store_look_database(const char *url, struct store_database *about,
			char *errmsg, size_t size);

/* Return the text of the last error of a failing store, or NULL. */
const char *store_failing(struct store *s);

/*
 * Return words for clients for -errno, about the server ("its disk is full"), without a
 * path; ERRMSG and store_failing() have the path for the log.
 */
const char *store_says(int rc);
/* Return the remedy for -errno, for the operator, to stand behind path and error. */
const char *store_remedy(int rc);
const char *store_failing_message(struct store *s); /* NULL: the store works */
/*
 * Return the exit status (sysexits(3)) of a daemon that finds -errno at the start; 0: the
 * error may pass, and the daemon starts.
 */
int store_ends_start(int rc);

/*
 * Is STATE_DIR a state folder of paddock, or a folder without a database? The files are
 * read without SQLite. 0, or -errno and ERRMSG as in struct store_result.
 */
int store_look(const char *state_dir, char *errmsg, size_t size);
/*
 * May files be made in STATE_DIR and the folders in STATE_DIR? Missing folders would be
 * made. 0, or -errno and in AT (the caller's) the folder.
 */
int store_folders(const char *state_dir, char **at);

enum store_urgency {
	STORE_DEFERRED, /* wait up to 50 ms for a later put of the same row, or for
		       a request that is no put_run and is executed after.
		       Fails like STORE_SYNC */
	STORE_SYNC,  /* commit as soon as possible; a failure is told to DONE,
		       and the request is dropped */
	STORE_RETRY, /* for promised rows: after a failure kept and tried again
		       until written, or until store_stop(). DONE is told of
		       failures for good alone: -EINVAL, -E2BIG, an artifact
		       whose bytes are lost */
};

/*
 * Insert RUN as a row, or replace the row of RUN's id. The row names this instance. A
 * deferred request and a later request for the same row may become one write. DONE may
 * be NULL. -EEXIST: another run has idem_key; STORE_RETRY then writes RUN without the key.
 */
void store_put_run(struct store *s, const struct store_run *run,
		   enum store_urgency urgency, store_done done, void *arg);

/*
 * Read the run ID of REQUESTOR: 0 and runs[0], or -ENOENT. If the owner of an open run
 * shows the run (store_show()), view, log and task_note are those shown last.
 */
void store_get_run(struct store *s, const char *requestor, const char *id,
		   store_done done, void *arg);

/* Read likewise, with inputs and inputs_lack, and without options, view and log. */
void store_get_inputs(struct store *s, const char *requestor, const char *id,
		      store_done done, void *arg);

/*
 * Find the run with KEY of REQUESTOR and TEMPLATE_ID, or -ENOENT. The row is as by
 * store_get_task().
 */
void store_find_idem(struct store *s, const char *requestor,
		     const char *template_id, const char *key, store_done done,
		     void *arg);

/*
 * Find the newest run with the column journal = KEY that a run of REQUESTOR called, and
 * that succeeded; or -ENOENT. The run and all its artifacts are there until UNTIL_MS at
 * least. The row is as by store_get_task().
 */
void store_find_child(struct store *s, const char *requestor, const char *key,
		      int64_t until_ms, store_done done, void *arg);

struct store_filter {
	const char *requestor;
	int status;		 /* enum store_status, or -1 for any */
	const char *template_id; /* NULL: any */
	const char *from;	 /* the first id; NULL: of all */
	const char *before;	 /* the id after the last; NULL: all */
	int64_t offset;
	int limit;
};

/* List runs, newest first, without inputs, options, view and log. */
void store_list_runs(struct store *s, const struct store_filter *f,
		     store_done done, void *arg);

/* Read one run as store_get_run(), without inputs, options, view and log. */
void store_get_task(struct store *s, const char *requestor, const char *id,
		    store_done done, void *arg);

/*
 * List REQUESTOR's tasks that have not expired at NOW_MS, newest first, LIMIT at most, with
 * ids before BEFORE (NULL: all). Rows are as by store_get_task().
 */
void store_list_tasks(struct store *s, const char *requestor,
		      const char *before, int64_t now_ms, int limit,
		      store_done done, void *arg);

/*
 * Keep artifact A, whose bytes are in TMP_PATH (made by artifact_file.h): sync the file,
 * rename the file into place, and write the row. TMP_PATH is gone afterwards in any case.
 */
void store_put_artifact(struct store *s, const struct store_artifact *a,
			const char *tmp_path, enum store_urgency urgency,
			store_done done, void *arg);

/* Have all artifacts of RUN_ID expire at EXPIRES_MS. */
void store_expire_artifacts(struct store *s, const char *run_id,
			    int64_t expires_ms);

/*
 * Read the bytes [offset, offset + limit) and the row of an artifact of REQUESTOR.
 * -ENOENT: REQUESTOR has no such artifact; -ESTALE: expired; -ERANGE: OFFSET is beyond
 * the size (the row is filled).
 */
void store_read_artifact(struct store *s, const char *requestor, const char *id,
			 int64_t offset, int64_t limit, store_done done,
			 void *arg);
/*
 * Take the bytes from RES, a result of store_read_artifact(), in its callback: the
 * caller's, so that many bytes need no copy. RES has no bytes from then on.
 */
void *store_take_bytes(const struct store_result *res);

/*
 * List the unexpired uploads of REQUESTOR, and with ALL also the artifacts of REQUESTOR's
 * runs, newest first, LIMIT at most: ids from FROM on (NULL: all) before BEFORE (NULL:
 * all). The result has them in artifacts.
 */
void store_list_artifacts(struct store *s, const char *requestor, bool all,
			  const char *from, const char *before, int limit,
			  store_done done, void *arg);

void store_usage(struct store *s, const char *requestor, store_done done,
		 void *arg);

/*
 * Sum up runs created in the hour of SINCE_MS or later, by requestor (NULL: of all
 * requestors) and template, most CPU time first. The result has the sums in uses.
 */
void store_used(struct store *s, const char *requestor, int64_t since_ms,
		store_done done, void *arg);

/*
 * Keep PROPOSAL, unless the id is known; the result has the kept row. -EDQUOT: as many as
 * may wait, of the requestor or of all, wait already.
 */
void store_add_proposal(struct store *s, const struct store_proposal *proposal,
			store_done done, void *arg);
/*
 * List the proposals of REQUESTOR (NULL: of all), or the one called ID, that have not
 * expired at NOW_MS, oldest first.
 */
void store_list_proposals(struct store *s, const char *requestor,
			  const char *id, int64_t now_ms, store_done done,
			  void *arg);
/*
 * Note that the proposal ID was approved at NOW_MS; 0: delete the proposal. -ENOENT: no
 * such proposal.
 */
void store_end_proposal(struct store *s, const char *id, int64_t now_ms,
			store_done done, void *arg);

/* Insert SESSION, or replace the session of the key; above the bounds old sessions go. */
void store_put_session(struct store *s, const struct store_session *session,
		       enum store_urgency urgency, store_done done, void *arg);

/* Read the session of KEY, of any requestor. -ENOENT: none, or expired before NOW_MS. */
void store_get_session(struct store *s, const char *key, int64_t now_ms,
		       store_done done, void *arg);

/*
 * Delete the session of KEY for good; while no write is possible, the request waits.
 * store_drop_sessions() deletes all sessions of REQUESTOR.
 */
void store_drop_session(struct store *s, const char *key,
			enum store_urgency urgency, store_done done, void *arg);
void store_drop_sessions(struct store *s, const char *requestor);

/*
 * Take over the runs of dead instances, whose instance file is not locked; one survivor
 * takes over each dead instance. Running runs become failed, without a view. Queued runs,
 * and running runs with options, which are tried again, become queued runs of this
 * instance, and are in runs of the result with inputs and options, except runs that were
 * to be cancelled. Stray files are removed.
 */
void store_recover(struct store *s, store_done done, void *arg);
/*
 * Set how long interrupted runs and their artifacts are kept; OWN (*copied*) has other
 * times for N requestors.
 */
struct store_keep {
	const char *requestor;
	int64_t run_ms;
};
void store_keep_lost(struct store *s, int64_t run_ms, int64_t artifact_ms,
		     const struct store_keep *own, size_t n);
/* Take over likewise, but leave queued runs to another instance. */
void store_recover_begun(struct store *s, store_done done, void *arg);

/*
 * Ask the owner of REQUESTOR's open run ID for KIND until UNTIL_MS, and wake the owner. A
 * run has one row of mail for each kind, which the run's end removes. DONE (may be NULL)
 * gets 0 when the mail is durable, also if there is no such run or this instance has the
 * run. Cancelling a run in the common queue ends the run.
 */
void store_send_mail(struct store *s, const char *requestor, const char *id,
		     enum store_mail kind, int64_t until_ms, store_done done,
		     void *arg);
/*
 * Send the owner of REQUESTOR's open run ID the answer BODY of a client, until UNTIL_MS.
 * As store_send_mail(), but -EOPNOTSUPP on SQLite, and -ENOBUFS when STORE_MESSAGES_MAX
 * answers of REQUESTOR are unread. Each instance counts by itself, so that several
 * instances at once may exceed the bound by as much.
 */
void store_send_answer(struct store *s, const char *requestor, const char *id,
		       const char *body, int64_t until_ms, store_done done,
		       void *arg);
/*
 * Send the living INSTANCE the answer BODY of REQUESTOR, which is about no run. As
 * store_send_answer(). The answer is deleted when INSTANCE is gone.
 */
void store_send_to(struct store *s, const char *requestor, const char *instance,
		   const char *body, int64_t until_ms, store_done done,
		   void *arg);
/* Delete the answer L, which was read. */
void store_drop_answer(struct store *s, const struct store_message *l);
/*
 * Read the mail for this instance, also mail that was read before. With ANSWERS also some
 * answers, of each requestor in turn; further answers are read when those were dropped.
 */
void store_read_mail(struct store *s, bool answers, store_done done, void *arg);

/*
 * Return a descriptor, the store's, which is readable after a wake-up: the caller reads
 * the descriptor empty, then reads the mail. -1: wake-ups are not available.
 */
int store_nudge_fd(const struct store *s);
/*
 * Return the time between two looks at the mail, and of an idle instance at the common
 * queue: longer while wake-ups are available.
 */
#define STORE_POLL_MS 250
#define STORE_POLL_WOKEN_MS 1000
int64_t store_poll_ms(const struct store *s);

/*
 * Show the open RUN of this instance to other instances: id, requestor, awaiting,
 * task_note, view, log (NULL: as before), and until when view and log are renewed.
 */
void store_show(struct store *s, const struct store_run *run);

/*
 * Test whether the store can be written, by a write that changes nothing. A missing state
 * folder is made.
 */
void store_probe(struct store *s, store_done done, void *arg);
/* Test whether the store can be opened. Only missing files are made. */
void store_open(struct store *s, store_done done, void *arg);

/*
 * Delete the run ID of REQUESTOR with the run's artifacts. -ENOENT; -EBUSY: the run has not
 * ended (status is in runs[0]); -EIO: a file could not be deleted, and the run stays.
 */
void store_delete_run(struct store *s, const char *requestor, const char *id,
		      store_done done, void *arg);
/*
 * Delete runs of F that ended before BEFORE_MS, a few in a call, so that other requests
 * have turns. The result has the number of deleted runs in total, the ids of runs whose
 * files could not be deleted in runs, and in next the id for F->from of the next call;
 * NULL: done. F's offset and limit are not used.
 */
void store_delete_ended(struct store *s, const struct store_filter *f,
			int64_t before_ms, store_done done, void *arg);

/*
 * Delete the upload ID of REQUESTOR. -ENOENT: no such artifact, or expired; -EPERM: the
 * artifact is of a run, and goes with the run; -EIO: the file could not be deleted, and
 * the upload stays.
 */
void store_delete_upload(struct store *s, const char *requestor, const char *id,
			 store_done done, void *arg);
/*
 * Delete uploads before BEFORE_MS, with ids from FROM on, a few in a call as
 * store_delete_ended(): the result has total, artifacts, next.
 */
void store_delete_uploads(struct store *s, const char *requestor,
			  const char *from, int64_t before_ms, store_done done,
			  void *arg);

/* How long an expired upload is still answered as expired. */
#define STORE_UPLOAD_NOTED_MS ((int64_t)30 * 24 * 3600000)

/* Delete tasks, sessions, files of artifacts, and runs that expired before NOW_MS. */
void store_sweep(struct store *s, int64_t now_ms);

#endif
