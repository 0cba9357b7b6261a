/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_stream.c - the lists of a session's streams, and what of a stream can be resumed. */
#include "base/clock.h"
#include "supervisor/clients/streamable_http/http_stream.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"
#include "tests/unit/supervisor/clients/streamable_http/http_session_fixture.h"

static struct http_session *s;

static void begin(void)
{
	server_begin(NULL);
	s = session(user(1));
}

/* Send answer N with the client's connection closed before. */
static void miss_one(int n, size_t bytes)
{
	char *text = xcalloc(bytes + 32, 1);
	struct http_exchange *st;
	struct http_conn *c;
	int client = come(&c);

	st = http_stream_new(s, c);
	http_exchange_begin(st);
	close(client);
	while (st->conn != NULL)
		event_base_loop(base, EVLOOP_ONCE);
	snprintf(text, 32, "{\"id\":%d,\"result\":{}}", n);
	memset(text + strlen(text), ' ', bytes);
	http_session_ops.answer(s, st, text, strlen(text),
				(struct reply_hint){0});
	free(text);
}

/*
 * Can the stream NUMBER be resumed after event SEQ, and is TEXT among the events?
 */
static bool resumes(int number, int seq, const char *text)
{
	char id[32], in[65536];
	struct http_conn *c;
	int client = come(&c);
	size_t len = 0;
	bool taken;

	snprintf(id, sizeof(id), "%d-%d", number, seq);
	taken =
	    http_stream_resume(s, c, id, &(struct sse_id){0}) == HTTP_RESUMED;
	if (!taken)
		http_conn_refuse(c, 400, "no");
	in[0] = '\0';
	while (strstr(in, taken ? "0\r\n\r\n" : "\r\n\r\n") == NULL) {
		ssize_t n;

		event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
		n = read(client, in + len, sizeof(in) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
		in[len] = '\0';
	}
	close(client);
	return taken && strstr(in, text) != NULL;
}

/* Beyond the bound of kept streams, only the oldest are forgotten. */
TEST(many)
{
	begin();
	for (int i = 1; i <= HTTP_REPLAY_MAX + 2; i++)
		miss_one(i, 0);
	is_int((long long)s->n_replayable, HTTP_REPLAY_MAX,
	       "the number of kept streams has a bound");
	ok(!resumes(1, 0, ""), "the oldest stream is forgotten");
	ok(!resumes(2, 0, ""), "the second oldest stream is forgotten");
	ok(resumes(3, 0, "\"id\":3,"),
	   "the third stream can be resumed with the answer");
	ok(resumes(HTTP_REPLAY_MAX + 2, 0, "\"id\":34,"),
	   "the newest stream can be resumed with the answer");
	ok(resumes(3, 0, "\"id\":3,"), "a stream can be resumed twice");
	ok(!resumes(3, 2, ""),
	   "a stream is not resumed after an unknown event");
	ok(!resumes(99, 0, ""), "an unknown stream is not resumed");
	server_end();
}

/* Large streams are forgotten beyond a bound of bytes, except the newest. */
TEST(large)
{
	begin();
	miss_one(1, 0);
	miss_one(2, HTTP_REPLAY_BYTES);
	is_int((long long)s->n_replayable, 1,
	       "a large stream displaces other streams");
	ok(!resumes(1, 0, ""), "the displaced stream is forgotten");
	miss_one(3, 0);
	ok(!resumes(2, 0, ""), "a newer stream displaces a large stream");
	ok(resumes(3, 0, "\"id\":3,"), "the newest stream is kept");
	is_int((long long)all.ended_bytes, (long long)s->replayable_bytes,
	       "the bytes of kept streams are counted");
	server_end();
}

static struct http_session *session_of(uid_t uid)
{
	struct http_session *one = http_session_new(&all, user(uid));

	one->session.terms.revision = MCP_2025_11_25;
	one->session.greeted = one->told_id = true;
	return one;
}

/* Kept streams of one requestor must not cost another requestor a kept stream. */
TEST(kept_of_all)
{
	struct http_session *mine = NULL;
	size_t n = 0;

	begin();
	mine = s;
	for (int i = 0; i < 4; i++)
		miss_one(10 + i, HTTP_REPLAY_LEAST / 8);
	while (all.ended_bytes < HTTP_REPLAY_ALL && n++ < 40) {
		s = session_of(2);
		miss_one(1, HTTP_REPLAY_BYTES / 2);
	}
	is_int(
	    (long long)mine->n_replayable, 4,
	    "a requestor with the most kept bytes displaces no other requestor's streams");
	ok(s->session.requestor->http_ended_bytes <=
	       HTTP_REPLAY_ALL * 9ull / 10,
	   "the requestor's own oldest streams are forgotten, %zu bytes are left",
	   s->session.requestor->http_ended_bytes);
	is_int((long long)s->n_replayable, 1,
	       "the requestor's newest stream is kept");
	for (int i = 0; i < 20; i++) {
		s = session_of(99);
		miss_one(1, HTTP_REPLAY_BYTES / 2);
	}
	ok(all.ended_bytes <= HTTP_REPLAY_ALL &&
	       s->session.requestor->http_ended_bytes > HTTP_REPLAY_LEAST,
	   "the next has a part of what is left: %zu of now %zu",
	   s->session.requestor->http_ended_bytes, all.ended_bytes);
	for (uid_t uid = 3; uid < 40; uid++)
		for (int i = 0; i < 2; i++) {
			s = session_of(uid);
			miss_one(1, HTTP_REPLAY_BYTES / 2 - 64);
		}
	ok(all.ended_bytes > HTTP_REPLAY_ALL,
	   "kept bytes of very many requestors exceed the bound");
	is_int((long long)s->n_replayable, 1,
	       "the last requestor's stream is kept");
	is_int((long long)mine->n_replayable, 4,
	       "the first requestor's streams are kept");
	server_end();
}

/*
 * A client which does not read waits; a client which reads goes on, whatever other
 * clients leave unread.
 */
TEST(behind)
{
	struct requestor *q;

	begin();
	q = s->session.requestor;
	pool.held.unread = HTTP_UNREAD_ALL;
	ok(!session_is_backlogged(&s->session),
	   "when others read nothing, who has nothing to read is not behind");
	q->http.unread = HTTP_UNREAD_LEAST;
	pool.held.unread += q->http.unread;
	ok(!session_is_backlogged(&s->session),
	   "a client with few unread bytes is not behind");
	q->http.unread++;
	pool.held.unread++;
	ok(session_is_backlogged(&s->session),
	   "a session with more unread waits while others leave none");
	pool.held.unread = q->http.unread = HTTP_UNREAD_EACH;
	ok(!session_is_backlogged(&s->session),
	   "a client alone is not behind up to a larger bound");
	pool.held.unread = ++q->http.unread;
	ok(session_is_backlogged(&s->session),
	   "a client alone is behind beyond the larger bound");
	q->http.unread = 0;
	server_end();
}

/* ---- streams of no request ---- */

struct ear { /* a client which listens by a GET */
	int fd;
	struct http_conn *conn; /* the server's end */
	char has_reader[8192];
};

static struct ear listens(void)
{
	struct ear e = {.fd = 0};

	e.fd = come(&e.conn);
	http_stream_listen(s, e.conn);
	return e;
}

static void loop_times(int turns)
{
	while (turns-- > 0)
		event_base_loop(base, EVLOOP_NONBLOCK);
}

static const char *hears(struct ear *e)
{
	ssize_t n;

	loop_times(4);
	n = read(e->fd, e->has_reader, sizeof(e->has_reader) - 1);
	e->has_reader[n > 0 ? n : 0] = '\0';
	return e->has_reader;
}

static void say(const char *text)
{
	http_session_ops.send(s, NULL, text, strlen(text));
}

static bool is_there(uint64_t number)
{
	struct http_exchange *st;

	TAILQ_FOREACH(st, &s->push, link)
		if (st->sse.number == number)
			return true;
	return false;
}

static struct http_exchange *stream_of(const struct ear *e)
{
	struct http_exchange *st;

	TAILQ_FOREACH(st, &s->push, link)
		if (st->conn == e->conn)
			return st;
	return NULL;
}

/* Of several streams without a connection, the oldest ends. */
TEST(unread_of_several)
{
	struct ear e[HTTP_PUSH_STREAMS_MAX + 1];
	uint64_t older, newer;

	begin();
	for (int i = 0; i < HTTP_PUSH_STREAMS_MAX; i++)
		e[i] = listens();
	older = stream_of(&e[2])->sse.number;
	newer = stream_of(&e[5])->sse.number;
	close(e[5].fd);
	close(e[2].fd);
	loop_times(4);
	ok(stream_of(&e[2]) == NULL && stream_of(&e[5]) == NULL,
	   "two streams have no connection");
	e[HTTP_PUSH_STREAMS_MAX] = listens();
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX,
	       "a new stream replaces an old stream");
	ok(is_there(newer), "the newer stream without a connection stays");
	ok(!is_there(older), "the older stream without a connection ends");
	server_end();
	for (size_t i = 0; i < ARRAY_LEN(e); i++)
		if (i != 2 && i != 5)
			close(e[i].fd);
}

