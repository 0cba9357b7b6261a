/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_private.h - what the parts of a worker share; nobody else includes it.
 *
 *   worker.c           its life: start, deadline, end
 *   worker_send.c      what goes to it
 *   worker_recv.c      what it says
 *   worker_artifact.c  its artifacts, and what it lost of them
 *   worker_files.c     the files that it is given
 *   worker_question.c  what it asks, and the answers on their way
 */
#ifndef SUPERVISOR_WORKER_WORKER_PRIVATE_H
#define SUPERVISOR_WORKER_WORKER_PRIVATE_H

#include "base/buf.h"
#include "ipc/msg.h"
#include "supervisor/state/artifact_file.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/context.h"
#include "supervisor/requestor/fair_queue.h"
#include "supervisor/warm/born.h"
#include "supervisor/worker/worker.h"

/* Where the conversation stands. */
enum phase {
	PHASE_BORN, /* nothing came; READY may be the first */
	PHASE_TALKING,
	PHASE_ARTIFACT, /* CHUNKs of an artifact's body */
	PHASE_ANSWER,	/* it waits for our ANSWER */
	PHASE_RESULT,	/* CHUNKs of the result's body */
	PHASE_ASK,	/* CHUNKs of a question's parameters */
	PHASE_DONE,	/* the last word is said; only an exit may follow */
	PHASES
};

struct question; /* one question, until its answer is sent */
TAILQ_HEAD(questions, question);

struct worker {
	const struct worker_env *env;
	struct run *run;
	struct born *born;
	struct event *readable;
	struct event *writable; /* while the socket holds no more */
	/* to be read, in the lane of its requestor */
	struct fair_queue_turn turn;
	struct event *deadline; /* RUN_TIMEOUT, a cancel's grace, a lingering */
	size_t sent;		/* of code, inputs and files, as one body */
	struct worker_files *files; /* NULL: it is given none */
	bool waits;  /* a program's: for its clone, before anything is sent */
	bool unread; /* it died before it had read what we sent */
	bool run_sent;
	bool run_whole; /* and all of its body, or never */
	enum phase phase;
	uint64_t body_total, body_got;
	struct artifact_file *blob; /* NULL: refused; its bytes are let go */
	/* of the artifact that came last, if it was */
	struct tool_error tool_error;
	int64_t promised; /* bytes of BLOB, in its requestor's account */
	struct run_artifact artifact;
	struct questions asked; /* in their order; those without an answer */
	/* to be sent, in this order; ARTIFACT's too */
	struct questions answers;
	size_t asks;   /* in both, without ARTIFACT's */
	size_t unsent; /* bytes of answers */
	uint32_t last_seq;
	struct question *asking; /* PHASE_ASK: whose parameters come */
	struct buf params;
	struct buf result;
	bool reply;
	bool have_result;
	struct rusage said; /* with it: what it used */
	bool over;	    /* its run is, and it leaves */
	bool silent;	    /* its end of the socket is closed */
	bool killed;
	bool late;     /* it spoke after its last word */
	double tokens; /* of the message rate */
	int64_t tokens_ms;
};

/* R's program is no more what was loaded, or JOB cannot show it: R's error says so. */
bool worker_is_stale(struct run *r, struct spawner *spawner,
		     const struct spawner_job *job);

/*
 * The files of R, which has some, opened for its worker: *OUT is the caller's, and
 * lends JOB what a program is shown. 0; -EINPROGRESS: programs cannot be shown
 * any yet; or -errno, and R's error says why.
 */
struct worker_files;
int worker_files_open(struct worker_files **out, struct spawner *spawner,
		      const struct config *config, struct run *r,
		      struct spawner_job *job);
void worker_files_free(struct worker_files *f); /* NULL is fine */
/* The whole body of RUN, with code and inputs; and of this what is files'. */
uint64_t worker_files_body(const struct worker_files *f);
uint64_t worker_files_bytes(const struct worker_files *f);
/* From its byte AT on, into TO (MAX bytes): how many, or -errno. */
ssize_t worker_files_piece(struct worker_files *f, uint64_t at, char *to,
			   size_t max);

/* W is new: it has said nothing. */
void worker_recv_init(struct worker *w);

/* One frame of W's came. 0, or -EPROTO: an offence; W has been killed. */
int worker_recv(struct worker *w, const void *frame, size_t len);

/* The peer's fault: it dies, and the run's error names it. -EPROTO. */
int worker_violation(struct worker *w, const char *offence);
/* The same, and more DETAILS of it; takes them. */
int worker_violation_of(struct worker *w, const char *offence,
			struct json_object *details);

/* One message to it. 0, or -EAGAIN: when it is writable; -errno. */
int worker_send(struct worker *w, const struct msg *m);

/* Its part of what worker_recv() reads. 0 or -EPROTO. */
int worker_question_call(struct worker *w, const struct msg *m);
int worker_question_input(struct worker *w, const struct msg *m);
int worker_question_dropped(struct worker *w, const struct msg *m);
int worker_question_chunk(struct worker *w, struct str s);
int worker_artifact(struct worker *w, const struct msg *m);
int worker_artifact_bytes(struct worker *w, struct str s);
int worker_lost(struct worker *w, const struct msg *m);

/* Send answers as far as the socket takes them. */
void worker_question_flush(struct worker *w);

/* it wants none: its last word came */
void worker_question_drop(struct worker *w);
void worker_question_fini(struct worker *w);

/*
 * Send RUN and its body, as much as the socket takes; again when it is writable
 * (W->writable), until W->run_whole.
 */
void worker_send_body(struct worker *w);

/* READY came, or all was sent: the inputs may be needed no more. */
void worker_drop_inputs(struct worker *w);

/* It said its last word, or can say no more: it has a moment to exit. */
void worker_recv_last(struct worker *w);
/* The artifact that was on its way is it no more. */
void worker_unreserve(struct worker *w);

#endif
