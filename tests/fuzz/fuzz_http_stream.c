/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of one session, while the client loses and takes up connections: each step
 * takes two bytes of the input. In every order, a connection must receive events of its
 * own stream alone, in order and never twice; the answer must be kept to the end.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/clients/streamable_http/http_mcp.h"
#include "supervisor/clients/streamable_http/http_session.h"
#include "supervisor/clients/streamable_http/http_stream.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"

#define STREAMS 6 /* streams with new events at the same time */
#define CONNS 8
#define ROUNDS_MAX 200
#define UNRELATED 0 /* the tag of an event without a request */
#define PAD_MAX 40000
#define OF_GET                                                                 \
	(UINT64_C(1) << 63) /* in a number: the stream is of no request */

/* The client's end of a connection. */
struct reader {
	int fd; /* -1: free */
	struct buf in, body;
	bool headed, whole, refused;
	uint64_t number; /* of the stream; 0: not known yet */
	uint64_t seq;	 /* the last event's */
	int tag;	 /* the tag of the received events; -1: no event yet */
	bool answered;
};

struct open {
	struct http_exchange *st; /* NULL: free */
	int tag;
};

static struct http_sessions sessions;
static struct http_session *session;
static struct requestor requestor = {.name = (char *)"fuzz"};
static struct reader readers[CONNS];
static struct open open_streams[STREAMS];
static int last_tag;
static uint64_t ended[HTTP_REPLAY_MAX]; /* the newest, by number */
static size_t n_ended;

/* ---- the server's side ---- */

static void turn(void)
{
	for (int i = 0; i < 3; i++)
		event_base_loop(base, EVLOOP_NONBLOCK);
}

/* ---- the client's ---- */

static void on_event(struct reader *r, char *text)
{
	unsigned long long number, seq;
	char *payload = strstr(text, "data: ");
	bool of_get = strncmp(text, "id: g", 5) == 0;
	int tag, n = of_get ? sscanf(text, "id: g%llu-%llu", &number, &seq)
			    : sscanf(text, "id: %llu-%llu", &number, &seq);

	assert(n == 2 && payload != NULL);
	number |= of_get ? OF_GET : 0;
	/*
	 * after another connection took up the stream, the connection has a stream of
	 * its own
	 */
	if (r->number != number && (r->number & number & OF_GET) != 0)
		r->number = r->seq = 0;
	assert(r->number == 0 || r->number == number);
	r->number = number;
	payload += strlen("data: ");
	if (*payload == '\0') { /* priming: where to go on from */
		assert(seq >= r->seq);
		r->seq = seq;
		return;
	}
	assert(seq > r->seq && !r->answered);
	r->seq = seq;
	n = sscanf(payload, "{\"tag\":%d", &tag);
	assert(n == 1 && (r->tag < 0 || r->tag == tag));
	r->tag = tag;
	r->answered = strstr(payload, "\"result\"") != NULL;
}

static void take_events(struct reader *r)
{
	char *end;

	buf_add(&r->body, "", 1);
	while ((end = strstr(buf_data(&r->body), "\n\n")) != NULL) {
		size_t n = (size_t)(end - buf_data(&r->body)) + 2;

		*end = '\0';
		on_event(r, end - (n - 2));
		buf_drop(&r->body, n);
	}
	r->body.len--;
}

static void take_chunks(struct reader *r)
{
	while (!r->whole && buf_len(&r->in) > 0) {
		const char *line = buf_data(&r->in);
		const char *end = memmem(line, buf_len(&r->in), "\r\n", 2);
		size_t n, head;

		if (end == NULL)
			return;
		n = strtoul(line, NULL, 16);
		head = (size_t)(end - line) + 2;
		if (buf_len(&r->in) < head + n + 2)
			return;
		buf_add(&r->body, line + head, n);
		buf_drop(&r->in, head + n + 2);
		r->whole = n == 0;
	}
	take_events(r);
}

/* Read up to MOST bytes. */
static void hear(struct reader *r, size_t most)
{
	static char data[1 << 16];
	ssize_t n;

	while (r->fd >= 0 && most > 0 &&
	       (n = read(r->fd, data,
			 most < sizeof(data) ? most : sizeof(data))) > 0) {
		most -= (size_t)n;
		buf_add(&r->in, data, (size_t)n);
		turn();
	}
	if (!r->headed) {
		const char *end = buf_len(&r->in) == 0
				      ? NULL
				      : memmem(buf_data(&r->in),
					       buf_len(&r->in), "\r\n\r\n", 4);

		if (end == NULL)
			return;
		r->headed = true;
		buf_drop(&r->in, (size_t)(end - buf_data(&r->in)) + 4);
	}
	take_chunks(r);
}

static void cut(struct reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	buf_fini(&r->in);
	buf_fini(&r->body);
	turn();
}

/* A request on connection R, anew; the server's end, which is to be answered. */
static struct http_conn *request(struct reader *r)
{
	static const char text[] = "POST /mcp HTTP/1.1\r\nHost: a\r\n"
				   "Content-Length: 0\r\n\r\n";
	int fds[2];

	cut(r);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
		abort();
	*r = (struct reader){.fd = fds[0], .tag = -1};
	http_pool_add(&pool, fds[1], NULL, SIZE_MAX);
	if (write(r->fd, text, sizeof(text) - 1) != sizeof(text) - 1)
		abort();
	asked = NULL;
	turn();
	assert(asked != NULL);
	return asked;
}

/* ---- steps ---- */

static struct reader *reader_at(uint8_t arg)
{
	return &readers[arg % CONNS];
}

