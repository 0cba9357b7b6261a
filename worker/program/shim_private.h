/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_private.h - declarations for the files of the shim. The shim is PID 1 of the
 * namespaces of a program's run, and trusted.
 *
 * The shim alone holds the run's socket. The shim starts the program, feeds and reads
 * the program by pipes, reports messages and forbidden calls, ends all processes of the
 * run, and exits: then the kernel kills all remaining processes.
 *   shim.c            the life of the shim, and the loop
 *   shim_pipes.c      the program's pipes
 *   shim_exit.c       the end of the run
 *   shim_given.c      the input files of the run
 *   shim_child.c      from a fork of the shim to the program
 *   shim_lines.c      messages on the program's descriptor 3
 *   shim_questions.c  questions in messages, and answers
 *   shim_callers.c    processes with connections of their own
 *   shim_files.c      files of the program that become artifacts
 *   shim_output.c     files in out/, after the end of the program
 *   shim_resident.c   a program that stays for several runs
 */
#ifndef WORKER_PROGRAM_SHIM_PRIVATE_H
#define WORKER_PROGRAM_SHIM_PRIVATE_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ipc/msg.h"
#include "ipc/zygote_proto.h"
#include "base/text/json_view.h"
#include "sandbox/sandbox_program.h"
#include "worker/program/told/shim_told.h"
#include "worker/program/watch/shim_watch.h"
#include "worker/text.h"

enum { SHIM_EXIT_SENT = 0 };

/* ---- shim.c ---- */

/* Send FAIL and _exit. DETAILS: the text of an object, or NULL. */
_Noreturn void shim_fail(const char *code, const char *details, const char *fmt,
			 ...) __attribute__((format(printf, 3, 4)));

void shim_log(unsigned level, const char *p, size_t n);

/* Receive a report of the program's filter: answer a counted call, or end the run. */
void shim_recv_call(struct shim *s);

/* ---- shim_pipes.c ---- */

#define SHIM_TAIL_MAX 2048

/* The program's output, by descriptor. */
enum shim_received { SHIM_OUT, SHIM_ERR, SHIM_LINES, SHIM_RECEIVED };

/* Write as much as the pipe takes. */
void shim_feed_inputs(struct shim *s);
void shim_feed_answers(struct shim *s);

/* Queue a message for descriptor 4: N bytes of TEXT, without newline. */
void shim_answer(struct shim *s, const char *text, size_t n);

int *shim_received_fd(struct shim *s, enum shim_received which);

/* Read once from a pipe. True: more may be available. */
bool shim_recv(struct shim *s, enum shim_received which);

/* Read the pipes to the end, when no writer is left. */
void shim_drain(struct shim *s);

/* Read and drop output of a resident that has no run. */
void shim_drop_output(struct shim *s, enum shim_received which);
/* Forget the output of a resident's run; lines are counted on. */
void shim_forget_pipes(void);

const struct buf *shim_output(void);
struct str shim_tail(void); /* the tail of the text on descriptor 2 */

/* ---- shim_exit.c ---- */

/*
 * Kill and reap all other processes, which are children of PID 1 or become children of
 * PID 1: then their use counts for the shim. Async-signal-safe. A caller that is not PID
 * 1, for example a fuzz target, kills nothing.
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

/* the first full file system; false: none */
bool shim_full(struct shim_space *r);

/* ---- shim_given.c ---- */

/*
 * Write the files that came with RUN into in/. A file that cannot be written, or a
 * missing artifact, ends the run.
 */
void shim_take_files(struct shim *s);

/* ---- shim_child.c ---- */

/* Start S's program. 0, or -errno with the failed step in *WHAT (static). */
int shim_start(struct shim *s, const char **what);

/* ---- shim_lines.c ---- */

/* Handle line NUMBER of descriptor 3. A wrong line ends the run. */
void shim_line(struct shim *s, struct str line, uint64_t number);

/*
 * Handle LINE of a process with a connection of its own. NULL, or the error (static), with
 * the JSON text of the id in *ID if there is one.
 */
const char *shim_line_of_caller(struct shim *s, struct str line,
				struct str *id);

/*
 * Return the id of a question whose LINE is no whole JSON, if the id comes first in the
 * message; none is empty.
 */
struct str shim_first_id(struct str line);

/* Are the N bytes at P spaces, tabs and ends of lines alone? */
bool shim_is_blank(const char *p, size_t n);

/* The program's reply, or NULL: then the output is the result. */
const struct buf *shim_reply(void);

/* ---- shim_callers.c ---- */

#define SHIM_DOOR_FOLDER "/dev/shm"
#define SHIM_DOOR ".paddock"
#define SHIM_CALLERS_MAX 64
#define SHIM_CALLERS_POLLED (1 + 2 * SHIM_CALLERS_MAX)

