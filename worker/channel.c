/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - the worker's end of the run's socket, for the Lua runtime, the shim and
 * signal handlers. When the supervisor is gone or breaks the protocol, nothing can
 * receive a report, so the worker exits. At the end of the stream of a run with network the run goes on.
 */
#include "worker/channel.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/send_again.h"
#include "ipc/chan.h"
#include "ipc/zygote_proto.h"
#include "worker/wait.h"

#define WAITING_US 100000 /* between calls of while_waiting() */
/* The duration of a burst at the worker's pace, which is the same at any rate. */
#define SPAN_NS ((int64_t)(1e9 * MSG_BURST_S * CHANNEL_BURST / CHANNEL_RATE))

enum { EXIT_SENT = 0, EXIT_NO_SUPERVISOR = 1, EXIT_PROTOCOL = 1 };

/*
 * The common buffer of both directions, since each page that a worker writes to is
 * copied. The least alignment places the buffer last, beginning in the page of small
 * variables.
 */
static char frame[CHAN_FRAME_MAX] __attribute__((aligned(1)));
/* a separate buffer, since these messages may interrupt channel_send() */
static char last[CHAN_FRAME_MAX];

/* allowed messages per second; 0: before RUN */
static uint64_t rate;
static int64_t ns_per_message; /* at the worker's pace */

void channel_set_rate(uint64_t messages_per_second)
{
	rate = messages_per_second;
	ns_per_message = (int64_t)(1e9 / CHANNEL_RATE / (double)rate);
}

/*
 * A leaky bucket, stored as the time when the bucket will be empty: each message delays
 * that time, to a span from now at most.
 */
static int64_t empty_ns;

static void (*while_waiting)(void);

void channel_while_waiting(void (*call)(void))
{
	while_waiting = call;
}

static void pace(uint64_t messages)
{
	int64_t now = clock_mono_us() * 1000;

	if (empty_ns < now)
		empty_ns = now;
	empty_ns += (int64_t)messages * ns_per_message;
	while (empty_ns - now > SPAN_NS) {
		int64_t until = (empty_ns - SPAN_NS) / 1000 + 1;
		int64_t soon = now / 1000 + WAITING_US;

		if (while_waiting != NULL && until > soon)
			until = soon;
		wait_until(wait_ticket(), until);
		if (while_waiting != NULL)
			while_waiting();
		now = clock_mono_us() * 1000;
	}
}

void channel_send(const struct msg *m)
{
	size_t n;
	int rc;

	if (rate > 0)
		pace(msg_cost(m, rate));
	n = msg_put(frame, m);
	/* a memory cgroup at its limit may have room again */
	while ((rc = chan_send(ZYGOTE_PROTO_RUN_FD, frame, n)) == -ENOBUFS)
		wait_until(wait_ticket(),
			   clock_mono_us() + SEND_AGAIN_MS * INT64_C(1000));
	if (rc < 0)
		_exit(EXIT_NO_SUPERVISOR);
}

static size_t piece(size_t left)
{
	return left < MSG_CHUNK_MAX ? left : MSG_CHUNK_MAX;
}

void channel_send_body(struct msg *m, const char *p, size_t n)
{
	struct str head = {p, piece(n)};

	msg_set_body(m, n, head);
	channel_send(m);
	for (size_t at = head.n; at < n;) {
		struct msg chunk = {.type = MSG_CHUNK};

		chunk.chunk.data = (struct str){p + at, piece(n - at)};
		channel_send(&chunk);
		at += chunk.chunk.data.n;
	}
}

static void decode_frame(struct msg *m, ssize_t n)
{
	const char *errmsg;

	if (n <= 0 || msg_get(m, frame, (size_t)n, &errmsg) < 0)
		_exit(EXIT_NO_SUPERVISOR);
}

void channel_recv(struct msg *m)
{
	decode_frame(m, chan_recv(ZYGOTE_PROTO_RUN_FD, frame));
}

void channel_recv_body(char *to, struct str head, size_t total)
{
	size_t have = head.n;

	memcpy(to, head.p, have);
	while (have < total) {
		struct msg m;

		channel_recv(&m);
		if (m.type != MSG_CHUNK || m.chunk.data.n > total - have)
			channel_broken();
		memcpy(to + have, m.chunk.data.p, m.chunk.data.n);
		have += m.chunk.data.n;
	}
}

void channel_broken(void)
{
	_exit(EXIT_PROTOCOL);
}

bool channel_recv_now(struct msg *m)
{
	ssize_t n = chan_recv_now(ZYGOTE_PROTO_RUN_FD, frame);

	if (n == -EAGAIN)
		return false;
	decode_frame(m, n);
	return true;
}

void channel_send_at_once(const struct msg *m)
{
	(void)chan_send(ZYGOTE_PROTO_RUN_FD, last, msg_put(last, m));
}

void channel_fail_and_exit(const char *code, const char *message,
			   struct str details)
{
	struct msg m = {.type = MSG_FAIL};
	size_t n;

	m.fail.error_code = (struct str){code, strlen(code)};
	m.fail.message = (struct str){message, strlen(message)};
	m.fail.details = details;
	n = msg_put(last, &m);
	_exit(chan_send(ZYGOTE_PROTO_RUN_FD, last, n) < 0 ? EXIT_NO_SUPERVISOR
							  : EXIT_SENT);
}

/* ---- the stream of a run with network ---- */

static bool has_begun, is_open;

void channel_stream_begin(void)
{
	has_begun = is_open = true;
}

bool channel_stream_has_begun(void)
{
	return has_begun;
}

bool channel_stream_is_open(void)
{
	return is_open;
}

void channel_stream_give_up(void)
{
	is_open = false;
}

/* N is what a call returned; an end is 0 as well. */
static size_t moved(ssize_t n)
{
	if (n > 0)
		return (size_t)n;
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		is_open = false;
	return 0;
}

size_t channel_stream_read(char *to, size_t size)
{
	return is_open ? moved(read(ZYGOTE_PROTO_CAGE_FD, to, size)) : 0;
}

size_t channel_stream_write(const char *from, size_t n)
{
	return is_open && n > 0 ? moved(write(ZYGOTE_PROTO_CAGE_FD, from, n))
				: 0;
}
