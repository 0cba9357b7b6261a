/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - clocks, what processes cost, and the floor that all figures are
 * held against. All of it ends the program when it cannot measure.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define WARM_RUNS 300

_Noreturn void die(const char *what); /* WHAT: strerror(errno) */

int64_t now_ns(void);

/* CPU time of RUSAGE_SELF, or of children that were reaped. */
int64_t cpu_us(int who);

/*
 * The floor: fork, a round trip over a socketpair, exit, wait; us of CPU each.
 * measure_floor() has it measured by a process of its own: what a parent holds
 * makes its forks dearer. A program that calls it answers "floor" as its first
 * argument by floor_main().
 */
double measure_floor(void);
int floor_main(void);

int64_t clock_of(pid_t pid); /* CPU us of a process, all threads */
int64_t thread_us(pid_t pid, const char *tid);
int64_t reaped_us(pid_t pid); /* of children that it has reaped */

/* CPU us of the server PID: its own and its descendants', as far as they live
 * or were reaped by one of them. */
int64_t server_cpu_us(pid_t pid);

/* Wait until the server PID has nothing left to do of what it was asked (to
 * collect garbage, say), for two seconds at most. */
void await_rest(pid_t pid);

/*
 * Run COMMAND, until it and all that it leaves behind has ended, which is reaped
 * here: the CPU time of bubblewrap's init, which it does not wait for, would be
 * nobody's.
 */
int adopt_main(char *const command[]);

long rss_kb(pid_t pid);	   /* proportional */
long family_kb(pid_t pid); /* and that of its children */

/* Its children, of each thread oldest first; how many. */
#define CHILDREN_MAX 256
size_t children_of(pid_t pid, pid_t all[CHILDREN_MAX]);

pid_t broker_of(pid_t pid); /* of the server PID; 0: it has none */

/* The zygote of the server PID, and its oldest clone; 0: it has none. */
pid_t zygote_of(pid_t pid);
pid_t worker_of(pid_t pid);
size_t workers_of(pid_t pid); /* how many of both there are */

/* Sort N times; the one that Q (0..1) of them do not exceed. */
int64_t quantile(int64_t *times, size_t n, double q);

#endif
