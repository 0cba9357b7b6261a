/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim_cpu.c - the CPU time of all processes of a run. shim_watch.c passes each
 * process at each look. A process spawned and ended between two looks, without a waiting
 * parent, is in no account: the time of such processes is estimated from the processes
 * met by looks. An unreadable figure counts as nothing.
 */
#include "worker/program/watch/shim_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "worker/channel.h"

#define SEEN_MOST 4352 /* max_processes at most, and some more */

/* A process met by a look. Page faults are counted exactly, and each process has some. */
struct seen {
	long pid;
	uint64_t began;
	uint64_t faults;    /* of the process and of awaited children */
	uint64_t of_waited; /* of awaited children alone */
	uint64_t
	    ticks; /* of CPU time, of the process and of awaited children */
	uint64_t ticks_of_waited;
	bool running;
	bool young; /* not met by the look before */
};

struct seen_all {
	int64_t at_ms;
	uint64_t took_ms;   /* since the look before */
	uint64_t of_waited; /* faults of the shim's awaited children */
	uint64_t ticks_of_waited;
	size_t n;
	struct seen all[SEEN_MOST]; /* by rising pid, the order of /proc */
};

static struct seen_all looks[2];
static struct seen_all *was = &looks[0], *is = &looks[1];

/* Of the look before: faults without a receiver, all faults of the ended, and the time. */
static struct missed {
	uint64_t owed, of, ms;
	uint64_t ticks,
	    ticks_got; /* of the ended, and received by waiting parents */
} missed_before;
static uint64_t missed_ms; /* by all looks */
static uint64_t processors = 1;

/* CPU time of ended processes against the time received by waiting parents, in ticks. */
static struct balance {
	uint64_t owed; /* without a receiver at the look before */
	uint64_t
	    spare; /* received at the look before, without an ended process */
} balance;

static uint64_t ticks_a_second(void)
{
	return (uint64_t)sysconf(_SC_CLK_TCK);
}

void shim_cpu_prepare(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	processors = n > 0 ? (uint64_t)n : 1;
}

void shim_cpu_begin(void)
{
	struct seen_all *other = was;
	struct rusage r = {0};

	was = is;
	is = other;
	is->n = 0;
	is->at_ms = clock_mono_ms();
	is->took_ms = was->at_ms > 0 ? (uint64_t)(is->at_ms - was->at_ms) : 0;
	(void)getrusage(RUSAGE_CHILDREN, &r);
	is->of_waited = (uint64_t)r.ru_minflt;
	is->ticks_of_waited =
	    shim_rusage_ms(RUSAGE_CHILDREN) * ticks_a_second() / 1000;
}

