/* SPDX-License-Identifier: Apache-2.0 */
/* drive.h - servers under load for a while, with a process for each server. */
#ifndef BENCH_DRIVE_H
#define BENCH_DRIVE_H

#include <stdint.h>

#define DRIVE_MAX 4 /* servers at once */
#define DRIVE_ROUND_NS INT64_C(3000000000)

struct drive_job {
	const char *name;   /* of the tool */
	const char *params; /* members of the call's params */
	const char *says;   /* a text of each answer */
};

struct drive_figures {
	double done;	      /* ended calls */
	double busy_s, all_s; /* CPU time of the machine meanwhile */
};

/*
 * For DRIVE_ROUND_NS, after half a second of warming: PLACES calls of JOB under way
 * at each of the first SERVERS of AT (127.0.0.1:PORT/PATH). The figures are added to
 * F. Another answer ends the program.
 */
void drive_round(char *const at[], int servers, const struct drive_job *job,
		 int places, struct drive_figures *f);

#endif
