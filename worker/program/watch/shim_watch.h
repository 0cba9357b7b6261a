/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_watch.h - the shim's watch over the processes of a run: counts, limits and stops
 * the processes by /proc, and answers the system calls that are counted. shim.c looks ten
 * times a second.
 *   shim_watch.c    the use of all processes together
 *   shim_cpu.c      the CPU time of all processes
 *   shim_kernel.c   memory that the kernel holds for the processes
 *   shim_records.c  system calls that are counted
 *   shim_still.c    all processes stopped, for a look
 */
#ifndef WORKER_PROGRAM_WATCH_SHIM_WATCH_H
#define WORKER_PROGRAM_WATCH_SHIM_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ipc/msg.h"
#include "sandbox/sandbox_program.h"
#include "worker/text.h"

/* The shim's ends of the program's descriptors. -1: closed. */
struct shim_pipes {
	int in;	      /* to descriptor 0 */
	int out;      /* from descriptor 1 */
	int err;      /* from descriptor 2 */
	int lines;    /* from descriptor 3 */
	int answers;  /* to descriptor 4 */
	int listener; /* reports forbidden and counted system calls */
};

/* The refusal of the last artifact. */
enum shim_refused {
	NOT_REFUSED, /* not refused, or a wrong message */
	BY_LIMIT,    /* artifact_bytes: not sent to the supervisor */
	BY_SUPERVISOR,
	UNFIT,	 /* the kind, name or type is not allowed */
	NO_FILE, /* no plain file */
};

struct shim {
	const struct sandbox *sb;
	const struct sandbox_program *p;
	int proc; /* /proc, with all processes of the run */
	struct msg_run run;
	char run_id[MSG_NAME_MAX + 1];
	char entry[MSG_NAME_MAX + 1];
	struct str args; /* arguments, each with the NUL */
	/* the arguments again; the inputs; files, until written to in/ */
	char *body;
	uint64_t cpu_ms; /* the most CPU time of the run */
	volatile sig_atomic_t
	    interrupted;       /* why SIGTERM came, of enum zygote_proto_why */
	bool prepared;	       /* the program was started before the run */
	uint64_t start_cpu_ms; /* CPU time of the program before the run */
	pid_t pid;	       /* of the program */
	const char *cure;      /* static: cure for a failed start, or NULL */
	struct shim_pipes pipes;
	uint64_t artifact_bytes;      /* so far */
	enum shim_refused refused;    /* of the last artifact */
	uint64_t over_bytes;	      /* BY_LIMIT: bytes with the last one */
	char refusal[TEXT_CODE_SIZE]; /* error code of the refusal */
	struct buf answers;	      /* for descriptor 4 */
};

struct seccomp_notif;

/* ---- what the watch calls: shim.c, shim_resident.c and shim_exit.c ---- */

/*
 * Send FAIL with RESOURCE_LIMIT and _exit; or have a resident end its run, and return.
 */
void shim_limit(const char *limit, uint64_t used, uint64_t allowed,
		const char *unit, const char *who, const char *message);

bool shim_has_resident_run(void); /* Is a run of a resident under way? */

/* Written to the file systems, which are in memory. */
struct shim_written {
	uint64_t bytes;
	uint64_t files; /* and folders */
};
struct shim_written shim_written(void);

/* ---- shim_records.c ---- */

/* Answer N, if N is a counted call: the call continues, or fails. False: forbidden. */
bool shim_records_allow(const struct shim *s, const struct seccomp_notif *n);
/* Has the next call to wait, SHIM_BIRTH_MS or so? */
bool shim_births_are_ahead(void);
#define SHIM_BIRTH_MS 1

/*
 * Count the mappings of all processes. *HIDE: the number of processes that deny access,
 * or have too many mappings to count. *LINKS: for each mapping, the number of ancestors
 * of the process plus one.
 */
uint64_t shim_count_mappings(const struct shim *s, uint64_t *hide,
			     uint64_t *links);

/* The most bytes of the buffer of an open file of /proc. */
uint64_t shim_most_buffered(void);

/* Count the open files of /proc of all processes; if too many, DESCRIPTORS. */
uint64_t shim_count_proc_files(const struct shim *s, uint64_t descriptors);

/* ---- shim_still.c ---- */

/*
 * Stop all processes, call LOOK, possibly several times, and continue the processes that
 * were not stopped before. False: a process may have made a change during each LOOK.
 */
bool shim_stand_still(const struct shim *s, void (*look)(void *arg), void *arg);

