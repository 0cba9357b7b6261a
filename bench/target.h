/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - the promised bound of a figure, and the verdict. */
#ifndef BENCH_TARGET_H
#define BENCH_TARGET_H

enum target_bound { AT_MOST, AT_LEAST };

/*
 * Judge GOT of WHAT, a printf format: LIMIT at most, or at least. The line for the end
 * of bench/run goes to the file of PADDOCK_TARGETS, or to stdout.
 */
void target(double got, enum target_bound bound, double limit, const char *what,
	    ...) __attribute__((format(printf, 4, 5)));

#endif