/* Make the FIFO to which processes of the program write their names. */
void shim_open_door(void);
/* Fill P with what to wait for. Returns how many. */
size_t shim_poll_callers(struct pollfd p[SHIM_CALLERS_POLLED]);
/* Accept processes; read lines, up to READS times of each, and write answers. */
void shim_serve_callers(struct shim *s, int reads);
void shim_forget_callers(void); /* a resident's run has ended */

/* The caller whose line is being handled; 0: the program, by descriptor 3. */
uint64_t shim_speaking(void);
/* Queue a message as shim_answer(), for the caller SERIAL, if still connected. */
void shim_answer_to(struct shim *s, uint64_t serial, const char *text,
		    size_t n);

/* ---- shim_questions.c ---- */

void shim_forget_questions(void); /* the open questions of a resident's run */

/*
 * Send M, a CALL or an INPUT without seq and body, with BODY, and with the program's ID,
 * a JSON text. NULL, or the reason of a refusal (static). The answer goes to descriptor
 * 4.
 */
const char *shim_ask(struct msg *m, struct json_view id, struct json_view body);

/* Drop the questions of CALLER, a connection whose process awaits no answers. */
void shim_drop_questions(uint64_t caller);
/* Likewise for the question ID of who speaks; the answer says DROPPED. */
void shim_drop_question(struct json_view id);

bool shim_is_id(struct json_view id); /* is the JSON text a valid id? */

bool shim_asks_are_full(void); /* does a further question have to wait? */

/* Receive the supervisor's answer to a question. */
void shim_recv_answer(struct shim *s);

/* Wait for the answer to an artifact: kept? BODY is the id, or the reason. */
bool shim_await_artifact(struct shim *s, struct buf *body);

/* ---- shim_files.c ---- */

/*
 * Make the file PATH, relative to /work, an artifact. NULL and *ID (MSG_TEXT_MAX + 1
 * bytes), or the error.
 */
const char *shim_file(struct shim *s, const char *path, struct str name,
		      struct str mime_type, char *id);

/* As shim_file(), for bytes in memory. */
const char *shim_bytes(struct shim *s, const char *p, size_t n, struct str name,
		       struct str mime_type, char *id);

/* As shim_file(), for PATH below the folder AT, which is in /work. */
const char *shim_file_below(struct shim *s, int at, const char *path,
			    struct str name, struct str mime_type, char *id);

/* Open PATH below AT, through no link and onto no other file system, or -errno. */
int shim_open_below(int at, const char *path, uint64_t flags);

/* ---- shim_output.c ---- */

/* Keep files in out/ as artifacts, and report files that cannot be kept. */
void shim_collect(struct shim *s);

/* The program succeeded: report files that a full file system may have cut. */
void shim_doubt(void);

/* Is there anything in out/ or in/, or could that not be seen? */
bool shim_has_files(const struct shim *s);

/* Remove the files and folders in out/ and in/, for a resident's next run. */
void shim_empty_folders(struct shim *s);

/* ---- shim_wait.c ---- */

/* End a waiting program that is unfit for runs, for a reason of ipc/zygote_proto.h. */
_Noreturn void shim_unfit(enum zygote_proto_unfit why);

/*
 * Wait until RUN arrives: the started program may load modules within the limits P, and
 * then must wait for inputs silently. READY is sent.
 */
void shim_wait(struct shim *s, const struct msg_prepare *p);

/* ---- shim_resident.c ---- */

/* Take M, which comes before each RUN of a resident. */
void shim_take_stay(struct shim *s, const struct msg_stay *m);
bool shim_stays(void); /* Is the program a resident? */

/* Tell a resident the run that was received. */
void shim_begin_run(struct shim *s);
/*
 * Has the resident's run ended? Then the end was reported, and the program waits. A cancel
 * is passed on; a program that goes past its grace time is ended with the run.
 */
bool shim_run_is_over(struct shim *s);
/* Return when the next run can be received; meanwhile the program is stopped. */
void shim_await_run(struct shim *s);

/*
 * Have the resident end its run with CODE, DETAILS (the text of an object, or NULL) and
 * MESSAGE, and tell the resident WHY, a word. The first cause stays. False: there is no
 * run of a resident.
 */
bool shim_interrupt(struct shim *s, const char *why, const char *code,
		    const char *details, const char *message);
void shim_ask_to_end(struct shim *s, const char *why);
/* The program has ended: send FAIL and _exit, if there was a cause. */
void shim_fail_by_cause(void);

/* Messages on descriptor 3. NULL, or the error in the message (static). */
const char *shim_on_state(struct shim *s, struct json_view v);
const char *shim_on_result(struct shim *s, struct json_view v);
const char *shim_on_failed(struct shim *s, struct json_view v);

#endif