void shim_cpu_see(long pid, const char *stat)
{
	enum {
		STATE = 3,
		FAULTS = 10,
		OF_WAITED = 11,
		UTIME = 14,
		CUTIME = 16,
		CSTIME = 17,
		BEGAN = 22
	};
	struct seen *p = &is->all[is->n];
	const char *at = strrchr(stat, ')');
	char *end;

	if (at == NULL || is->n == SEEN_MOST)
		return;
	*p = (struct seen){.pid = pid, .running = at[2] == 'R', .young = true};
	at += strlen(") S");
	for (int field = STATE + 1; field <= BEGAN; field++, at = end) {
		uint64_t v = strtoull(at, &end, 10);

		if (field == FAULTS || field == OF_WAITED)
			p->faults += v;
		if (field == OF_WAITED)
			p->of_waited = v;
		if (field >= UTIME && field <= CSTIME)
			p->ticks += v;
		if (field >= CUTIME && field <= CSTIME)
			p->ticks_of_waited += v;
		if (field == BEGAN)
			p->began = v;
	}
	is->n++;
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The processes ended since the last look; GOT: faults received by waiting parents. */
static struct missed missed_of(uint64_t *got)
{
	struct missed m = {0};

	*got = above(is->of_waited, was->of_waited);
	m.ticks_got = above(is->ticks_of_waited, was->ticks_of_waited);
	for (size_t i = 0, j = 0; i < was->n; i++) {
		const struct seen *p = &was->all[i];
		struct seen *again;

		while (j < is->n && is->all[j].pid < p->pid)
			j++;
		again = &is->all[j];
		if (j < is->n && again->pid == p->pid &&
		    again->began == p->began) {
			again->young = false;
			*got += above(again->of_waited, p->of_waited);
			m.ticks_got +=
			    above(again->ticks_of_waited, p->ticks_of_waited);
			continue;
		}
		m.of += p->faults;
		m.ticks += p->ticks;
		if (p->young && p->running)
			m.ms += was->took_ms;
	}
	return m;
}

/*
 * A process with a life of half the time between two looks is met by half of the looks.
 * So each process met running stands for the whole time. A waiting parent receives the
 * faults of the child; a look may come a moment too early for the receipt, so the
 * balance is taken once more by the next look. A process with a longer life counts with
 * the time that its last look found.
 */
void shim_cpu_end(void)
{
	struct missed m;
	uint64_t got, owed, most, spare, lost, lost_ms, estimate = 0;

	m = missed_of(&got);
	m.owed = above(m.of, got);
	owed = above(missed_before.owed, above(got, m.of));
	if (owed > 0)
		estimate = (uint64_t)((double)missed_before.ms * (double)owed /
				      (double)missed_before.of);
	/*
	 * The ticks of ended processes which no parent received: those of the look
	 * before, as the receipt is in the look of the end, in the one after or in the
	 * one before. A time received for processes that no look met may cover as much of
	 * others, and is charged itself.
	 */
	spare = above(m.ticks_got, m.ticks);
	lost = above(balance.owed, spare);
	spare = above(spare, balance.owed);
	balance.owed = above(above(m.ticks, m.ticks_got), balance.spare);
	balance.spare = spare;
	lost_ms = lost * 1000 / ticks_a_second();
	missed_ms += lost_ms > estimate ? lost_ms : estimate;
	most = was->took_ms * processors;
	m.ms = m.ms < most ? m.ms : most;
	missed_before = m;
}

uint64_t shim_rusage_ms(int whose)
{
	struct rusage r;

	if (getrusage(whose, &r) != 0)
		return 0;
	return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1000;
}

static uint64_t before[2]; /* by the last two looks */
static uint64_t least;	   /* the sum was as much once */

/*
 * An unwaited child at the end leaves all accounts for a look, so the sum falls, and
 * for good if no look follows. A sum counts once two looks have found as much: one look
 * may count a child twice, in the child's and the parent's account.
 */
static uint64_t known_cpu_us(void)
{
	uint64_t both = before[0] < before[1] ? before[0] : before[1];

	return both > least ? both : least;
}

/* The time of the program's processes, and of the shim. */
uint64_t shim_cpu_ms(uint64_t ticks)
{
	uint64_t ms = missed_ms + ticks * 1000 / ticks_a_second() +
		      shim_rusage_ms(RUSAGE_CHILDREN) +
		      shim_rusage_ms(RUSAGE_SELF);

	least = known_cpu_us();
	before[1] = before[0];
	before[0] = ms;
	return ms > least ? ms : least;
}

uint64_t shim_cpu_since_start(const struct shim *s, uint64_t ms)
{
	return ms - (s->start_cpu_ms < ms ? s->start_cpu_ms : ms);
}

void shim_tell_used(const struct shim *s)
{
	channel_send(&(struct msg){
	    .type = MSG_USED,
	    .used = {.cpu_ms = shim_cpu_since_start(s, known_cpu_us())}});
}

void shim_watch_ended(const struct shim *s)
{
	for (size_t i = 0; i < ARRAY_LEN(before); i++)
		(void)shim_cpu_ms(0);
	shim_tell_used(s);
}
