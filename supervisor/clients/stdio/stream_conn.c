/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_conn.c - a client on a stream of bytes, a message a line: reads in
 * turns of the requestor, writes as the descriptor allows, stops reading a
 * client which sends or leaves unread too much. stdio.c and unix_listen.c make
 * it. A failing descriptor closes it; the owner is told, and frees it.
 */
#include "supervisor/clients/stdio/stream_conn.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/os/log.h"
#include "base/send_again.h"
#include "base/os/sys.h"
#include "base/mem.h"
#include "proto/mcp/rpc.h"
#include "supervisor/run/threads/rpc_async.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/session/dispatch.h"
#include "supervisor/clients/stdio/line_reader.h"
#include "supervisor/clients/stdio/stream_bytes.h"

#define READ_BYTES 65536
#define UNSENT_MAX (8u << 20) /* bytes; with more unsent, stop reading */
#define LAG_BYTES (1u << 20)  /* with more unsent, no log lines */
#define LINES_EACH 4 /* a requestor's unfinished lines, in largest messages */
#define LINE_LEAST 65536 /* bytes that a line may have in any case */
#define FULL_MS 5	 /* between two checks for room for LARGE */
#define STALL_S 1	 /* between two checks of a stalled client */
#define STALL_MAX 30	 /* checks that find a stalled client unmoved */

struct stream_conn {
	bool lost; /* a write failed, though the client is there */
	struct context *ctx;
	struct session session;
	int in, out;
	struct line_reader lines;
	size_t held; /* bytes of LINES, as counted in requestor.line_bytes */
	size_t unsent_held; /* unsent bytes, as counted in memory */
	struct buf unsent;
	struct stream_bytes bytes; /* files received or sent among the lines */
	struct event *readable;
	struct event *writable;
	struct event *stalled;	   /* timer: checks a STOPPED client */
	struct event *rested;	   /* timer: ends RESTING */
	struct rpc_async *parsing; /* a large message being parsed */
	char *large;	  /* a large message which waits for a thread */
	size_t large_len; /* of LARGE, as counted in memory */
	struct fair_queue_turn turn; /* the turn for the next message */
	uint64_t written, written_then;
	unsigned unmoved; /* checks in a row that found nothing written */
	bool stopped;	  /* reading is stopped until less is unsent */
	bool resting;	  /* too much came, or LARGE waits */
	bool backlogged;  /* too many bytes are unsent */
	bool ended;  /* the input has ended; unsent bytes are still written */
	bool greets; /* only initialize is answered */
	bool waits;  /* FIRST or the end of input came */
	bool has_first;
	struct rpc_msg first;	/* owned; valid if HAS_FIRST */
	bool in_file, out_file; /* always ready, and not for epoll(7) */
	void (*on_closed)(void *arg, struct stream_conn *c);
	void *arg;
};

struct session *stream_conn_session(struct stream_conn *c)
{
	return &c->session;
}

/*
 * LARGE is TEXT (taken) of LEN bytes now, or nothing (NULL, 0); returns the
 * earlier one, which is the caller's.
 */
static char *set_large(struct stream_conn *c, char *text, size_t len)
{
	char *was = c->large;

	memory_change(&c->session.requestor->memory, c->large_len, len);
	c->large = text;
	c->large_len = len;
	return was;
}

static void forget_intake(struct stream_conn *c)
{
	rpc_async_cancel(c->parsing);
	c->parsing = NULL;
	free(set_large(c, NULL, 0));
}

static void note_closed(struct stream_conn *c, const char *what,
			const char *errmsg)
{
	log_info("conn", "requestor=%s %s=closed err=\"%s\"",
		 c->session.requestor->name, what, errmsg);
	event_del(c->readable);
	event_del(c->writable);
	event_del(c->stalled);
	event_del(c->rested);
	fair_queue_cancel(&c->turn);
	forget_intake(c);
	c->on_closed(c->arg, c);
}

/* ---- in ---- */

/* Count the unsent bytes, with lines which wait behind a file being sent. */
static size_t unsent(const struct stream_conn *c)
{
	return buf_len(&c->unsent) + buf_len(&c->bytes.after);
}