static void post(uint8_t arg)
{
	struct open *o = &open_streams[arg % STREAMS];

	if (o->st != NULL)
		return;
	o->st = http_stream_new(session, request(reader_at(arg)));
	o->tag = ++last_tag;
	http_exchange_begin(o->st);
}

static void say(struct open *o, const char *kind, size_t pad, bool last)
{
	struct http_exchange *st = o != NULL ? o->st : NULL;
	struct buf text = {0};

	if (o != NULL && st == NULL)
		return;
	buf_printf(&text, "{\"tag\":%d,%s,\"pad\":\"%*s\"}",
		   o != NULL ? o->tag : UNRELATED, kind, (int)pad, "");
	if (last) {
		memmove(ended + 1, ended, sizeof(ended) - sizeof(*ended));
		ended[0] = st->sse.number;
		n_ended += n_ended < HTTP_REPLAY_MAX;
		o->st = NULL;
		http_session_ops.answer(session, st, buf_data(&text),
					buf_len(&text), (struct reply_hint){0});
	} else {
		http_session_ops.send(session, st, buf_data(&text),
				      buf_len(&text));
	}
	buf_fini(&text);
	turn();
}

static void notify(uint8_t arg)
{
	say(&open_streams[arg % STREAMS], "\"method\":\"m\"",
	    arg / STREAMS % 4 * (PAD_MAX / 3), false);
}

static void ask(uint8_t arg)
{
	say(&open_streams[arg % STREAMS], "\"id\":1,\"method\":\"m\"", arg,
	    false);
}

static void answer(uint8_t arg)
{
	say(&open_streams[arg % STREAMS], "\"id\":1,\"result\":1", arg, true);
}

static void tell(uint8_t arg)
{
	say(NULL, "\"method\":\"m\"", arg * (PAD_MAX / UINT8_MAX), false);
}

static void listen_get(uint8_t arg)
{
	http_stream_listen(session, request(reader_at(arg)));
}

static void lose(uint8_t arg)
{
	cut(reader_at(arg));
}

static void read_some(uint8_t arg)
{
	hear(reader_at(arg), arg < UINT8_MAX ? 1U + arg * arg : SIZE_MAX);
}

/* R goes on after event SEQ of stream NUMBER. */
static void resume(struct reader *r, uint64_t number, uint64_t seq)
{
	struct sse_id at;
	char id[64];

	snprintf(
	    id, sizeof(id), "%s%llu-%llu", (number & OF_GET) != 0 ? "g" : "",
	    (unsigned long long)(number & ~OF_GET), (unsigned long long)seq);
	if (http_stream_resume(session, request(r), id, &at) != HTTP_RESUMED) {
		http_conn_reply(asked, 400, NULL, NULL, 0);
		cut(r);
		return;
	}
	r->number = number;
	r->seq = seq;
	turn();
}

/* Resume after the last event that this reader received. */
static void resume_own(uint8_t arg)
{
	struct reader *r = reader_at(arg);

	if (r->number != 0)
		resume(r, r->number, r->seq);
}

static void resume_any(uint8_t arg)
{
	resume(reader_at(arg),
	       (arg / CONNS % 16U) | (arg % 2 == 0 ? OF_GET : 0), arg % 5U);
}

static void (*const steps[])(uint8_t arg) = {
    post,	notify, ask,	   answer,     tell,
    listen_get, lose,	read_some, resume_own, resume_any};

/* ---- the whole input ---- */

/* The newest ended streams are kept whole: each must have its answer. */
static void check_ended(void)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n_ended; i++) {
		struct reader *r = &readers[0];
		struct http_exchange *st;

		TAILQ_FOREACH(st, &session->replayable, link)
			if (st->sse.number == ended[i])
				break;
		if (st == NULL) {
			assert(bytes > HTTP_REPLAY_BYTES / 2);
			return;
		}
		bytes += st->sse.bytes;
		resume(r, ended[i], 0);
		hear(r, SIZE_MAX);
		assert(r->answered && r->whole);
	}
}

static void begin(void)
{
	static struct sessions all;
	static struct context ctx = {.sessions = &all, .methods = &methods};
	static struct config config;

	log_set_level(LOG_LEVEL_ERROR);
	pool_begin();
	ctx.base = base;
	ctx.config = &config;
	sessions_init(&all);
	TAILQ_INIT(&requestor.http_ended);
	http_mcp_init(&sessions, &ctx, &pool.held);
	for (size_t i = 0; i < CONNS; i++)
		readers[i].fd = -1;
}

static void end(void)
{
	for (size_t i = 0; i < CONNS; i++)
		cut(&readers[i]);
	http_session_end(session, "the end");
	memset(open_streams, 0, sizeof(open_streams));
	n_ended = 0;
	last_tag = 0;
	http_pool_fini(&pool, 0);
	turn();
	assert(pool.n == 0 && pool.held.unread == 0 && pool.held.bodies == 0);
	assert(sessions.n == 0 && sessions.exchanges.share.n_read == 0 &&
	       sessions.ended_bytes == 0);
	assert(requestor.http.unread == 0 && requestor.http_open_streams == 0 &&
	       requestor.http_live_bytes == 0 && requestor.http_streams == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (base == NULL)
		begin();
	session = http_session_new(&sessions, &requestor);
	for (size_t i = 0; i + 1 < size && i < 2 * ROUNDS_MAX; i += 2)
		steps[data[i] % ARRAY_LEN(steps)](data[i + 1]);
	for (size_t i = 0; i < CONNS; i++)
		hear(&readers[i], SIZE_MAX);
	check_ended();
	end();
	return 0;
}
