/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_private.h - what the files of the shim share. The shim is one run of a
 * program: PID 1 of its namespaces, and trusted.
 *
 * The shim alone holds the run's socket. It starts the program, feeds and reads
 * it by pipes, reports its messages and its forbidden calls, ends all processes
 * of the run, and exits with them: then the kernel kills whatever is left.
 *   shim.c            its life, and the loop
 *   shim_pipes.c      the program's pipes
 *   shim_exit.c       the end of the run
 *   shim_given.c      the files that the run is given
 *   shim_child.c      from a fork of the shim to the program
 *   shim_lines.c      messages on the program's descriptor 3
 *   shim_steps.c      the steps among them, by name
 *   shim_questions.c  the questions among them, and their answers
 *   shim_files.c      files of the program's that become artifacts
 *   shim_output.c     files in out/, when the program has ended
 *   shim_cpu.c        the CPU time of all processes
 *   shim_watch.c      what all processes use together
 */
#ifndef WORKER_PROGRAM_SHIM_PRIVATE_H
#define WORKER_PROGRAM_SHIM_PRIVATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ipc/msg.h"
#include "ipc/zygote_proto.h"
#include "base/text/json_view.h"
#include "sandbox/sandbox_program.h"
#include "worker/text.h"

/* Our ends of the program's descriptors. -1: closed. */
struct shim_pipes {
	int in;	      /* to its 0 */
	int out;      /* from its 1 */
	int err;      /* from its 2 */
	int lines;    /* from its 3 */
	int answers;  /* to its 4 */
	int listener; /* reports system calls: forbidden ones, and counted */
};

/* Why the last artifact was refused. */
enum shim_refused {
	NOT_REFUSED, /* it was not; or its message is wrong */
	BY_LIMIT,    /* artifact_bytes: it was not sent to the supervisor */
	BY_SUPERVISOR,
	UNFIT,	 /* its kind, name or type is not allowed */
	NO_FILE, /* it is not a plain file */
};

struct shim {
	const struct sandbox *sb;
	const struct sandbox_program *p;
	int proc; /* /proc, with all processes of the run */
	struct msg_run run;
	char run_id[MSG_NAME_MAX + 1];
	char entry[MSG_NAME_MAX + 1];
	struct str args; /* each with its NUL */
	/* the arguments again; the inputs; files, until in in/ */
	char *body;
	bool prepared; /* its program was started before its run came… */
	uint64_t start_cpu_ms; /* …and had used so much then */
	pid_t pid;	       /* the program's */
	const char *cure;      /* static: of one that did not start, or NULL */
	struct shim_pipes pipes;
	uint64_t artifact_bytes;   /* so far */
	enum shim_refused refused; /* of the last artifact */
	/* BY_LIMIT: the bytes of all with this one */
	uint64_t over_bytes;
	char refusal[TEXT_CODE_SIZE]; /* its error code */
	struct buf answers;	      /* for its descriptor 4 */
};

enum { SHIM_EXIT_SENT = 0 };

struct seccomp_notif;

/* ---- shim.c ---- */

/* Send FAIL and _exit. DETAILS: the text of an object, or NULL. */
_Noreturn void shim_fail(const char *code, const char *details, const char *fmt,
			 ...) __attribute__((format(printf, 3, 4)));

/* Send FAIL with RESOURCE_LIMIT and _exit. */
_Noreturn void shim_limit(const char *limit, uint64_t used, uint64_t allowed,
			  const char *unit, const char *who,
			  const char *message);

void shim_log(unsigned level, const char *p, size_t n);

/*
 * Receive a report of the program's filter: a call that is counted is answered, and
 * one that is forbidden ends the run.
 */
void shim_recv_call(struct shim *s);

/* ---- shim_pipes.c ---- */

#define SHIM_TAIL_MAX 2048

/* The program's output, by descriptor. */
enum shim_received { SHIM_OUT, SHIM_ERR, SHIM_LINES, SHIM_RECEIVED };

/* Write as much as the pipe takes. */
void shim_feed_inputs(struct shim *s);
void shim_feed_answers(struct shim *s);

/* A message for its descriptor 4; N bytes of TEXT, without newline. */
void shim_answer(struct shim *s, const char *text, size_t n);

int *shim_received_fd(struct shim *s, enum shim_received which);

/* Read once from it. True: there may be more. */
bool shim_recv(struct shim *s, enum shim_received which);

/* No writer is left: read the pipes to their end. */
void shim_drain(struct shim *s);

