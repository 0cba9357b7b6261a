/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - what survives: runs, artifacts and sessions in a state directory.
 *
 *   STATE/paddock.db           SQLite, WAL, synchronous=FULL
 *   STATE/instances/ID         locked for as long as its supervisor lives;
 *                              touched by another that has written to it
 *   STATE/artifacts/RUN/ART    written, synced, then named; rows point at them.
 *                              What was uploaded has a folder of its own: its
 *                              run_id is its id
 *
 * Calls return at once. One thread owns the database: it takes what has been
 * asked, does it in order in one transaction (reads see earlier writes), and
 * commits; then each DONE is called, in order, from store_dispatch() on the
 * caller's thread. Of one requestor's reads of whole runs and artifacts a few
 * are asked at a time; the others wait, so that they delay nobody else's. Strings in a request are copied; those in a result are
 * lent until DONE returns. Several supervisors may share one directory.
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

/* What a run is as a task, and whose answer tasks/result gives; likewise. */
enum store_task {
	STORE_TASK_NONE = 0,
	STORE_TASK_VIEW = 1,   /* run_task_template: the run's view */
	STORE_TASK_OUTPUT = 2, /* the template's tool: its plain output */
	STORE_TASK_REPLY = 3,  /* the same, which made the whole result */
};

/* Whose an open run is, as who reads its row finds it. */
enum store_owner {
	STORE_OWNER_NONE = 0, /* it has ended, or it was not looked for */
	STORE_OWNER_SELF,
	STORE_OWNER_OTHER, /* another instance, which lives */
	STORE_OWNER_DEAD,  /* store_recover() takes it over */
	STORE_OWNER_QUEUE, /* nobody's: it waits for any that has room, and
			      all there is to know of it is its row */
};

/* Who may start a run that waits, where instances share a queue. */
enum store_wait {
	STORE_WAITS_HERE = 0, /* it is in no queue but its instance's own */
	STORE_WAITS_PINNED,   /* in that of all, for its instance alone */
	STORE_WAITS_ANYWHERE, /* for any that serves it */
	STORE_WAITS_LEFT,     /* the same, and its instance knows it no more */
};

struct store_run {
	char id[ID_SIZE];
	const char *requestor;
	/* JSON; NULL: none are kept, or, written, INPUTS_BEFORE is not 0 */
	const char *inputs;
	/* written: the row's inputs of so many bytes stay; 0: it has none */
	int64_t inputs_before;
	STORE_RUN_HEAD(STORE_RUN_MEMBER, )
	STORE_RUN_BULK(STORE_RUN_MEMBER, )
	STORE_RUN_ADDED(STORE_RUN_MEMBER, )
	/* that it has used, as far as who writes knows; not read. What its row
	   has is never less than before */
	int64_t cpu_ms;
	bool began_here; /* its last attempt, at who writes; not read */
	/* its first row may not be there: where another has its key by now, it is not,
	   and none is made */
	bool unsure;
	/* who asked for it was told that there is none: what may be there of it goes,
	   where it is shared, unless another has claimed it */
	bool refused;
	/* it has ended, and its row is put right: view and cpu_ms, which may be less;
	   where there is none, none is made */
	bool corrects;

	/* Of a QUEUED one, written: it is put into the queue of all instances,
	   unless it is there… */
	enum store_wait waits;
	int64_t weight; /* …one turn for each of so many: 1 or more… */
	/* …if fewer of its requestor's wait there: else -EXFULL; 0: however many… */
	int64_t queued_most;
	/* …or at this place, which it had before: claimed, too */
	int64_t vtime;
	/* …who put it there, another, and is to hear of its end; or "" */
	char home[ID_SIZE];