/* Are too many bytes unsent, or too many reads asked of the store? */
static bool too_much(const struct stream_conn *c, size_t unsent_most)
{
	return unsent(c) > unsent_most ||
	       c->session.n_reads >= SESSION_READS_MAX;
}

static void stop_if_needed(struct stream_conn *c)
{
	if (c->stopped || !too_much(c, UNSENT_MAX))
		return;
	c->stopped = true;
	event_del(c->readable);
	fair_queue_cancel(&c->turn);
	event_add(c->stalled, CLOCK_TIMEVAL(STALL_S * 1000));
}

static void read_more(struct stream_conn *c)
{
	event_add(c->readable, c->in_file ? CLOCK_TIMEVAL(0) : NULL);
}

static void count_unread_lines(struct stream_conn *c);

/* Read on, unless C is paused: first the lines at hand in turns, then IN. */
static void continue_reading(struct stream_conn *c)
{
	if (c->ended || c->stopped || c->resting || c->waits ||
	    c->parsing != NULL || c->session.n_batches > 0 ||
	    c->turn.lane != NULL)
		return;
	if (c->bytes.coming > 0) {
		stream_bytes_from(&c->bytes, &c->lines.rest);
		count_unread_lines(c);
		if (c->bytes.coming > 0) {
			read_more(c);
			return;
		}
	}
	if (line_reader_has_rest(&c->lines))
		fair_queue_requeue(c->ctx->turns, &c->session.requestor->turns,
				   &c->turn);
	else
		read_more(c);
}

static void rest_reading(struct stream_conn *c, int64_t ms)
{
	c->resting = true;
	evtimer_add(c->rested, CLOCK_TIMEVAL(ms));
}

/*
 * Pass M to the session. A notification or response has no answer to refuse it
 * with, so a client which sends too many is not read for a while.
 */
static void take_message(struct stream_conn *c, struct rpc_msg *m)
{
	int64_t wait_ms = 0;

	if (c->greets &&
	    (m->kind != RPC_REQUEST || strcmp(m->method, "initialize") != 0)) {
		c->waits = c->has_first = true;
		c->first = *m;
		return;
	}
	if (m->kind != RPC_REQUEST)
		wait_ms = requestor_owe_other(c->session.requestor);
	session_take(&c->session, NULL, m);
	if (wait_ms > 0)
		rest_reading(c, wait_ms);
	stop_if_needed(c);
}

static void on_parsed(void *arg, struct rpc_msg *m)
{
	struct stream_conn *c = arg;

	c->parsing = NULL;
	take_message(c, m);
	continue_reading(c);
}

/*
 * Parse TEXT, which is *taken*, on a thread. Without room on the threads TEXT
 * waits: a refusal needs the id of the message, which is unknown before
 * parsing.
 */
static void parse_line(struct stream_conn *c, char *text, size_t len)
{
	struct requestor *q = c->session.requestor;

	if (!thread_pool_has_room(c->ctx->thread_pool, q)) {
		set_large(c, text, len);
		rest_reading(c, FULL_MS);
		return;
	}
	c->parsing =
	    rpc_async_parse(c->ctx->thread_pool, q, text, len, on_parsed, c);
	if (c->parsing == NULL)
		session_refuse(&c->session, NULL, RPC_INTERNAL_ERROR,
			       RPC_ASYNC_FULL);
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
	struct stream_conn *c = arg;
	size_t len = c->large_len;
	char *large = set_large(c, NULL, 0);

	(void)fd, (void)what;
	c->resting = false;
	if (large != NULL)
		parse_line(c, large, len);
	continue_reading(c);
}

static void on_line(void *arg, const char *text, size_t len)
{
	struct stream_conn *c = arg;
	struct rpc_msg m;

	c->lines.paused = true; /* a turn is a single message */
	if (!rpc_async_takes_thread(text, len)) {
		rpc_async_parse_now(c->session.requestor, &m, text, len);
		take_message(c, &m);
		return;
	}
	parse_line(c, line_reader_take(&c->lines, text, len), len);
}