const struct buf *shim_output(void);
struct str shim_tail(void); /* the end of what it wrote to its 2 */

/* ---- shim_exit.c ---- */

/*
 * Kill all other processes, which are children of PID 1 or become that, and wait for
 * them: what they used is ours then. Safe in a signal's handler. Where the caller is
 * no PID 1, as in a fuzz target, nothing is killed.
 */
void shim_end_all(void);
/* The program ended with STATUS: kill the rest, and send the last message. */
_Noreturn void shim_finish(struct shim *s, int status);

/* A file system of the program that is full (ENOSPC). */
struct shim_space {
	const char *path;
	const char *limit; /* "files", or "memory" for bytes */
	uint64_t used;
};

bool shim_full(struct shim_space *r); /* the first that is; false: none */
/* What is written there, and so lies in memory. */
uint64_t shim_written_bytes(void);
uint64_t shim_written_files(void); /* files and folders */

/* ---- shim_given.c ---- */

/*
 * Write the files that came with RUN into in/. One that cannot be written, and an
 * artifact that is not there any more, ends the run.
 */
void shim_take_files(struct shim *s);

/* ---- shim_child.c ---- */

/* Start S's program. 0, or -errno with what failed in *WHAT (static). */
int shim_start(struct shim *s, const char **what);

/* ---- shim_lines.c ---- */

/* Take line NUMBER of descriptor 3. A wrong one ends the run. */
void shim_line(struct shim *s, struct str line, uint64_t number);

/* The program's reply, or NULL: then its output is the result. */
const struct buf *shim_reply(void);

/* ---- shim_questions.c ---- */

/*
 * Send M, a CALL or an INPUT without its seq and BODY, with the program's ID, a
 * JSON text. NULL, or why it may not be asked (static). The answer goes to the
 * program's descriptor 4.
 */
const char *shim_ask(struct msg *m, struct json_view id, struct json_view body);

bool shim_is_id(struct json_view id); /* may it be an id? */

/* Receive the supervisor's answer to a question. */
void shim_recv_answer(struct shim *s);

/* Wait for its answer to an artifact: kept? BODY is its id, or why not. */
bool shim_await_artifact(struct shim *s, struct buf *body);

/* ---- shim_steps.c ---- */

/* NULL, or why the message is wrong (static). */
const char *shim_step(struct str name, const char *state, struct str code,
		      struct str message);

/* ---- shim_files.c ---- */

/*
 * Make the file PATH, relative to /work, an artifact. NULL, or why not; *ID
 * (MSG_TEXT_MAX + 1 bytes) is then the artifact's.
 */
const char *shim_file(struct shim *s, const char *path, struct str name,
		      struct str mime_type, char *id);

/* The same for bytes at hand. */
const char *shim_bytes(struct shim *s, const char *p, size_t n, struct str name,
		       struct str mime_type, char *id);

/* The same for PATH below the folder AT, which is in /work. */
const char *shim_file_below(struct shim *s, int at, const char *path,
			    struct str name, struct str mime_type, char *id);

/* Open that, through no link and onto no other file system. -errno. */
int shim_open_below(int at, const char *path, uint64_t flags);

/* ---- shim_output.c ---- */

/* Keep files in out/ as artifacts, and report what cannot be kept. */
void shim_collect(struct shim *s);

/* The program succeeded: report files that a full file system may have cut. */
void shim_doubt(void);

/* ---- shim_wait.c ---- */

/* Why a program that was to wait for a run is of no use; ipc/zygote_proto.h. */
_Noreturn void shim_unfit(enum zygote_proto_unfit why);

/*
 * Until RUN can be received: the program, which was started, may do its imports
 * within P, and then has to wait for its inputs, in silence. READY is sent.
 */
void shim_wait(struct shim *s, const struct msg_prepare *p);

/* ---- shim_records.c ---- */

/*
 * Answer N, which was received from the listener, if it is a call that is
 * counted: it goes on, or fails. False: it is another, and forbidden.
 */
bool shim_records_allow(const struct shim *s, const struct seccomp_notif *n);

/*
 * The mappings of all processes. *HIDE: of how many they are not counted, which do
 * not let us look, or have more than can be looked at. *LINKS: each mapping as often
 * as its process has others above it that forked it, and once more.
 */
uint64_t shim_count_mappings(const struct shim *s, uint64_t *hide,
			     uint64_t *links);