	/* Of an open run, read by its id; view, log, task_json_note as shown then: */
	enum store_owner owner;
	/* JSON: what it asks of clients; on several machines alone */
	const char *asked;
	const char *node; /* of the machine that has it, or ran it; or NULL */
	bool awaiting;	  /* it waits for an answer of its client's */
	int64_t shown_until_ms; /* its owner keeps what it shows fresh until */
	int64_t log_until_ms;	/* …and its log */
	int64_t shown_seq, log_seq; /* one more with each change of those */
};

/*
 * What RUN takes of its requestor's account: inputs, options, view, log, and
 * STORE_ROW_BYTES for the rest of it.
 */
#define STORE_ROW_BYTES 512
int64_t store_row_bytes(const struct store_run *run);

/* Does RUN, which waits, have all that it is started with? */
static inline bool store_has_inputs(const struct store_run *run)
{
	return run->inputs != NULL &&
	       (run->inputs_lack == NULL || run->inputs_lack[0] == '{');
}

/* Do they stay once it has begun? */
static inline bool store_keeps_inputs(const struct store_run *run)
{
	return run->inputs_lack == NULL || run->inputs_lack[0] != '{';
}

/* What one instance may ask another for, about a run; never renumber. */
enum store_mail {
	STORE_MAIL_CANCEL = 1,
	STORE_MAIL_WATCH = 2, /* show its view */
	STORE_MAIL_LOG = 3,   /* show its log */
	/* nobody asks: of a run that this one has queued for all… */
	STORE_MAIL_CLAIMED = 4, /* …another has it now */
	STORE_MAIL_OVER = 5,	/* …the same, and it has ended */
	STORE_MAIL_ANSWER = 16, /* what clients say; such a number each */
};

/*
 * What each artifact takes of it beside its own bytes, whatever their number: a file, a
 * folder, a row with its places in indexes.
 */
#define STORE_ARTIFACT_BYTES 8192

struct store_letter {
	char run_id[ID_SIZE]; /* an answer's may be about none */
	enum store_mail kind;
	int64_t until_ms; /* nobody needs it any more then */
	int64_t number;	  /* an answer's, by which it is dropped… */
	char *body;	  /* …what it says; or NULL… */
	char *requestor;  /* …and who */
};

/* As run_id: the answer is of store_send_to(). */
#define STORE_LETTER_TO_SESSION "session"
/* Of answers so many are read at once, or of so many bytes and one more. */
#define STORE_LETTERS_READ 64
#define STORE_LETTER_BYTES_READ 1048576
/* So many of a requestor's may be on their way, of all instances. */
#define STORE_LETTERS_MAX 1024
#define STORE_LETTER_BYTES_MAX 16777216

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
 * A conversation over HTTP, of which a client knows the id; what is stored is
 * its SHA-256, so that nobody goes on with it who has read the database.
 */
struct store_session {
	const char *key; /* that, hex */
	const char *requestor;
	const char *credential; /* what REQUESTOR showed, hashed; "": nothing */
	const char *revision;	/* that was negotiated */
	const char *client;	/* JSON: the capabilities that it declared */
	const char *uris;	/* JSON: what it is subscribed to */
	int log_level;
	int64_t used_ms; /* last; of too many the longest unused go */
	int64_t expires_ms;
	bool was_there; /* put: one that is gone was ended, and stays so */
};

/* What the runs of a requestor's by one template are and have, together. */
struct store_use {
	char *requestor;
	char *template_id; /* "": not runs, but what it uploaded */
	int64_t runs;	   /* those that are deleted count, too… */
	int64_t cpu_ms;
	int64_t bytes; /* …but not here: rows and artifacts that are kept */
};

#define STORE_USES_MAX 1000		     /* of them in an answer */
#define STORE_USE_HOUR_MS ((int64_t)3600000) /* it is counted by the hour… */
#define STORE_USE_KEPT_MS (STORE_USE_HOUR_MS * 24 * 366) /* …for so long */

#define STORE_SESSIONS_EACH 2048 /* of one requestor */
#define STORE_SESSIONS_MAX 8192

