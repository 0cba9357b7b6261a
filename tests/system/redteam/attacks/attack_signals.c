/* SPDX-License-Identifier: Apache-2.0 */
/* attack_signals.c - attempts to end, stop or outlive other processes. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/system/redteam/attacks/attack.h"

static void kill_all(void)
{
	kill(-1, SIGKILL);
	kill(-1, SIGSTOP);
	printf("1");
}

static void kill_parent(void)
{
	kill(getppid(), SIGKILL);
	kill(1, SIGKILL);
	kill(1, SIGSTOP);
	printf("1");
}

static void stop_self(void)
{
	for (;;)
		raise(SIGSTOP);
}

/* Grandchildren in sessions of their own, with all open descriptors. */
static void daemons(void)
{
	for (int i = 0; i < 4; i++) {
		if (fork() != 0)
			continue;
		setsid();
		if (fork() != 0)
			_exit(0);
		for (int sig = 1; sig < 65; sig++)
			signal(sig, SIG_IGN);
		for (;;)
			pause();
	}
	printf("1");
}

/* The same, without an open output. */
static void quiet_daemons(void)
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			close_range(0, ~0u, 0);
			for (;;)
				pause();
		}
		_exit(0);
	}
	wait(NULL);
	printf("1");
}

static void timers(void)
{
	const struct itimerspec fast = {{0, 1}, {0, 1}};
	timer_t t;

	for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
		signal(sig, SIG_IGN);
	signal(SIGALRM, SIG_IGN);
	while (timer_create(CLOCK_MONOTONIC, NULL, &t) == 0)
		timer_settime(t, 0, &fast, NULL);
	tell_errno(true);
}

static void storm(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static void fake(void)
{
	raise(SIGSYS);
}

static void fake_exit(void)
{
	_exit(128 + SIGSYS);
}

static void fake_queue(void)
{
	union sigval v = {.sival_int = 101};

	sigqueue(getpid(), SIGSYS, v);
}

const struct attack signal_attacks[] = {
    {"kill_all", kill_all},
    {"kill_parent", kill_parent},
    {"stop_self", stop_self},
    {"daemons", daemons},
    {"quiet_daemons", quiet_daemons},
    {"timers", timers},
    {"storm", storm},
    {"fake", fake},
    {"fake_exit", fake_exit},
    {"fake_queue", fake_queue},
    {NULL, NULL},
};
