/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_still.c - stops all processes of a run while the shim counts what the
 * processes have. A count takes time: a descriptor that is moved meanwhile, from
 * a number still to be read to a number already read, would not be counted. A
 * process can continue itself, by a timer's SIGCONT for example. So the kernel's
 * count of context switches of each thread is compared before and after: a thread
 * with another count has run. A process that the program had stopped stays stopped.
 */
#include "worker/program/watch/shim_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define STILL_MS 250  /* until all stand still, and did while they were seen */
#define STOPS_MS 1000 /* of a stop, before all may go on */
#define SLOW_MS 100   /* of a look; then all processes are stopped */
#define SPENT_MS 5000 /* of a look; then the shim waits for no lock */
#define THREADS_MOST 4352 /* max_processes at most, and some more */

struct thread {
	long pid, tid;
	uint64_t turns; /* context switches */
	char state;	/* proc(5) */
};

struct threads {
	const struct shim *s;
	long pid; /* of the process that is read */
	bool whole;
	bool running;
	bool awake; /* running, or in a sleep that a stop would end */
	size_t n;
	struct thread all[THREADS_MOST];
};

/* Before the stop; after the stop; after the look. */
static struct threads before, first, last;

/* A resident between runs: before the stop, and when all had come to rest. */
static struct threads before_rest, rest;
static bool rests;

/* "\nKEY:\t12" in TEXT. */
static bool read_turns(const char *text, const char *key, uint64_t *sum)
{
	const char *p = strstr(text, key);

	if (p != NULL)
		*sum += strtoull(p + strlen(key), NULL, 10);
	return p != NULL;
}

static bool add_thread(void *arg, long tid)
{
	static const char key[] = "\nState:\t";
	struct threads *ts = arg;
	struct thread t = {.pid = ts->pid, .tid = tid};
	char name[48], text[8192];
	const char *state;

	snprintf(name, sizeof(name), "task/%ld/status", tid);
	if (shim_read_proc(ts->s, ts->pid, name, text, sizeof(text)) <= 0)
		return true; /* the thread has ended */
	state = strstr(text, key);
	if (state != NULL)
		t.state = state[strlen(key)];
	ts->whole &=
	    ts->n < THREADS_MOST && state != NULL &&
	    read_turns(text, "\nvoluntary_ctxt_switches:\t", &t.turns) &&
	    read_turns(text, "\nnonvoluntary_ctxt_switches:\t", &t.turns);
	ts->running |= t.state == 'R';
	ts->awake |= t.state == 'R' || t.state == 'S';
	if (ts->whole)
		ts->all[ts->n++] = t;
	return ts->whole;
}