/* What DONE is told. Only the fields that its request fills are set. */
struct store_result {
	int rc;		    /* 0, or -errno: -ENOENT not found, -EIO,
				   -ENOSPC, -EROFS, -EACCES …; -EUCLEAN the
				   database is damaged, -ENOTSUP a newer
				   paddock's, -ECANCELED store_stop() came */
	const char *errmsg; /* rc != 0: what failed, with the path, and what
				   would mend it, for the log; else "" */
	const struct store_run *runs; /* found, listed, reclaimed */
	size_t n_runs;
	int64_t total; /* list: how many match in all; delete: how many went */
	const char *next; /* delete_…: where to go on, or NULL */
	const struct store_artifact *artifact;
	/* list_artifacts; delete_uploads: those whose files would not go */
	const struct store_artifact *artifacts;
	size_t n_artifacts;
	const struct store_session *session; /* get_session */
	const void *data; /* read_artifact: the bytes of the range */
	size_t len;
	int64_t artifact_bytes; /* usage: the requestor's live artifacts… */
	int64_t row_bytes;	/* …and rows, as store_row_bytes() has each */
	const struct store_node *nodes;
	size_t n_nodes;
	const struct store_use *uses;
	size_t n_uses;
	size_t interrupted;		 /* recover: runs that were running */
	const struct store_letter *mail; /* read_mail */
	size_t n_mail;
	bool more;		  /* there may be other answers */
	struct store_share share; /* share */
	bool waits; /* look_at_queue: some would be ours, when asked for… */
	bool unserved; /* …and some have not been anybody's for long */
};

/*
 * A store in STATE_DIR (copied), which is created (0700) when missing. Nothing is
 * opened, and there is no thread, before the first request; what fails then fails
 * each request. INSTANCE is this supervisor's id (copied). NULL and errno: there
 * is no descriptor to be had.
 */
struct store *store_start(const char *state_dir, const char *instance);

/*
 * Its rows are in the database of URL's (copied), not in STATE_DIR: postgresql://….
 * NULL or "": they are. Before the first request.
 */
void store_set_url(struct store *s, const char *url);

/*
 * Where bytes of artifacts are from now on, which is STATE_DIR/artifacts unless it is
 * said: in FOLDER/artifacts (copied), or in the database (NULL), when it is
 * PostgreSQL's. After store_set_url().
 */
void store_set_artifacts(struct store *s, const char *folder);

/*
 * ON_BEGIN is called with the first request, which goes after what it asks for
 * itself. ERR: there is no thread to be had, and nothing will be answered.
 */
void store_on_begin(struct store *s, void (*on_begin)(void *arg, int err),
		    void *arg);
bool store_is_begun(const struct store *s);
/* As the first request does, without one. */
void store_begin(struct store *s);

/* Readable when store_dispatch() has work. Owned by the store. */
int store_fd(const struct store *s);
/* Call each DONE that is due, in order, until STORE_DISPATCH_US are over. */
#define STORE_DISPATCH_US 2000 /* then other events have a turn */
void store_dispatch(struct store *s);

/*
 * Wait until all that was asked is done or has failed, at most TIMEOUT_MS;
 * dispatch it, release the instance's lock, and free S. NULL is fine.
 */
void store_stop(struct store *s, int timeout_ms);

/*
 * The file of artifact ID is in use: whoever deletes it, it stays, and counts, until it
 * was released as often. True: somebody has deleted it, or wanted to, so that a sweep
 * removes it now.
 */
void store_hold(struct store *s, const char *id);
bool store_release(struct store *s, const char *id);

/* Of a database that is a server of its own: how it was about a second ago. */
struct store_database {
	bool reachable;	      /* by the last try; the rest is older if not */
	bool standby;	      /* it takes no writes */
	int64_t latency_us;   /* of one round trip; 0: not measured yet */
	int64_t nodes;	      /* that live, this one among them */
	int64_t waiting;      /* rows that are kept until they are written */
	int64_t schema;	      /* the version of its tables; 0: it has none */
	int64_t schema_known; /* the one that this program makes and reads */
	char version[32];     /* of the server: "15.13" */
	char name
	    [STORE_DATABASE_NAME]; /* its url, with neither user nor options */
};

