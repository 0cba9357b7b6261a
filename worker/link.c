#include "worker/link.h"

#include <assert.h>
#include <errno.h>
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

static void pace(uint64_t messages)
{
	const int64_t span = (int64_t)LINK_BURST * US_PER_MESSAGE;
	int64_t now = clock_mono_us();

	if (full_us < now)
		full_us = now;
	full_us += (int64_t)messages * US_PER_MESSAGE;
	while (full_us - now > span) {
		nap_until(nap_ticket(), full_us - span);
		now = clock_mono_us();
	}
}

void link_send(const struct msg *m)
{
	size_t n;

	pace(msg_cost(m));
	n = msg_put(frame, m);
	if (chan_send(CREW_RUN_FD, frame, n) < 0)
		_exit(EXIT_ALONE);
}

static size_t piece(size_t left)
{
	return left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX;
}

static void set_body(struct msg *m, uint64_t total, struct str head)
{
	switch (m->type) {
	case MSG_RESULT:
		m->result.total = total;
		m->result.head = head;
		break;
	case MSG_ARTIFACT:
		m->artifact.total = total;
		m->artifact.head = head;
		break;
	case MSG_CALL:
		m->call.total = total;
		m->call.head = head;
		break;
	default:
		assert(m->type == MSG_INPUT);
		m->input.total = total;
		m->input.head = head;
	}
}

void link_send_body(struct msg *m, const char *p, size_t n)
{
	struct str head = {p, piece(n)};

	set_body(m, n, head);
	link_send(m);
	for (size_t at = head.n; at < n;) {
		struct msg chunk = {.type = MSG_CHUNK};

		chunk.chunk.data = (struct str){p + at, piece(n - at)};
		link_send(&chunk);
		at += chunk.chunk.data.n;
	}
}

static void decode(struct msg *m, ssize_t n)
{
	const char *why;

	if (n <= 0 || msg_get(m, frame, (size_t)n, &why) < 0)
		_exit(EXIT_ALONE);
}

void link_recv(struct msg *m)
{
	decode(m, chan_recv(CREW_RUN_FD, frame));
}

bool link_recv_now(struct msg *m)
{
	ssize_t n = chan_recv_now(CREW_RUN_FD, frame);

	if (n == -EAGAIN)
		return false;
	decode(m, n);
	return true;
}

void link_last(const struct msg *m)
{
	size_t n = msg_put(last, m);

	_exit(chan_send(CREW_RUN_FD, last, n) < 0 ? EXIT_ALONE : EXIT_SAID);
}
