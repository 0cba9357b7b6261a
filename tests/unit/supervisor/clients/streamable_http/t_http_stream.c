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

/* The answer number N, which its client does not hear: it goes before. */
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

/* Is the stream NUMBER taken up after event SEQ, and is TEXT in it? */
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

/* The oldest of too many are forgotten, and those alone. */
TEST(many)
{
	begin();
	for (int i = 1; i <= HTTP_REPLAY_MAX + 2; i++)
		miss_one(i, 0);
	is_int((long long)s->n_replayable, HTTP_REPLAY_MAX, "so many are kept");
	ok(!resumes(1, 0, ""), "the first is forgotten");
	ok(!resumes(2, 0, ""), "and the second");
	ok(resumes(3, 0, "\"id\":3,"), "the third is not: its answer is there");
	ok(resumes(HTTP_REPLAY_MAX + 2, 0, "\"id\":34,"), "nor the last");
	ok(resumes(3, 0, "\"id\":3,"), "it can be heard again");
	ok(!resumes(3, 2, ""), "but not after an event that it never had");
	ok(!resumes(99, 0, ""), "nor what never was");
	server_end();
}

/* Or of those that are large, but for the newest. */
TEST(large)
{
	begin();
	miss_one(1, 0);
	miss_one(2, HTTP_REPLAY_BYTES);
	is_int((long long)s->n_replayable, 1,
	       "one that is large displaces others");
	ok(!resumes(1, 0, ""), "which are forgotten");
	miss_one(3, 0);
	ok(!resumes(2, 0, ""), "and is itself, for a newer one");
	ok(resumes(3, 0, "\"id\":3,"), "which is kept");
	is_int((long long)all.ended_bytes, (long long)s->replayable_bytes,
	       "what is kept is counted");
	server_end();
}

static struct http_session *session_of(uid_t uid)
{
	struct http_session *one = http_session_new(&all, user(uid));

	one->session.terms.revision = MCP_2025_11_25;
	one->session.greeted = one->told_id = true;
	return one;
}

/* What one requestor leaves for replay costs no other its own. */
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
	is_int((long long)mine->n_replayable, 4,
	       "one who keeps all it may displaces nobody's");
	ok(s->session.requestor->http_ended_bytes <=
	       HTTP_REPLAY_ALL * 9ull / 10,
	   "of its own the oldest go: it has %zu",
	   s->session.requestor->http_ended_bytes);
	is_int((long long)s->n_replayable, 1, "not its newest");
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
	ok(all.ended_bytes > HTTP_REPLAY_ALL, "when very many come");
	is_int((long long)s->n_replayable, 1, "the last has room for a little");
	is_int((long long)mine->n_replayable, 4, "as has the first");
	server_end();
}

/* Who does not read waits; who reads does not, whatever others leave. */
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
	ok(!session_is_backlogged(&s->session), "nor who has little");
	q->http.unread++;
	pool.held.unread++;
	ok(session_is_backlogged(&s->session),
	   "with more it waits while others leave none");
	pool.held.unread = q->http.unread = HTTP_UNREAD_EACH;
	ok(!session_is_backlogged(&s->session), "else it may have so much");
	pool.held.unread = ++q->http.unread;
	ok(session_is_backlogged(&s->session), "and no more");
	q->http.unread = 0;
	server_end();
}

/* ---- streams of no request ---- */

struct ear { /* a client that listens by a GET */
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

/* Of several that nobody hears the one that is oldest goes. */
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
	   "nobody hears two");
	e[HTTP_PUSH_STREAMS_MAX] = listens();
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX,
	       "one more takes the place of one");
	ok(is_there(newer), "and not that of the newer one");
	ok(!is_there(older), "but of the older");
	server_end();
	for (size_t i = 0; i < ARRAY_LEN(e); i++)
		if (i != 2 && i != 5)
			close(e[i].fd);
}

/* Each message is on one of them, and one that nobody hears goes first. */
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
	is_str(hears(&e[0]), "", "and no other");
	close(e[1].fd);
	loop_times(4);
	say("{\"method\":\"b\"}");
	ok(strstr(hears(&e[0]), "\"b\"") != NULL,
	   "when its client is gone the one before has what comes");
	for (int i = 2; i < HTTP_PUSH_STREAMS_MAX; i++)
		e[i] = listens();
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX,
	       "as many as may be");
	e[HTTP_PUSH_STREAMS_MAX] = listens();
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX, "and never more");
	ok(stream_of(&e[0]) != NULL,
	   "the one that nobody hears ended, not the oldest");
	e[HTTP_PUSH_STREAMS_MAX + 1] = listens();
	ok(stream_of(&e[0]) == NULL, "then the oldest");
	is_str(hears(&e[0]), "0\r\n\r\n", "properly");
	st = stream_of(&e[2]);
	snprintf(id, sizeof(id), "g%d-0", (int)st->sse.number);
	other = come(&conn);
	is_int(http_stream_resume(s, conn, id, &(struct sse_id){0}),
	       HTTP_RESUMED,
	       "the oldest is taken up by another, when there are so many");
	ok(st->conn == conn, "it is that one's");
	ok(stream_of(&e[2]) != NULL, "and who had it has a stream, too");
	is_int((long long)s->n_push, HTTP_PUSH_STREAMS_MAX, "still not more");
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

/* ST, the only stream, is in the lists of its state, and in no others. */
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