/* Fills ABOUT; false: the record is a file in the state folder. */
bool store_about(struct store *s, struct store_database *about);
/*
 * As a start with URL would find it: connects, waiting 5 s at most, and changes
 * nothing. 0 and ABOUT filled, or -errno with ERRMSG as store_result has both.
 */
int store_look_database(const char *url, struct store_database *about,
			char *errmsg, size_t size);

/* Is the store known to be failing? Its last error's text, or NULL. */
const char *store_failing(struct store *s);

/*
 * What -errno means, in words for clients: of the server ("its disk is full"),
 * without a path, which ERRMSG and store_failing() have for the log.
 */
const char *store_says(int rc);
/* What would mend it, for the operator: after the path, and what it is. */
const char *store_remedy(int rc);
const char *store_failing_message(struct store *s); /* or NULL: it is well */
/*
 * With which status (sysexits(3)) a daemon ends that finds -errno when it
 * starts; 0: that may pass while it serves, so it starts.
 */
int store_ends_start(int rc);

/*
 * Does what lies in STATE_DIR look like a state folder of ours, or like none yet?
 * Only read, as far as that tells anything without SQLite. 0, or -errno with ERRMSG
 * as store_result has both.
 */
int store_look(const char *state_dir, char *errmsg, size_t size);
/*
 * May files be made in STATE_DIR and its folders? What is missing would be made.
 * 0, or -errno and in AT (the caller's) which of them.
 */
int store_folders(const char *state_dir, char **at);

enum store_urgency {
	STORE_DEFERRED, /* may wait 50 ms for company: for another put of the same
		       row, or a request that is no put_run, and then goes
		       before it. Fails back like STORE_SYNC */
	STORE_SYNC,	/* commit as soon as possible; when that fails, DONE
		       is told and the request is dropped */
	STORE_RETRY,	/* what was promised: on failure kept and tried again
		       until it is done (or store_stop() gives up). Only what
		       can never be done fails back: -EINVAL, -E2BIG, an
		       artifact whose bytes are lost */
};

/*
 * Write RUN whole: insert it, or replace the row of that id. The row names
 * this instance. A lazy request and a later one for the same row still
 * queued may become one write. DONE may be NULL. -EEXIST: another run has
 * idem_key; STORE_RETRY then writes RUN without the key.
 */
void store_put_run(struct store *s, const struct store_run *run,
		   enum store_urgency urgency, store_done done, void *arg);

/*
 * One run of REQUESTOR's: 0 and runs[0], or -ENOENT. Of an open one whose owner
 * shows it (store_show()) view, log and task_json_note are what was shown last.
 */
void store_get_run(struct store *s, const char *requestor, const char *id,
		   store_done done, void *arg);

/* The same, with inputs and what they lack, and without options, view and log. */
void store_get_inputs(struct store *s, const char *requestor, const char *id,
		      store_done done, void *arg);

/* The run that holds KEY for REQUESTOR and TEMPLATE_ID, or -ENOENT. */
void store_find_idem(struct store *s, const char *requestor,
		     const char *template_id, const char *key, store_done done,
		     void *arg);

struct store_filter {
	const char *requestor;
	int status;		 /* enum store_status, or -1 for any */
	const char *template_id; /* NULL: any */
	/* ids from this one on (NULL: all)… */
	const char *from;
	const char *before; /* …that come before this one (NULL: all) */
	int64_t offset;
	int limit;
};

/* Newest first; inputs, options, view and log are not read. */
void store_list_runs(struct store *s, const struct store_filter *f,
		     store_done done, void *arg);

/* One run as store_get_run(), without inputs, options, view and log. */
void store_get_task(struct store *s, const char *requestor, const char *id,
		    store_done done, void *arg);

