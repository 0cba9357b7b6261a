/* SPDX-License-Identifier: Apache-2.0 */
/* drive.h - servers under load, for a while, each by a process of its own. */
#ifndef BENCH_DRIVE_H
#define BENCH_DRIVE_H

#include <stdint.h>

#define DRIVE_MAX 4 /* servers at once */
#define DRIVE_ROUND_NS INT64_C(3000000000)

struct drive_job {
	const char *name;   /* of the tool */
	const char *params; /* members of the call's params */
	const char *says;   /* what each answer has */
};

struct drive_figures {
	double done;	      /* calls that ended… */
	double busy_s, all_s; /* …and CPU time of the machine meanwhile */
};

/*
 * For DRIVE_ROUND_NS, after half a second of warming: PLACES calls of JOB under way
 * at each of the first SERVERS of AT (127.0.0.1:PORT/PATH). What came of it is added
 * to F. An answer that says anything else ends the program.
 */
void drive_round(char *const at[], int servers, const struct drive_job *job,
		 int places, struct drive_figures *f);

#endif
