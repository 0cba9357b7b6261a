/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - what is promised of a figure, and whether it holds. */
#ifndef BENCH_TARGET_H
#define BENCH_TARGET_H

enum target_bound { AT_MOST, AT_LEAST };

/*
 * GOT of WHAT, a printf format, is to be LIMIT at most, or at least. A line for
 * the end of bench/run: to the file that PADDOCK_TARGETS names, or to stdout.
 */
void target(double got, enum target_bound bound, double limit, const char *what,
	    ...) __attribute__((format(printf, 4, 5)));

#endif