static void on_too_long(void *arg)
{
	struct stream_conn *c = arg;
	long long max = (long long)c->ctx->config->max_message_bytes;
	char errmsg[256];

	c->lines.paused = true;
	if (memory_room(&c->session.requestor->memory) < max) {
		memory_refuse(&c->session.requestor->memory);
		snprintf(errmsg, sizeof(errmsg), "%s", MEMORY_NO_ROOM);
	} else if (c->lines.max < (size_t)max)
		snprintf(errmsg, sizeof(errmsg),
			 "%zu bytes of messages of yours have not ended, and "
			 "%lld may; end them, and send this again",
			 c->session.requestor->line_bytes, LINES_EACH * max);
	else
		snprintf(errmsg, sizeof(errmsg),
			 "a message of more than %lld bytes came; this server "
			 "takes at most that (its max_message_bytes); larger "
			 "files are uploaded, and given as artifacts (paddock "
			 "run: key=@@FILE)",
			 max);
	session_refuse(&c->session, NULL, RPC_INVALID_REQUEST, errmsg);
}

static const struct line_reader_ops ops = {on_line, on_too_long};

static void count_unread_lines(struct stream_conn *c)
{
	size_t now = buf_len(&c->lines.held) + buf_len(&c->lines.rest);

	c->session.requestor->line_bytes += now - c->held;
	memory_change(&c->session.requestor->memory, c->held, now);
	c->held = now;
}

/* Add N bytes. A line may take what other lines and memory leave. */
static void add_output(struct stream_conn *c, const char *data, size_t n)
{
	size_t max = (size_t)c->ctx->config->max_message_bytes;
	size_t others = c->session.requestor->line_bytes - c->held;
	size_t room = others < LINES_EACH * max ? LINES_EACH * max - others : 0;
	int64_t free = memory_room(&c->session.requestor->memory);

	if (free < (int64_t)room - (int64_t)c->held)
		room = (size_t)free + c->held;
	c->lines.max = room > max ? max : room > LINE_LEAST ? room : LINE_LEAST;
	line_reader_feed(&c->lines, data, n, &ops, c);
	count_unread_lines(c);
}

static void on_turn(void *arg)
{
	struct stream_conn *c = arg;

	c->lines.paused = false;
	add_output(c, "", 0);
	continue_reading(c);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	static char data[READ_BYTES];
	struct stream_conn *c = arg;
	bool bytes = c->bytes.coming > 0;
	ssize_t n = bytes ? stream_bytes_read(&c->bytes, fd)
			  : read(fd, data, sizeof(data));
	const char *errmsg;

	(void)what;
	if (bytes && n == -ENOBUFS)
		return; /* reading goes on in on_bytes_room() */
	if (bytes && n < 0)
		errno = (int)-n;
	if (n == 0 && c->greets) {
		c->waits = true; /* the end of input will be read again */
		return;
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		errmsg = n == 0 ? "" : strerror(errno);
		c->ended = true; /* first: what it lets go reads nothing more */
		session_fini(&c->session);
		/* unsent answers are still written while the client reads */
		if (buf_len(&c->unsent) == 0 && c->bytes.leaving == 0)
			note_closed(c, "input", errmsg);
		else
			event_add(c->stalled, CLOCK_TIMEVAL(STALL_S * 1000));
		return;
	}
	if (bytes) {
		continue_reading(c);
		return;
	}
	if (n > 0 && memchr(data, '\n', (size_t)n) != NULL) {
		c->lines.paused = true;
		add_output(c, data, (size_t)n);
		fair_queue_submit(c->ctx->turns, &c->session.requestor->turns,
				  &c->turn);
		return;
	}
	c->lines.paused = false;
	if (n > 0)
		add_output(c, data, (size_t)n);
	continue_reading(c);
}

/* ---- out ---- */

/*
 * Check a client which does not read, or has ended its input: while C reads
 * nothing, the end of the input goes unnoticed otherwise. Who has ended it may
 * still read, slowly, what was begun; who is gone breaks the next write.
 */
static void on_stalled(evutil_socket_t fd, short what, void *arg)
{
	struct stream_conn *c = arg;
	struct pollfd in = {.fd = c->in, .events = POLLRDHUP};
	bool moved = c->written != c->written_then;

	(void)fd, (void)what;
	c->written_then = c->written;
	c->unmoved = moved ? 0 : c->unmoved + 1;
	if (!c->stopped && !c->ended)
		event_del(c->stalled);
	else if (c->unmoved >= STALL_MAX && (c->ended || poll(&in, 1, 0) > 0))
		note_closed(c, "input", "its answers are not read either");
}

