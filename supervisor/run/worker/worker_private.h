/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_private.h - shared by the parts of a worker, included by no other
 * file.
 *
 *   worker.c           its life: start, deadline, end
 *   worker_send.c      messages to the worker
 *   worker_recv.c      messages from the worker
 *   worker_artifact.c  its artifacts, and reports of lost artifacts
 *   worker_files.c     the files given to the worker
 *   worker_question.c  its questions, and the answers on their way
 *   worker_network.c   its child of paddock-egress
 */
#ifndef SUPERVISOR_WORKER_WORKER_PRIVATE_H
#define SUPERVISOR_WORKER_WORKER_PRIVATE_H

#include "base/buf.h"
#include "ipc/msg.h"
#include "proto/mcp/tool_error.h"
#include "supervisor/context.h"
#include "supervisor/requestor/fair_queue.h"
#include "supervisor/run/threads/file_sink.h"
#include "supervisor/run/outcome.h"
#include "supervisor/run/warm/spawned.h"
#include "supervisor/runtime/runtime.h"
#include "supervisor/run/worker/worker.h"

/* The state of the conversation. */
enum phase {
	PHASE_SPAWNED, /* nothing came; READY may come first */
	PHASE_TALKING,
	PHASE_ARTIFACT, /* CHUNKs of an artifact's body */
	PHASE_ANSWER,	/* the worker waits for an ANSWER */
	PHASE_RESULT,	/* CHUNKs of the result's body */
	PHASE_ASK,	/* CHUNKs of a question's parameters */
	PHASE_DONE,	/* after the last message; only an exit may follow */
	PHASES
};

struct question; /* a question, until its answer is sent */
TAILQ_HEAD(questions, question);

/* Text that a program's code printed: beginning and end; see worker_printed.c. */
struct printed {
	bool told; /* by the shim */
	struct buf text;
	uint64_t end; /* bytes that were printed up to the end of the text */
	size_t bytes; /* of all parts */
};

struct worker {
	const struct worker_env *env;
	struct run *run;
	struct spawned *spawned;
	struct event *readable;
	struct event *writable; /* event, while the socket is full */
	/* turn to read, in the requestor's lane */
	struct fair_queue_turn turn;
	/* timer: RUN_TIMEOUT, a cancel's grace, lingering */
	struct event *deadline;
	int64_t grace_end_ms; /* end of a cancel's grace; 0: no cancel */
	struct event *cpu;    /* timer of worker_cpu.c, or NULL */
	size_t sent; /* bytes sent of code, inputs and files, as one body */
	struct worker_files *files; /* files of the run, or NULL */
	bool waits;  /* a program: waits for its clone before RUN is sent */
	bool unread; /* the worker died before reading all that was sent */
	bool run_sent;
	bool run_whole; /* RUN and its body are sent, or never will be */
	enum phase phase;
	uint64_t body_total, body_got;
	/* the artifact's file; NULL: refused, bytes are dropped */
	struct file_sink *blob;
	bool full; /* BLOB takes no more now, so W is not read */
	/* error of the last artifact, if it failed */
	struct tool_error tool_error;
	int64_t promised; /* bytes of BLOB, in the requestor's account */
	struct run_artifact artifact;
	struct questions asked; /* questions without an answer, in order */
	/* answers to be sent, in this order; ARTIFACT's too */
	struct questions answers;
	/* a run that a CALL made, or a run below, asks the clients */
	bool called_asks;
	size_t asks;   /* questions in both lists, without ARTIFACT's */
	size_t unsent; /* bytes of answers not sent yet */
	uint32_t last_seq;
	/* PHASE_ASK: the question whose parameters come */
	struct question *asking;
	struct buf params;
	struct printed printed[MSG_PRINTED_STREAMS];
	struct buf result;
	/* bytes of RESULT, if large, counted in the requestor's memory */
	size_t result_held;
	bool reply;
	bool have_result;
	uint64_t used_ms;	/* the most CPU time that USED told */
	struct rusage said;	/* with the result: the use of CPU and memory */
	struct exit_facts exit; /* while paddock-egress may tell more */
	bool over;		/* the run is over, and the worker exits */
	bool silent;		/* the worker closed its end of the socket */
	bool lived_on; /* the worker lived on after silent, and was killed */
	bool ending;   /* the shim was told to end the program and wait */
	enum zygote_proto_why
	    interrupted;     /* the limit that a resident's run met */
	bool stay_sent;	     /* a resident was told that it stays */
	bool stays;	     /* the process waits for the next run */
	uint64_t kept_bytes; /* STAYS: memory of the process */
	bool killed;
	bool late;     /* a message came after the last message */
	double tokens; /* bucket of the message rate */
	int64_t tokens_ms;
};

/*
 * Was R's program, a run's that sees the host, changed since it was loaded, or can
 * JOB not show it? R's error has the reason.
 */
bool worker_is_stale(struct run *r, struct spawner *spawner,
		     const struct spawner_job *job);