/* The threads of each process but PID 1. */
static void read_threads(const struct shim *s, struct threads *ts)
{
	int fd = openat(s->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	ts->s = s;
	ts->whole = d != NULL;
	ts->running = ts->awake = false;
	ts->n = 0;
	while (ts->whole && (e = readdir(d)) != NULL) {
		ts->pid = strtol(e->d_name, NULL, 10);
		if (ts->pid > 1)
			shim_each_thread(s, ts->pid, add_thread, ts);
	}
	if (d != NULL)
		closedir(d);
}

static bool is_same_thread(const struct thread *a, const struct thread *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->turns == b->turns &&
	       a->state == b->state;
}

static bool are_same(const struct threads *a, const struct threads *b)
{
	bool same = a->whole && b->whole && a->n == b->n;

	for (size_t i = 0; i < a->n && same; i++)
		same = is_same_thread(&a->all[i], &b->all[i]);
	return same;
}

/* A thread that sleeps in the kernel stops before it goes on. */
static bool stop_threads(const struct shim *s, int64_t end_ms)
{
	const struct timespec a_while = {.tv_nsec = 1000000};

	do {
		if (kill(-1, SIGSTOP) != 0)
			return false;
		read_threads(s, &first);
		if (first.whole && !first.running)
			return true;
		(void)ppoll(NULL, 0, &a_while, NULL);
	} while (clock_mono_ms() < end_ms);
	return false;
}

/* Was thread T stopped WERE, before the shim's stop, and has not run since? */
static bool was_stopped(const struct threads *were, const struct thread *t)
{
	for (size_t i = 0; i < were->n && t->state == 'T'; i++)
		if (is_same_thread(&were->all[i], t))
			return true;
	return false;
}

/*
 * A child whose fork(2) was under way at the stop is born with a SIGSTOP, which a SIGCONT
 * to the parent alone does not take back. So the stop of all is awaited: of a parent, that
 * comes after the birth.
 */
static void await_stop(void)
{
	const struct timespec a_while = {.tv_nsec = 100000};
	int64_t end_ms = clock_mono_ms() + STOPS_MS;

	while (last.whole && last.awake && clock_mono_ms() < end_ms) {
		(void)ppoll(NULL, 0, &a_while, NULL);
		read_threads(last.s, &last);
	}
}

/*
 * The youngest process is continued first, so that a parent in wait(2) finds the
 * child running. Threads of one process stop and continue together.
 */
static void continue_threads(const struct threads *were)
{
	long stays = 0;

	await_stop();
	if (!last.whole)
		(void)kill(-1, SIGCONT);
	for (size_t i = last.whole ? last.n : 0; i-- > 0;) {
		const struct thread *t = &last.all[i];
		bool ends = i == 0 || last.all[i - 1].pid != t->pid;

		if (was_stopped(were, t))
			stays = t->pid;
		if (ends && stays != t->pid)
			(void)kill((pid_t)t->pid, SIGCONT);
	}
}

bool shim_stand_still(const struct shim *s, void (*look)(void *arg), void *arg)
{
	int64_t end_ms = clock_mono_ms() + STILL_MS;
	bool still;

	if (getpid() != 1)
		return false;
	read_threads(s, &before);
	do {
		still = stop_threads(s, end_ms);
		if (still)
			look(arg);
		read_threads(s, &last);
		still = still && !last.running && are_same(&first, &last);
	} while (!still && clock_mono_ms() < end_ms);
	continue_threads(&before);
	return still;
}

/* ---- looks that a process may hold up ---- */

static struct {
	int64_t began_ms;   /* when the look began */
	int64_t stopped_ms; /* the last stop, or the begin */
	bool stopped;
} hold;

void shim_hold_begin(void)
{
	hold.began_ms = hold.stopped_ms = clock_mono_ms();
}

/*
 * A read of /proc/PID/maps waits for the lock of PID's mappings, and no signal but
 * SIGKILL ends the wait. While PID has the lock and waits for a processor behind many
 * other processes, the shim waits, too. With the others stopped PID soon unlocks.
 */
bool shim_hold_on(const struct shim *s)
{
	int64_t now = clock_mono_ms();

	if (getpid() != 1)
		return true;
	if (now - hold.stopped_ms > SLOW_MS && !rests) {
		if (!hold.stopped)
			read_threads(s, &before);
		hold.stopped = kill(-1, SIGSTOP) == 0 || hold.stopped;
		hold.stopped_ms = clock_mono_ms();
	}
	return now - hold.began_ms <= SPENT_MS;
}

void shim_hold_end(const struct shim *s)
{
	if (!hold.stopped)
		return;
	hold.stopped = false;
	read_threads(s, &last);
	continue_threads(&before);
}

/* ---- a resident between runs ---- */

void shim_stop_all(const struct shim *s)
{
	read_threads(s, &before_rest);
	rests = kill(-1, SIGSTOP) == 0;
}

void shim_continue_all(const struct shim *s)
{
	rests = false;
	read_threads(s, &last);
	continue_threads(&before_rest);
}

/* A thread in a sleep that only its end wakes ('D') stops after that. */
bool shim_has_come_to_rest(const struct shim *s)
{
	(void)kill(-1, SIGSTOP);
	read_threads(s, &rest);
	return rest.whole && !rest.awake;
}

static bool is_at_rest(const struct thread *t)
{
	for (size_t i = 0; i < rest.n; i++)
		if (rest.all[i].pid == t->pid && rest.all[i].tid == t->tid)
			return rest.all[i].state == 'D' ||
			       rest.all[i].turns == t->turns;
	return false;
}

bool shim_has_left_rest(const struct shim *s)
{
	bool left;

	read_threads(s, &last);
	left = !last.whole || last.awake;
	for (size_t i = 0; i < last.n && !left; i++)
		left = strchr("ZX", last.all[i].state) == NULL &&
		       !is_at_rest(&last.all[i]);
	return left;
}