/* Count the unsent bytes in the memory of the requestor. */
static void count_unsent(struct stream_conn *c)
{
	size_t now = unsent(c);

	memory_change(&c->session.requestor->memory, c->unsent_held, now);
	c->unsent_held = now;
}

/*
 * Write unsent bytes. Returns 0 when all are written, -EAGAIN, -ENOBUFS,
 * -ENODATA while the bytes of a file are awaited, or -errno if OUT is broken. A client which
 * reads as fast as C writes gets the rest after a turn of other clients.
 */
static int write_out(struct stream_conn *c)
{
	size_t until = c->written + FAIR_QUEUE_WRITE_BYTES;

	while (buf_len(&c->unsent) > 0) {
		if (c->written >= until)
			return -EAGAIN;
		ssize_t n =
		    write(c->out, buf_data(&c->unsent), buf_len(&c->unsent));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sys_send_error();
		buf_drop(&c->unsent, (size_t)n);
		c->written += (size_t)n;
	}
	while (c->bytes.leaving > 0) {
		ssize_t n = c->written < until
				? stream_bytes_write(&c->bytes, c->out)
				: -EAGAIN;

		if (n < 0 && n != -EINTR)
			return (int)n;
		c->written += n > 0 ? (size_t)n : 0;
	}
	if (c->unsent.cap > READ_BYTES)
		buf_fini(&c->unsent);
	if (buf_len(&c->bytes.after) == 0)
		return 0;
	buf_fini(&c->unsent);
	c->unsent = c->bytes.after;
	c->bytes.after = (struct buf){0};
	return -EAGAIN;
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct stream_conn *c = arg;
	int rc = write_out(c);

	(void)fd, (void)what;
	count_unsent(c);
	if (rc < 0 && !send_again_may(rc) && rc != -ENODATA) {
		c->lost = rc != -EPIPE && rc != -ECONNRESET;
		note_closed(c, "output", strerror(-rc));
		return;
	}
	if (rc == -EAGAIN && c->out_file)
		event_active(c->writable, EV_WRITE, 0);
	else if (send_again_may(rc))
		SEND_AGAIN(c->writable, c->out, rc);
	if (c->ended && rc == 0) {
		note_closed(c, "input", "");
		return;
	}
	if (c->ended || !c->stopped || too_much(c, UNSENT_MAX / 2))
		return;
	c->stopped = false;
	c->backlogged = false;
	sessions_read_on(c->ctx);
	continue_reading(c);
}

/* Write in the next turn of the loop, so that all output leaves together. */
static void wake(void *arg)
{
	struct stream_conn *c = arg;

	if (!event_pending(c->writable, EV_WRITE | EV_TIMEOUT, NULL))
		event_active(c->writable, EV_WRITE, 0);
}

/* Return the buffer for lines: lines wait for the end of a file being sent. */
static struct buf *lines_out(struct stream_conn *c)
{
	return c->bytes.leaving > 0 ? &c->bytes.after : &c->unsent;
}

static void end_line(struct stream_conn *c)
{
	buf_add(lines_out(c), "\n", 1);
	count_unsent(c);
	wake(c);
	if (unsent(c) > UNSENT_MAX)
		c->backlogged = true;
	stop_if_needed(c);
}

static void send_line(void *arg, void *stream, const char *text, size_t len)
{
	struct stream_conn *c = arg;

	(void)stream; /* the client has a single stream */
	if (text == NULL)
		return; /* the answer is no longer wanted */
	buf_add(lines_out(c), text, len);
	end_line(c);
}

static void send_answer(void *arg, void *stream, const char *text, size_t len,
			struct reply_hint hint)
{
	(void)hint; /* a line has no status */
	send_line(arg, stream, text, len);
}

/* Send LINE, taking its buffer if possible: 16 MB take 5 ms to copy. */
static void send_taken(void *arg, void *stream, struct buf *line,
		       struct reply_hint hint)
{
	struct stream_conn *c = arg;

	(void)hint;
	if (buf_len(&c->unsent) > 0 || c->bytes.leaving > 0) {
		send_line(arg, stream, buf_data(line), buf_len(line));
		return;
	}
	buf_fini(&c->unsent);
	c->unsent = *line;
	*line = (struct buf){0};
	end_line(c);
}