/*
 * REQUESTOR's tasks that have not expired at NOW_MS, newest first, LIMIT at
 * most: those older than the id BEFORE, or all (NULL). As store_get_task().
 */
void store_list_tasks(struct store *s, const char *requestor,
		      const char *before, int64_t now_ms, int limit,
		      store_done done, void *arg);

/*
 * Name the artifact whose bytes are in TMP_PATH (made by artifact_file.h): sync it,
 * rename it into place, and write its row. TMP_PATH is gone afterwards,
 * whatever happens.
 */
void store_put_artifact(struct store *s, const struct store_artifact *a,
			const char *tmp_path, enum store_urgency urgency,
			store_done done, void *arg);

/* All artifacts of RUN_ID expire at EXPIRES_MS. */
void store_expire_artifacts(struct store *s, const char *run_id,
			    int64_t expires_ms);

/*
 * Bytes [offset, offset + limit) of an artifact of REQUESTOR's, and its row.
 * -ENOENT: unknown (or another's); -ESTALE: expired; -ERANGE: OFFSET is
 * beyond its size (the row is filled).
 */
void store_read_artifact(struct store *s, const char *requestor, const char *id,
			 int64_t offset, int64_t limit, store_done done,
			 void *arg);

/*
 * What REQUESTOR has and has not expired, what it uploaded or (ALL) what its runs
 * made as well, newest first, LIMIT at most: ids from FROM on (NULL: all) that come
 * before BEFORE (NULL: all). In artifacts.
 */
void store_list_artifacts(struct store *s, const char *requestor, bool all,
			  const char *from, const char *before, int limit,
			  store_done done, void *arg);

void store_usage(struct store *s, const char *requestor, store_done done,
		 void *arg);

/*
 * What runs have used that were created at SINCE_MS or later, or in that hour: by
 * requestor (NULL: all of them) and template, most CPU time first. In uses.
 */
void store_used(struct store *s, const char *requestor, int64_t since_ms,
		store_done done, void *arg);

/* Insert it, or replace the one of that key; more than so many go. */
void store_put_session(struct store *s, const struct store_session *session,
		       enum store_urgency urgency, store_done done, void *arg);

/* The one of that key, whoever's, or -ENOENT: or it expired before NOW_MS. */
void store_get_session(struct store *s, const char *key, int64_t now_ms,
		       store_done done, void *arg);

/*
 * It is gone for good, however lazily: it waits for as long as nothing can be
 * written. So are all of REQUESTOR's by the other.
 */
void store_drop_session(struct store *s, const char *key,
			enum store_urgency urgency, store_done done, void *arg);
void store_drop_sessions(struct store *s, const char *requestor);

/*
 * Take over from supervisors that died (their instance file is not locked),
 * each by exactly one survivor: what they ran becomes failed without a view;
 * what they had queued, or had to be tried again (it has options), becomes this
 * instance's, queued, and comes back in runs, with inputs and options, but for what
 * was to be cancelled. Stray files are removed.
 */
void store_recover(struct store *s, store_done done, void *arg);
/*
 * What they ran is kept so long from then on, and so long its artifacts; that of
 * each of N requestors of OWN (copied) as long as that says.
 */
struct store_keep {
	const char *requestor;
	int64_t run_ms;
};
void store_keep_lost(struct store *s, int64_t run_ms, int64_t artifact_ms,
		     const struct store_keep *own, size_t n);
/* The same, but what they had queued is left to the next that wants it. */
void store_recover_begun(struct store *s, store_done done, void *arg);

/*
 * Ask the owner of REQUESTOR's open run ID for KIND until UNTIL_MS, and nudge
 * it. One row a run and kind, which the run's end removes. DONE (may be NULL):
 * 0 once that is durable, also when there is no such run or it is ours. One that
 * is in the queue of all, and is to be cancelled, leaves it, and has ended.
 */
void store_send_mail(struct store *s, const char *requestor, const char *id,
		     enum store_mail kind, int64_t until_ms, store_done done,
		     void *arg);
