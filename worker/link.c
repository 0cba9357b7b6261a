#include "worker/link.h"

#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/chan.h"
#include "ipc/crew.h"
#include "worker/nap.h"

#define US_PER_MESSAGE (1000000 / (int64_t)LINK_RATE)

enum { EXIT_SAID = 0, EXIT_ALONE = 1 };

/* One for both ways: each page that a worker writes to is a page copied. */
static char frame[CHAN_FRAME_MAX];
static char last[CHAN_FRAME_MAX]; /* link_last() may interrupt link_send() */

/*
 * A leaky bucket, kept as the moment at which it would be full: each message
 * moves that moment one step closer, and none may bring it past now.
 */
static int64_t full_us;

static void pace(void)
{
	const int64_t span = (int64_t)LINK_BURST * US_PER_MESSAGE;
	int64_t now = clock_mono_us();

	if (full_us < now)
		full_us = now;
	full_us += US_PER_MESSAGE;
	while (full_us - now > span) {
		nap_until(nap_ticket(), full_us - span);
		now = clock_mono_us();
	}
}

void link_send(const struct msg *m)
{
	size_t n;

	pace();
	n = msg_put(frame, m);
	if (chan_send(CREW_RUN_FD, frame, n) < 0)
		_exit(EXIT_ALONE);
}

static size_t piece(size_t left)
{
	return left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX;
}

void link_send_body(struct msg *m, const char *p, size_t n)
{
	struct str head = {p, piece(n)};

	if (m->type == MSG_RESULT) {
		m->result.total = n;
		m->result.head = head;
	} else {
		m->artifact.total = n;
		m->artifact.head = head;
	}
	link_send(m);
	for (size_t at = head.n; at < n;) {
		struct msg chunk = {.type = MSG_CHUNK};

		chunk.chunk.data = (struct str){p + at, piece(n - at)};
		link_send(&chunk);
		at += chunk.chunk.data.n;
	}
}

void link_recv(struct msg *m)
{
	ssize_t n = chan_recv(CREW_RUN_FD, frame);
	const char *why;

	if (n <= 0 || msg_get(m, frame, (size_t)n, &why) < 0)
		_exit(EXIT_ALONE);
}

void link_last(const struct msg *m)
{
	size_t n = msg_put(last, m);

	_exit(chan_send(CREW_RUN_FD, last, n) < 0 ? EXIT_ALONE : EXIT_SAID);
}