/* Begin a look at all processes; end the look, so that stopped processes continue. */
void shim_hold_begin(void);
void shim_hold_end(const struct shim *s);

/* Stop all processes; and continue those that were not stopped before. */
void shim_stop_all(const struct shim *s);
void shim_continue_all(const struct shim *s);

/*
 * After shim_stop_all(): do all processes stand still by now? Only a process that
 * continued itself, by a timer's SIGCONT for example, leaves rest, also if the process has
 * stopped itself again.
 */
bool shim_has_come_to_rest(const struct shim *s);
bool shim_has_left_rest(const struct shim *s);

/*
 * Called before each read that waits for a lock of a process: stops all processes if
 * the look takes long. False: the look took too long, and the read is left out.
 */
bool shim_hold_on(const struct shim *s);

/* ---- shim_kernel.c ---- */

/* Bytes of a run beside resident memory. */
struct shim_held {
	uint64_t tables;  /* of pages, and of descriptors */
	uint64_t swapped; /* shared pages count for each process */
};

/* Add PID's bytes to H. ADDRESSES: bytes of address space. TID: a thread of PID. */
void shim_add_held(const struct shim *s, long pid, long tid, uint64_t addresses,
		   struct shim_held *h);

/*
 * PID's bytes of memory and swap; pages shared by N processes count as an Nth. A process
 * that hides the figures counts as RESIDENT, and all swap.
 */
uint64_t shim_own_bytes(const struct shim *s, long pid, long tid,
			uint64_t resident);

/* The most that the sockets of the run's network namespace can hold. */
uint64_t shim_socket_bytes(const struct shim *s);

/* Bytes for all mappings, with ADDRESSES bytes of addresses, and for the run's files. */
uint64_t shim_mapping_bytes(const struct shim *s, uint64_t addresses);

/* Bytes for DESCRIPTORS open files, and for buffers. */
uint64_t shim_file_bytes(const struct shim *s, uint64_t descriptors);

/* ---- shim_watch.c ---- */

/* Read the first bytes of /proc/PID/NAME, NUL-terminated. The length, or -1. */
ssize_t shim_read_proc(const struct shim *s, long pid, const char *name,
		       char *text, size_t size);

/* Call EACH with each thread of PID, until EACH returns false. */
void shim_each_thread(const struct shim *s, long pid,
		      bool (*each)(void *arg, long tid), void *arg);

/* Has TID, a thread of PID, closed all descriptors, or will do so soon? */
bool shim_is_ending(const struct shim *s, long pid, long tid);

/* The use of all processes of the run together. */
struct shim_use {
	uint64_t cpu_ms;
	uint64_t own_bytes; /* with files, if possibly above LEAST; or 0 */
	uint64_t resident;  /* bytes; shared pages count for each process */
	bool too_many;	    /* processes, or open files */
};

/* Measure a waiting program; use below LEAST_BYTES is not examined. */
struct shim_use shim_measure(const struct shim *s, uint64_t least_bytes);

/* Measure all processes; a reached limit ends the run. */
void shim_watch(const struct shim *s);

/*
 * The program has failed, possibly because the kernel refused a process without a report.
 * Processes that the program left still exist.
 */
void shim_watch_failed(const struct shim *s);

/* Write the name of PID to COMM (SIZE bytes). */
void shim_comm(const struct shim *s, pid_t pid, char *comm, size_t size);

/* ---- shim_cpu.c ---- */

void shim_cpu_prepare(void); /* before the cage, which hides the processors */

/* A look begins, meets a process with the text STAT of /proc/PID/stat, and ends. */
void shim_cpu_begin(void);
void shim_cpu_see(long pid, const char *stat);
void shim_cpu_end(void);

/* CPU time: TICKS of live processes, of ended processes, and of the shim. */
uint64_t shim_cpu_ms(uint64_t ticks);
/* MS without the CPU time of S's program before the run. */
uint64_t shim_cpu_since_start(const struct shim *s, uint64_t ms);

/* CPU time in ms, by getrusage(2). */
uint64_t shim_rusage_ms(int whose);

/*
 * Call shim_watch() if the last call was a tenth of a second ago. Each part of the shim
 * that may wait for long calls shim_watch_due(), so that no program's messages delay the
 * check of limits.
 */
void shim_watch_due(void);

/* Report the measured CPU time to the supervisor. */
void shim_tell_used(const struct shim *s);

/* All processes have ended and were reaped: measure and report the total use. */
void shim_watch_ended(const struct shim *s);

#endif