/*
 * Open the files of R, which has some, for its worker: *OUT is the caller's,
 * and lends JOB the files for a program. 0; -EINPROGRESS: programs cannot be
 * shown files yet; or -errno, with the reason in R's error.
 */
struct worker_files;
int worker_files_open(struct worker_files **out, struct spawner *spawner,
		      const struct config *config, struct run *r,
		      struct spawner_job *job);
void worker_files_free(struct worker_files *f); /* NULL is fine */
/*
 * Return the size of the whole body of RUN, with code and inputs; and the size
 * of the files in it.
 */
uint64_t worker_files_body(const struct worker_files *f);
uint64_t worker_files_bytes(const struct worker_files *f);
/*
 * Read the body from its byte AT on into TO (MAX bytes). Returns how many
 * bytes, or -errno.
 */
ssize_t worker_files_piece(struct worker_files *f, uint64_t at, char *to,
			   size_t max);

/*
 * As spawned_ask(), for the worker W of R, which may connect to NETWORK, as of
 * grants_network(). An error is in R's error, too, unless it passes.
 */
struct spawned *worker_network_spawn(struct context *ctx, struct worker *w,
				     struct run *r,
				     const struct spawner_job *job,
				     const struct spawned_ops *spawned_ops,
				     struct json_object *network, int *rc);
extern const struct egress_ops worker_network_ops; /* of W's child; owner W */

/* The bucket of R's message rate: totals bound the bodies, the bucket all else. */
static inline double worker_burst(const struct run *r)
{
	return (double)r->limits.messages_per_second * MSG_BURST_S;
}

/* Handle one frame from W. 0, or -EPROTO: an offence; W has been killed. */
int worker_recv(struct worker *w, const void *frame, size_t len);

/* Kill W for an OFFENCE, which the run's error names. -EPROTO. */
int worker_violation(struct worker *w, const char *offence);
/* As worker_violation(), with more DETAILS (taken). */
int worker_violation_of(struct worker *w, const char *offence,
			struct json_object *details);

/* Send a message to W. 0, or -EAGAIN: when writable; -errno. */
int worker_send(struct worker *w, const struct msg *m);

/* Handle one message or piece for worker_recv(). 0 or -EPROTO. */
int worker_question_call(struct worker *w, const struct msg *m);
int worker_question_input(struct worker *w, const struct msg *m);
int worker_question_dropped(struct worker *w, const struct msg *m);
int worker_question_chunk(struct worker *w, struct str s);
int worker_artifact(struct worker *w, const struct msg *m);
int worker_artifact_bytes(struct worker *w, struct str s);
int worker_lost(struct worker *w, const struct msg *m);

/* Send answers as far as the socket takes them. */
void worker_question_flush(struct worker *w);

/* Drop all questions: W's last message came. */
void worker_question_drop(struct worker *w);
void worker_question_fini(struct worker *w);

/*
 * Send RUN and its body, as much as the socket takes; again when writable
 * (W->writable), until W->run_whole.
 */
void worker_send_body(struct worker *w);

/* Free the inputs, if they are needed no more: READY came, or all was sent. */
void worker_drop_inputs(struct worker *w);

/* Is W's process a resident without a shim, which is stopped between runs? */
static inline bool worker_stays_alone(const struct worker *w)
{
	return w->run->job.resident != NULL &&
	       !runtimes[w->run->template->runtime]->has_shim;
}

/* ---- worker_printed.c ---- */

/* Keep M, a part of what W's code printed. False: M is beyond the bounds. */
bool worker_printed_add(struct worker *w, const struct msg_printed *m);
/*
 * Add stdout and stderr to the details of the run's error, if there is an error whose
 * details lack stdout, and the shim has told of a stream.
 */
void worker_printed_tell(const struct worker *w);
/* Forget what W's code printed. */
void worker_printed_drop(struct worker *w);

/* ---- worker_cpu.c ---- */

/*
 * Set USE to the CPU time of W's process since the run before, and charge the run for the
 * time: for worker_stays_alone().
 */
void worker_cpu_charge(const struct worker *w, struct rusage *use);

/*
 * Add to USE what W's shim saw of processes for which nobody waited. A cgroup counts
 * these by itself.
 */
void worker_cpu_add_unwaited(const struct worker *w, struct rusage *use);

/*
 * End W's run when its processes, which a cgroup counts, or the kernel of a resident
 * without a shim, have used the CPU time, or when the kernel has killed one of a
 * resident's for memory.
 */
void worker_cpu_watch(struct worker *w);

/*
 * Ask W's program, a resident, to end the run because of WHY; TELL sets the run's error; a program that goes
 * past the run's grace time is ended. False: W has to be ended now.
 */
bool worker_interrupt(struct worker *w, enum zygote_proto_why why,
		      void (*tell)(struct run *r));

/* Give W a moment to exit: the last message came, or no more can come. */
void worker_recv_last(struct worker *w);
/* Drop the artifact under way: its bytes count until the file is removed. */
void worker_artifact_drop(struct worker *w);
/* Read W's messages again. */
void worker_read_on(struct worker *w);

#endif
