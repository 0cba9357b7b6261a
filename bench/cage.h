/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cage.h - the cage alone: a zygote, driven as the supervisor drives it; what
 * a worker costs until it waits for a run, and its end, in us of CPU.
 */
#ifndef BENCH_CAGE_H
#define BENCH_CAGE_H

double measure_cage(const char *worker);

#endif