/* A message goes to one stream, and a stream without a connection ends first. */
TEST(unrelated)
{
	struct ear e[HTTP_PUSH_STREAMS_MAX + 2];
	struct http_exchange *st;
	struct http_conn *conn;
	char id[32];
	int other;

	begin();
	e[0] = listens();
	e[1] = listens();
	hears(&e[0]);
	hears(&e[1]);
	say("{\"method\":\"a\"}");
	ok(strstr(hears(&e[1]), "\"a\"") != NULL, "the newest stream has it");
	is_str(hears(&e[0]), "", "no other stream has the message");
	close(e[1].fd);
	loop_times(4);
	say("{\"method\":\"b\"}");
	ok(strstr(hears(&e[0]), "\"b\"") != NULL,
	   "when its client is gone the one before has what comes");
	for (int i = 2; i < HTTP_PUSH_STREAMS_MAX; i++)
		e[i] = listens();
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX,
	       "the largest number of streams is open");
	e[HTTP_PUSH_STREAMS_MAX] = listens();
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX,
	       "the number of streams stays at the bound");
	ok(stream_of(&e[0]) != NULL,
	   "the stream without a connection ended, not the oldest");
	e[HTTP_PUSH_STREAMS_MAX + 1] = listens();
	ok(stream_of(&e[0]) == NULL, "the oldest stream ends next");
	is_str(hears(&e[0]), "0\r\n\r\n",
	       "the ended stream's response is complete");
	st = stream_of(&e[2]);
	snprintf(id, sizeof(id), "g%d-0", (int)st->sse.number);
	other = come(&conn);
	is_int(http_stream_resume(s, conn, id, &(struct sse_id){0}),
	       HTTP_RESUMED,
	       "the oldest is taken up by another, when there are so many");
	ok(st->conn == conn, "a resumed stream has the new connection");
	ok(stream_of(&e[2]) != NULL, "the former connection gets a new stream");
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX,
	       "a resumption does not exceed the bound of streams");
	server_end();
	close(other);
	for (size_t i = 0; i < ARRAY_LEN(e); i++)
		if (i != 1)
			close(e[i].fd);
}

