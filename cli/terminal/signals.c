/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c - turns SIGINT, SIGTERM and SIGHUP into a descriptor that client.c
 * polls, so that a run is cancelled in order. The second signal ends the
 * process at once. Without an eventfd(2) the process aborts.
 */
#include "cli/terminal/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};

static int wake = -1;
static volatile sig_atomic_t noted;

static void on_signal(int sig)
{
	int saved = errno;
	uint64_t one = 1;

	if (noted != 0)
		_exit(128 + sig);
	noted = sig;
	(void)!write(wake, &one, sizeof(one));
	errno = saved;
}

void signals_watch(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (wake >= 0)
		return;
	wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake < 0)
		abort();
	for (size_t i = 0; i < ARRAY_LEN(watched); i++)
		sigaction(watched[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int signals_fd(void)
{
	return wake;
}

int signals_noted(void)
{
	return noted;
}

void signals_seen(void)
{
	uint64_t n;

	(void)!read(wake, &n, sizeof(n));
}

void signals_forget(void)
{
	signals_seen();
	noted = 0;
}

void signals_reset(void)
{
	for (size_t i = 0; i < ARRAY_LEN(watched); i++)
		signal(watched[i], SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
}