/*
 * Tell the owner of REQUESTOR's open run ID what a client answers: BODY, until UNTIL_MS.
 * As above, but -EOPNOTSUPP when instances are of one machine, and -ENOBUFS when more
 * of REQUESTOR's (STORE_LETTERS_MAX) would not have been read yet. Each instance counts
 * for itself at that moment, so that several may go over it together by as much.
 */
void store_send_answer(struct store *s, const char *requestor, const char *id,
		       const char *body, int64_t until_ms, store_done done,
		       void *arg);
/*
 * Tell INSTANCE, another that lives, BODY of REQUESTOR's, which is about none of its
 * runs; as above. It is forgotten when INSTANCE is gone.
 */
void store_send_to(struct store *s, const char *requestor, const char *instance,
		   const char *body, int64_t until_ms, store_done done,
		   void *arg);
/* It was read, and need not be again. */
void store_drop_answer(struct store *s, const struct store_letter *l);
/*
 * What this instance is asked for, and may have been before: in mail. With ANSWERS a few
 * of these, too, of each requestor in turn; more of them are read once those were
 * dropped.
 */
void store_read_mail(struct store *s, bool answers, store_done done, void *arg);

/*
 * Readable after a nudge: the caller reads it empty, then asks for the mail.
 * Owned by the store; -1: there are none here.
 */
int store_nudge_fd(const struct store *s);
/*
 * How often mail is to be looked for, and the queue by who has nothing to do: seldom
 * while nudges come, or others can wake this instance.
 */
#define STORE_POLL_MS 250
#define STORE_POLL_WOKEN_MS 1000
int64_t store_poll_ms(const struct store *s);

/*
 * Show to other instances how our open RUN goes: id, requestor, awaiting,
 * task_json_note, view, log (NULL: as before), and until when they are kept fresh.
 */
void store_show(struct store *s, const struct store_run *run);

/*
 * Can it be written? Something is, which changes nothing. A state folder that is
 * missing is made.
 */
void store_probe(struct store *s, store_done done, void *arg);
/* Can it be opened? Nothing is written, but for what is missing. */
void store_open(struct store *s, store_done done, void *arg);

/*
 * Forget a run of REQUESTOR's, with its artifacts, before it expires. -ENOENT;
 * -EBUSY: it has not ended (status, in runs[0]); -EIO: a file of it would not go,
 * so it stays.
 */
void store_delete_run(struct store *s, const char *requestor, const char *id,
		      store_done done, void *arg);
/*
 * The same for those of F's range that ended before BEFORE_MS: a few of them are
 * looked at, so that others are served between two of these. total: how many
 * went; runs: the ids of those whose files would not; next: where to go on (as
 * F->from), NULL: nowhere. Of F offset and limit are not looked at.
 */
void store_delete_ended(struct store *s, const struct store_filter *f,
			int64_t before_ms, store_done done, void *arg);

/*
 * Forget what REQUESTOR uploaded as ID. -ENOENT: it has no such artifact, or one
 * that has expired; -EPERM: it is a run's, and goes with that; -EIO: its file would
 * not go, and it stays.
 */
void store_delete_upload(struct store *s, const char *requestor, const char *id,
			 store_done done, void *arg);
/*
 * The same for what was uploaded before BEFORE_MS, of ids from FROM on, a few at a
 * time as store_delete_ended(): total, artifacts, next.
 */
void store_delete_uploads(struct store *s, const char *requestor,
			  const char *from, int64_t before_ms, store_done done,
			  void *arg);

/* How long it is still known of an upload that it has expired; of an artifact of a
 * run, as long as its run is. */
#define STORE_UPLOAD_NOTED_MS ((int64_t)30 * 24 * 3600000)

/* Forget what expired before NOW_MS: tasks, sessions, artifacts' files, runs. */
void store_sweep(struct store *s, int64_t now_ms);

#endif
