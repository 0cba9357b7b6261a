/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.c - timeouts of steps, by a common ITIMER_REAL, for steps.c. A timer that is
 * overdue for longer than the grace ends the worker from the signal handler; too many
 * timers are -ENOSPC.
 */
#include "worker/timers.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

#include "base/clock.h"
#include "worker/channel.h"
#include "worker/wait.h"

enum timer_state { TIMER_FREE, TIMER_RUNNING, TIMER_DUE };

struct timer {
	/* RUNNING: when the timer is due; DUE: when the timer ends the worker */
	int64_t at_us;
	int64_t grace_us;
	const char *details;
	/* set last, so that the handler can read the other members */
	_Atomic int state;
};

static struct timer timers[TIMERS_MAX];
/* no timer with this or a higher index was ever used */
static _Atomic int highest;
static _Atomic int64_t next_us; /* time of the next SIGALRM; 0: none */
static void (*_Atomic on_due)(void);
static _Atomic int64_t rested_us;

static void alarm_at(int64_t at_us)
{
	int64_t left = at_us - clock_mono_us();
	struct itimerval it = {0};

	if (left < 1)
		left = 1;
	it.it_value.tv_sec = left / 1000000;
	it.it_value.tv_usec = left % 1000000;
	atomic_store(&next_us, at_us);
	(void)setitimer(ITIMER_REAL, &it, NULL);
}

/* Mark due timers. Returns the time of the next due timer; 0: no timer is running. */
static int64_t ring(int64_t now, bool *rang)
{
	int64_t next = 0;

	for (int i = 0; i < atomic_load(&highest); i++) {
		struct timer *t = &timers[i];
		int state = atomic_load(&t->state);

		if (state == TIMER_FREE)
			continue;
		if (state == TIMER_DUE && now >= t->at_us)
			channel_fail_and_exit(
			    "STEP_EXECUTION_FAILED",
			    "a step went on after its timeout and the grace "
			    "that follows it",
			    (struct str){t->details, strlen(t->details)});
		if (state == TIMER_RUNNING && now >= t->at_us) {
			t->at_us = now + t->grace_us;
			atomic_store(&t->state, TIMER_DUE);
			*rang = true;
		}
		if (next == 0 || t->at_us < next)
			next = t->at_us;
	}
	return next;
}

static void on_alarm(int sig)
{
	int saved = errno;
	bool rang = false;
	int64_t next = ring(clock_mono_us(), &rang);
	void (*due)(void) = atomic_load(&on_due);

	(void)sig;
	atomic_store(&next_us, 0);
	if (next > 0)
		alarm_at(next);
	if (rang) {
		if (due != NULL)
			due();
		wait_wake();
	}
	errno = saved;
}

/*
 * Delay all timers. A SIGALRM meanwhile is handled afterwards, and finds fewer timers
 * due.
 */
static void on_continued(int sig, siginfo_t *info, void *context)
{
	int64_t us = (int64_t)info->si_value.sival_int * 1000;

	(void)sig, (void)context;
	if (info->si_code != SI_QUEUE)
		return;
	for (int i = 0; i < atomic_load(&highest); i++)
		timers[i].at_us += us;
	atomic_fetch_add(&rested_us, us);
}

int timers_install(void)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct sigaction go_on = {.sa_sigaction = on_continued,
				  .sa_flags = SA_RESTART | SA_SIGINFO};

	sigemptyset(&sa.sa_mask);
	sigemptyset(&go_on.sa_mask);
	sigaddset(&go_on.sa_mask, SIGALRM);
	return sigaction(SIGALRM, &sa, NULL) < 0 ||
		       sigaction(SIGCONT, &go_on, NULL) < 0
		   ? -errno
		   : 0;
}

int64_t timers_rested_us(void)
{
	return atomic_load(&rested_us);
}

void timers_on_due(void (*due)(void))
{
	atomic_store(&on_due, due);
}

int timers_start(int64_t due_us, int64_t grace_us, const char *details)
{
	int i = 0;
	int64_t next;

	while (i < TIMERS_MAX && atomic_load(&timers[i].state) != TIMER_FREE)
		i++;
	if (i == TIMERS_MAX)
		return -ENOSPC;
	timers[i].at_us = due_us;
	timers[i].grace_us = grace_us;
	timers[i].details = details;
	if (i >= atomic_load(&highest))
		atomic_store(&highest, i + 1);
	atomic_store(&timers[i].state, TIMER_RUNNING);
	/* An alarm between these lines takes this timer into account. */
	next = atomic_load(&next_us);
	if (next == 0 || due_us < next)
		alarm_at(due_us);
	return i;
}

/* The alarm stays: the handler finds no due timer and sets the next alarm. */
void timers_stop(int timer)
{
	atomic_store(&timers[timer].state, TIMER_FREE);
}

bool timers_due(int timer)
{
	return atomic_load(&timers[timer].state) == TIMER_DUE;
}

void timers_off(void)
{
	for (int i = 0; i < atomic_load(&highest); i++)
		timers_stop(i);
}
