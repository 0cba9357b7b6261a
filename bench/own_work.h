/* SPDX-License-Identifier: Apache-2.0 */
/* own_work.h - the time of a template's program by itself, without a cage. */
#ifndef BENCH_OWN_WORK_H
#define BENCH_OWN_WORK_H

#include <stddef.h>
#include <stdint.h>

#define OWN_WORK_MAX 64

/* Times for each input: until the result, and until the program's end. */
struct own_work {
	int64_t result_ns[OWN_WORK_MAX], end_ns[OWN_WORK_MAX];
	size_t n;
};

/*
 * Start PROGRAM with pipes, wait PAUSE_US until the program waits for inputs, and feed
 * "{}". Add TIMES such measurements, OWN_WORK_MAX in all.
 */
void own_work_measure(struct own_work *w, const char *program, size_t times,
		      unsigned pause_us);

#endif
