/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - what executing a run takes at this instance: the place in the queue, the
 * worker, work on threads. struct run has the facts of the run.
 */
#ifndef SUPERVISOR_RUN_JOB_H
#define SUPERVISOR_RUN_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/id.h"
#include "supervisor/requestor/sched.h"

struct browser_run;
struct children;
struct resident;
struct run;
struct input;
struct output_parse_job;
struct run_look;
struct runs;
struct validation_job;
struct worker;

/* A worker that waits for a client; see runs_park(). */
struct parking {
	bool is;
	/* the worker is stopped: no place in use, no time counted */
	bool stopped;
	int64_t since_ms;  /* monotonic */
	int64_t rested_ms; /* earlier rests, in all */
};

struct job {
	struct sched_item queued; /* while the run waits for a worker */
	unsigned starts;	  /* failed tries to start a worker */
	/*
	 * The row is being changed from queued to begun: until that is durable,
	 * the run has its place and no worker.
	 */
	bool beginning;
	struct worker *worker; /* the living worker, or NULL; owns itself */
	/* residents.c's: the resident, until the run's end, and the run's turn */
	struct resident *resident;
	TAILQ_ENTRY(run) turn;
	struct parking parked;
	/* a client has the run's id as its answer, and may ask for the result */
	bool has_handle;
	/*
	 * owned: artifacts among the input files, in use until the end:
	 * runs_files_over()
	 */
	char (*held)[ID_SIZE];
	size_t n_held;
	struct input *input;	     /* questions; input.c's, or NULL */
	struct browser_run *browser; /* browser calls; browser.c's */
	struct children *children;   /* calls of templates; children.c's */
	/* runs_queue.c's, until the output may have a thread */
	struct run_look *look;
	/* while a thread reads the output */
	struct output_parse_job *reading;
	void *reading_arg; /* runs_output.c's, with READING, or before */
	size_t tree_bytes; /* memory of the output's tree meanwhile */
	struct validation_job *checked; /* while a thread checks the output */
	struct runs *checked_by;	/* the runs that CHECKED belongs to */
	int64_t polled_ms;		/* for requestor_polled() */
};

#endif