/* The most bytes of the buffer of an open file of /proc. */
uint64_t shim_most_buffered(void);

/* The open files of /proc of all processes; where too many, DESCRIPTORS. */
uint64_t shim_count_proc_files(const struct shim *s, uint64_t descriptors);

/* ---- shim_still.c ---- */

/*
 * Stop all processes, call LOOK, perhaps several times, and have those go on that
 * were not stopped before. False: some may have changed something at each LOOK.
 */
bool shim_stand_still(const struct shim *s, void (*look)(void *arg), void *arg);

/* Begin a look at all processes; end the look, so that stopped processes go on. */
void shim_hold_begin(void);
void shim_hold_end(const struct shim *s);

/*
 * Called before each read that waits for a lock of a process: stops all processes if
 * the look takes long. False: the look took too long, and the read is left out.
 */
bool shim_hold_on(const struct shim *s);

/* ---- shim_kernel.c ---- */

/* Bytes of a run that no resident size has. */
struct shim_held {
	uint64_t tables;  /* of pages, and of descriptors */
	uint64_t swapped; /* what several processes share counts for each */
};

/* Add those of PID to H. PID has so many bytes of addresses. TID: a thread of PID. */
void shim_add_held(const struct shim *s, long pid, long tid, uint64_t addresses,
		   struct shim_held *h);

/*
 * PID's bytes of memory and swap; of what N processes share a part in N each. A
 * process that does not show them counts with RESIDENT, and all of its swap.
 */
uint64_t shim_own_bytes(const struct shim *s, long pid, long tid,
			uint64_t resident);

/* The most that the sockets of the run's network namespace can hold. */
uint64_t shim_socket_bytes(const struct shim *s);

/*
 * Of the mappings of all processes, which have so many bytes of addresses, and of
 * the run's files.
 */
uint64_t shim_mapping_bytes(const struct shim *s, uint64_t addresses);

/* Of so many open files, and of their buffers. */
uint64_t shim_file_bytes(const struct shim *s, uint64_t descriptors);

/* ---- shim_watch.c ---- */

/* The first bytes of /proc/PID/NAME, NUL-ended. How many, or -1. */
ssize_t shim_read_proc(const struct shim *s, long pid, const char *name,
		       char *text, size_t size);

/* Call EACH with each thread of PID, until it is false. */
void shim_each_thread(const struct shim *s, long pid,
		      bool (*each)(void *arg, long tid), void *arg);

/* Has TID, a thread of PID, no descriptors any more, or not for long? */
bool shim_is_ending(const struct shim *s, long pid, long tid);

/* What all processes of the run use together. */
struct shim_use {
	uint64_t cpu_ms;
	uint64_t own_bytes; /* with files, if it may be more than LEAST; or 0 */
	bool too_many;	    /* processes, or open files */
};

/* Measure that, for one that waits; what is below LEAST_BYTES is not looked at. */
struct shim_use shim_measure(const struct shim *s, uint64_t least_bytes);

/* Measure what all processes use; a limit that is met ends the run. */
void shim_watch(const struct shim *s);

/*
 * The program has failed, perhaps because the kernel refused it a process,
 * which it does not report. Processes that it left still exist.
 */
void shim_watch_failed(const struct shim *s);

/* Write the name of PID to COMM (SIZE bytes). */
void shim_comm(const struct shim *s, pid_t pid, char *comm, size_t size);

/* ---- shim_cpu.c ---- */

void shim_cpu_prepare(void); /* before the cage, which hides the processors */

/* A look begins, meets a process whose /proc/PID/stat is STAT, has met all. */
void shim_cpu_begin(void);
void shim_cpu_see(long pid, const char *stat);
void shim_cpu_end(void);

/* CPU time: of those that live, so many TICKS, of those that ended, and the shim's. */
uint64_t shim_cpu_ms(uint64_t ticks);
/* Without what S's program had used before its run. */
uint64_t shim_cpu_since_start(const struct shim *s, uint64_t ms);

/* CPU time, as getrusage(2) has it. */
uint64_t shim_rusage_ms(int whose);

/*
 * Call shim_watch() if the last call was a tenth of a second ago. Each part of
 * the shim that may wait for long calls this, so that no program's messages
 * keep the shim from its limits.
 */
void shim_watch_due(void);

/* Tell the supervisor the CPU time that was measured. */
void shim_tell_used(const struct shim *s);

/* All processes have ended and were waited for: measure and tell what they used. */
void shim_watch_ended(const struct shim *s);

#endif
