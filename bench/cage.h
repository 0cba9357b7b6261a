/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cage.h - the cage alone: a zygote, driven as by the supervisor; the cost of a
 * worker until the wait for a run, and the cost of the worker's end, in us of CPU.
 */
#ifndef BENCH_CAGE_H
#define BENCH_CAGE_H

double measure_cage(const char *worker);

#endif