static void on_read_done(void *arg)
{
	struct stream_conn *c = arg;

	wake(c);
	continue_reading(c); /* the last batch may be done */
}

static bool is_backlogged(void *arg)
{
	const struct stream_conn *c = arg;

	return c->backlogged;
}

static bool does_lag(void *arg)
{
	const struct stream_conn *c = arg;

	return c->backlogged || unsent(c) > LAG_BYTES;
}

static bool take_upload_bytes(void *arg, int64_t size,
			      const struct session_bytes *to, void *to_arg)
{
	struct stream_conn *c = arg;

	if (c->bytes.coming > 0)
		return false;
	c->bytes.coming = size;
	c->bytes.to = to;
	c->bytes.arg = to_arg;
	return true;
}

static bool send_bytes(void *arg, struct artifact_source *source)
{
	struct stream_conn *c = arg;

	wake(c);
	return stream_bytes_send(&c->bytes, c->out, source, wake, c);
}

static bool sends_bytes(void *arg)
{
	const struct stream_conn *c = arg;

	return c->bytes.leaving > 0;
}

static void on_bytes_room(void *arg)
{
	continue_reading(arg);
}

static const struct session_ops session_ops = {.send = send_line,
					       .answer = send_answer,
					       .answer_taken = send_taken,
					       .backlogged = is_backlogged,
					       .lags = does_lag,
					       .read_done = on_read_done,
					       .take_bytes = take_upload_bytes,
					       .bytes_room = on_bytes_room,
					       .send_bytes = send_bytes,
					       .sends_bytes = sends_bytes};

/* ---- life ---- */

/* Is FD unfit for epoll(7): a file, a folder, a device but no terminal? */
static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
		(S_ISCHR(st.st_mode) && !isatty(fd)));
}

struct stream_conn *
stream_conn_new(struct context *ctx, struct requestor *requestor, int in,
		int out, void (*on_closed)(void *, struct stream_conn *),
		void *arg)
{
	struct stream_conn *c = xcalloc(1, sizeof(*c));

	c->ctx = ctx;
	c->in = in;
	c->out = out;
	c->in_file = is_file(in);
	c->out_file = is_file(out);
	c->on_closed = on_closed;
	c->arg = arg;
	c->lines.max = (size_t)ctx->config->max_message_bytes;
	session_init(&c->session, ctx, requestor, &session_ops, c);
	c->readable =
	    event_new(ctx->base, in, c->in_file ? 0 : EV_READ, on_readable, c);
	c->writable = event_new(ctx->base, out, c->out_file ? 0 : EV_WRITE,
				on_writable, c);
	c->stalled = event_new(ctx->base, -1, EV_PERSIST, on_stalled, c);
	c->rested = evtimer_new(ctx->base, on_rested, c);
	c->turn = (struct fair_queue_turn){.take = on_turn, .arg = c};
	read_more(c);
	return c;
}

void stream_conn_greet(struct stream_conn *c)
{
	c->greets = true;
}

void stream_conn_serve(struct stream_conn *c)
{
	bool has_first = c->has_first;

	c->greets = c->waits = c->has_first = false;
	if (has_first)
		take_message(c, &c->first);
	continue_reading(c);
}

bool stream_conn_lost(const struct stream_conn *c)
{
	return c->lost;
}

void stream_conn_free(struct stream_conn *c)
{
	int64_t until, left;
	int rc;

	if (c == NULL)
		return;
	until = c->ctx->flush_until_ms;
	if (!c->ended)
		session_fini(&c->session);
	while (send_again_may(rc = write_out(c)) &&
	       (left = until - clock_mono_ms()) > 0)
		send_again_wait(c->out, rc, left);
	event_free(c->readable);
	event_free(c->writable);
	event_free(c->stalled);
	event_free(c->rested);
	fair_queue_cancel(&c->turn);
	forget_intake(c);
	if (c->has_first)
		rpc_async_free(c->ctx->thread_pool, c->session.requestor,
			       &c->first);
	line_reader_fini(&c->lines);
	count_unread_lines(c);
	stream_bytes_fini(&c->bytes);
	buf_fini(&c->unsent);
	count_unsent(c);
	free(c);
}