/* ---- lists ---- */

/* How each state is reached from EXCHANGE_NEW, by their numbers. */
static const struct {
	int n;
	enum http_exchange_event ev[3];
} ways[EXCHANGE_STATES] = {
    [EXCHANGE_WAITING] = {1, {EXCHANGE_ON_REQUEST}},
    [EXCHANGE_DEFERRED] = {2, {EXCHANGE_ON_REQUEST, EXCHANGE_ON_DEFER}},
    [EXCHANGE_PARSING] = {2, {EXCHANGE_ON_REQUEST, EXCHANGE_ON_PARSE}},
    [EXCHANGE_UPGRADING] = {2, {EXCHANGE_ON_REQUEST, EXCHANGE_ON_SLOW}},
    [EXCHANGE_EVENTS] = {2, {EXCHANGE_ON_REQUEST, EXCHANGE_ON_BEGIN}},
    [EXCHANGE_LAST] = {3,
		       {EXCHANGE_ON_REQUEST, EXCHANGE_ON_BEGIN,
			EXCHANGE_ON_LAST}},
    [EXCHANGE_PUSH] = {1, {EXCHANGE_ON_LISTEN}},
    [EXCHANGE_CLOSED] = {2, {EXCHANGE_ON_REQUEST, EXCHANGE_ON_CLOSE}},
};

static struct http_exchange *in_state(int state)
{
	struct http_exchange *st = http_stream_make(s);

	for (int i = 0; i < ways[state].n; i++)
		http_exchange_apply(st, ways[state].ev[i]);
	return st;
}

static bool is_in(const struct http_exchange *st,
		  const struct http_exchange_list *streams, bool wanted)
{
	return (TAILQ_FIRST(streams) == st) == wanted;
}

/* Is ST, the only stream, in the lists of its state and in no other list? */
static bool is_listed(const struct http_exchange *st)
{
	const struct requestor *q = s->session.requestor;
	bool replayable = st->state == EXCHANGE_LAST;
	bool push = st->state == EXCHANGE_PUSH;
	bool open = !replayable && !push && st->state != EXCHANGE_NEW &&
		    st->state != EXCHANGE_CLOSED;
	bool deferred = st->state == EXCHANGE_DEFERRED;

	return is_in(st, &s->open, open) && is_in(st, &s->push, push) &&
	       is_in(st, &s->replayable, replayable) &&
	       is_in(st, &q->http_ended, replayable) &&
	       is_in(st, &s->conversation.deferred, deferred) &&
	       is_in(st, &all.exchanges.upgrading,
		     st->state == EXCHANGE_UPGRADING) &&
	       s->n_open == open && s->n_push == push &&
	       s->n_replayable == replayable && q->http_open_streams == open;
}

static const char *const names[EXCHANGE_STATES] = {
    "none",	 "new",	   "waiting", "deferred", "parsing",
    "upgrading", "events", "last",    "push",	  "closed"};

TEST(lists)
{
	begin();
	for (int state = EXCHANGE_WAITING; state < EXCHANGE_STATES; state++) {
		struct http_exchange *st = in_state(state);

		ok(st->state == (enum http_exchange_state)state &&
		       is_listed(st),
		   "a stream that is %s is in the lists of this state alone",
		   names[state]);
		http_exchange_close(st);
	}
	server_end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}
