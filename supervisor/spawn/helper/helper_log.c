/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helper_log.c - relays the standard error of a helper program to the log;
 * browser_process.c and egress.c open a pipe for each start. Lines over the
 * rate, and the ends of long lines, are dropped, and the number of lost lines
 * is logged; the program is never waited for.
 */
#include "supervisor/spawn/helper/helper_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"

#define READS_PER_WAKE 16

struct helper_log {
	struct event_base *base;
	const char *part;	/* of the lines */
	struct event *readable; /* NULL: closed */
	int fd;
	char line[HELPER_LOG_LINE];
	size_t n;
	int64_t left, since; /* lines allowed, as of SINCE */
	uint64_t lost;
};

static void refill(struct helper_log *l)
{
	int64_t now = clock_mono_ms();
	int64_t more = (now - l->since) * HELPER_LOG_RATE / 1000;

	if (more <= 0)
		return;
	l->since = now;
	l->left = l->left + more < HELPER_LOG_BURST ? l->left + more
						    : HELPER_LOG_BURST;
	if (l->lost > 0)
		log_warn(l->part, "log=lossy lost=%llu",
			 (unsigned long long)l->lost);
	l->lost = 0;
}

static void end_line(struct helper_log *l)
{
	refill(l);
	if (l->n > 0 && l->left > 0) {
		l->left--;
		log_relay(l->part, l->line, l->n);
	} else if (l->n > 0) {
		l->lost++;
	}
	l->n = 0;
}

static void hang_up(struct helper_log *l)
{
	end_line(l);
	if (l->readable != NULL) {
		event_free(l->readable);
		close(l->fd);
	}
	l->readable = NULL;
}

/* Read a piece. Returns whether there may be more. */
static bool read_log(struct helper_log *l)
{
	char piece[4096];
	ssize_t n = read(l->fd, piece, sizeof(piece));

	for (ssize_t i = 0; i < n; i++)
		if (piece[i] == '\n')
			end_line(l);
		else if (l->n < sizeof(l->line))
			l->line[l->n++] = piece[i];
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		hang_up(l);
	return n > 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct helper_log *l = arg;

	(void)fd, (void)what;
	for (int i = 0; i < READS_PER_WAKE && read_log(l); i++)
		;
}

struct helper_log *helper_log_new(struct event_base *base, const char *part)
{
	struct helper_log *l = xcalloc(1, sizeof(*l));

	l->base = base;
	l->part = part;
	l->left = HELPER_LOG_BURST;
	l->since = clock_mono_ms();
	return l;
}

int helper_log_open(struct helper_log *l)
{
	int ends[2], high, rc;

	hang_up(l);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	/* above the descriptor numbers which a child assigns */
	high = fcntl(ends[1], F_DUPFD_CLOEXEC, 16);
	close(ends[1]);
	if (high < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
		rc = -errno;
		close(ends[0]);
		if (high >= 0)
			close(high);
		return rc;
	}
	l->fd = ends[0];
	l->readable =
	    event_new(l->base, l->fd, EV_READ | EV_PERSIST, on_readable, l);
	event_add(l->readable, NULL);
	return high;
}

void helper_log_free(struct helper_log *l)
{
	if (l == NULL)
		return;
	/* the last lines that the program has written */
	if (l->readable != NULL)
		on_readable(l->fd, EV_READ, l);
	hang_up(l);
	free(l);
}
