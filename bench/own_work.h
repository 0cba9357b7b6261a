/* SPDX-License-Identifier: Apache-2.0 */
/* own_work.h - what a template's program takes by itself, without a cage. */
#ifndef BENCH_OWN_WORK_H
#define BENCH_OWN_WORK_H

#include <stddef.h>
#include <stdint.h>

#define OWN_WORK_MAX 64

/* Of each time that it was fed: until its result was there, until it had ended. */
struct own_work {
	int64_t result_ns[OWN_WORK_MAX], end_ns[OWN_WORK_MAX];
	size_t n;
};

/*
 * PROGRAM is started with pipes, and after PAUSE_US, in which it gets to where it
 * waits for its inputs, fed "{}". TIMES such measurements more, OWN_WORK_MAX in all.
 */
void own_work_measure(struct own_work *w, const char *program, size_t times,
		      unsigned pause_us);

#endif
