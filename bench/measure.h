/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.h - clocks, the cost of processes, and the floor for all figures. A failed
 * measure ends the program.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define WARM_RUNS 300

_Noreturn void die(const char *what); /* prints "WHAT: strerror(errno)" */

int64_t now_ns(void);

/* CPU time of RUSAGE_SELF, or of reaped children. */
int64_t cpu_us(int who);

/*
 * The floor: fork, a round trip over a socketpair, exit, wait; us of CPU each.
 * measure_floor() measures in a fresh process, because memory of a parent makes forks
 * dearer. A program with a call of measure_floor() answers "floor" as the first
 * argument by floor_main().
 */
double measure_floor(void);
int floor_main(void);

int64_t clock_of(pid_t pid); /* CPU us of a process, all threads */
int64_t thread_us(pid_t pid, const char *tid);
int64_t reaped_us(pid_t pid); /* of reaped children */

/* CPU us of the server PID and of its descendants that live or were reaped below the
 * server. */
int64_t server_cpu_us(pid_t pid);

/* Wait until the server PID has no work left (to collect garbage, say), for two
 * seconds at most. */
void await_rest(pid_t pid);

/*
 * Run COMMAND until its end, and reap all processes left behind: bubblewrap does not
 * wait for its init, and the init's CPU time would be lost.
 */
int adopt_main(char *const command[]);

long rss_kb(pid_t pid);	   /* proportional */
long family_kb(pid_t pid); /* with the children's */

/* List the children, of each thread oldest first; return the number. */
#define CHILDREN_MAX 256
size_t children_of(pid_t pid, pid_t all[CHILDREN_MAX]);

pid_t broker_of(pid_t pid); /* of the server PID; 0: no broker */

/* Return the zygote of the server PID, and its oldest clone; 0: no zygote. */
pid_t zygote_of(pid_t pid);
pid_t worker_of(pid_t pid);
size_t workers_of(pid_t pid); /* the number of both */

/* Sort N times; return the time that a part Q (0..1) does not exceed. */
int64_t quantile(int64_t *times, size_t n, double q);

#endif
