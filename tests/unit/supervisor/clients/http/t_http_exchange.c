/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_http_exchange.c - an exchange of HTTP: the table of states, the counters of
 * each state, the answer or events, the turn to be read, the end.
 */
#include "supervisor/clients/http/http_exchange.h"

#include "base/clock.h"
#include "supervisor/clients/http/http_conn_private.h"
#include "supervisor/session/dispatch.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"

static struct context ctx;
static struct sessions sessions;
static struct requestors requestors;
static struct config *config;
static struct http_exchanges all;
static struct requestor *ada;

/* ---- a session, and its methods ---- */

struct talk {
	struct session session;
	struct http_conversation conversation;
};

static char served[64]; /* the ids of the requests served, in order */
static int closed;
static bool begins;
static void *lost; /* the exchange that the session lost the reader of */

static void serve(struct request *req)
{
	strcat(served, req->msg.id);
	request_result(req, json_object_new_object());
}

static const struct method table[] = {
    {.name = "quick", .serve = serve, .needs = MCP_ALWAYS},
    {.name = "slow", .serve = serve, .needs = MCP_ALWAYS, .slow = true},
    {.name = NULL},
};
static const struct methods few = {.all = table};

static void on_send(void *arg, void *stream, const char *text, size_t len)
{
	(void)arg;
	http_exchange_send(stream, text, len, SSE_PASSING);
}

static bool has_push_stream(void *arg)
{
	(void)arg;
	return false;
}

static void on_read_done(void *arg)
{
	http_conversation_read_on(&((struct talk *)arg)->conversation);
}

static const struct session_ops session_ops = {
    .send = on_send,
    .answer = http_exchange_answer,
    .answer_taken = http_exchange_answer_taken,
    .has_push_stream = has_push_stream,
    .has_reader = http_exchange_has_reader,
    .read_done = on_read_done,
};

static void on_closed(struct http_exchange *x)
{
	closed++;
	free(x);
}

static bool may_begin(struct http_exchange *x)
{
	if (!begins)
		http_exchange_end(x, 400, "no");
	return begins;
}

static const struct http_exchange_ops ops = {.closed = on_closed,
					     .may_begin = may_begin};

static void parsed(struct http_exchange *x, struct rpc_msg *m)
{
	(void)x, (void)m;
}

static void talk_begin(struct talk *t)
{
	session_init(&t->session, &ctx, ada, &session_ops, t);
	t->session.terms.revision = MCP_2025_11_25;
	t->session.greeted = t->session.initialized = true;
	http_conversation_init(&t->conversation, &all, &t->session);
}

static void begin(void)
{
	pool_begin();
	config = config_new(0);
	ctx = (struct context){.base = base,
			       .config = config,
			       .requestors = &requestors,
			       .sessions = &sessions,
			       .methods = &few};
	sessions_init(&sessions);
	requestors_apply(&requestors, config);
	ada = requestors_of_uid(&requestors, 1);
	http_exchanges_init(&all, &ctx, &pool.held, parsed);
	served[0] = '\0';
	closed = 0;
	begins = true;
}

static void end(void)
{
	http_exchanges_fini(&all);
	http_pool_fini(&pool, 0);
	sessions_fini(&sessions);
	requestors_fini(&requestors);
	config_free(config);
	event_base_free(base);
}

/* Make an exchange; with NUMBER 0 no client can resume the exchange. */
static struct http_exchange *make(struct talk *t, uint64_t number)
{
	struct http_exchange *x = xcalloc(1, sizeof(*x));

	http_exchange_init(x, &t->conversation, &ops, number);
	return x;
}

/* ---- the table ---- */

/* The whole table, written out a second time. */
static const enum http_exchange_state
    want[EXCHANGE_STATES][EXCHANGE_ON_EVENTS] = {
	/* REQUEST LISTEN DEFER PARSE DELIVER SLOW BEGIN LAST LOST CLOSE */
	[EXCHANGE_NEW] = {EXCHANGE_WAITING, EXCHANGE_PUSH},
	[EXCHANGE_WAITING] = {0, 0, EXCHANGE_DEFERRED, EXCHANGE_PARSING, 0,
			      EXCHANGE_UPGRADING, EXCHANGE_EVENTS, 0,
			      EXCHANGE_WAITING, EXCHANGE_CLOSED},
	[EXCHANGE_DEFERRED] = {0, 0, 0, 0, EXCHANGE_WAITING, 0, 0, 0,
			       EXCHANGE_CLOSED, EXCHANGE_CLOSED},
	[EXCHANGE_PARSING] = {0, 0, 0, 0, EXCHANGE_WAITING, 0, 0, 0,
			      EXCHANGE_CLOSED, EXCHANGE_CLOSED},
	[EXCHANGE_UPGRADING] = {0, 0, 0, 0, 0, 0, EXCHANGE_EVENTS, 0,
				EXCHANGE_WAITING, EXCHANGE_CLOSED},
	[EXCHANGE_EVENTS] = {0, 0, 0, 0, 0, 0, 0, EXCHANGE_LAST,
			     EXCHANGE_EVENTS, EXCHANGE_CLOSED},
	[EXCHANGE_LAST] = {0, 0, 0, 0, 0, 0, 0, 0, EXCHANGE_LAST,
			   EXCHANGE_CLOSED},
	[EXCHANGE_PUSH] = {0, 0, 0, 0, 0, 0, 0, 0, EXCHANGE_PUSH,
			   EXCHANGE_CLOSED},
	[EXCHANGE_CLOSED] = {0, 0, 0, 0, 0, 0, 0, 0, 0, EXCHANGE_CLOSED},
};

static const char *const names[EXCHANGE_STATES] = {
    "none",	 "new",	   "waiting", "deferred", "parsing",
    "upgrading", "events", "last",    "push",	  "closed"};

static const char *const events[EXCHANGE_ON_EVENTS] = {
    "request", "listen", "defer", "parse", "deliver",
    "slow",    "begin",	 "last",  "lost",  "close"};

TEST(table_of_states)
{
	for (int state = EXCHANGE_NEW; state < EXCHANGE_STATES; state++)
		for (int ev = 0; ev < EXCHANGE_ON_EVENTS; ev++)
			is_int(
			    http_exchange_next((enum http_exchange_state)state,
					       (enum http_exchange_event)ev),
			    want[state][ev], "%s, %s: %s", names[state],
			    events[ev], names[want[state][ev]]);
}

/* The events that lead from EXCHANGE_NEW to each state. */
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
};

#define HELD 100 /* bytes of an event */

/* Is X, the only exchange, counted and queued as its state says? */
static bool is_counted(const struct http_exchange *x)
{
	bool ended = x->state == EXCHANGE_LAST && x->sse.number != 0;
	bool open = !ended && x->state != EXCHANGE_PUSH;
	size_t live = ended ? 0 : HELD;

	return ada->http_open_streams == open && ada->http_live_bytes == live &&
	       ada->memory.held == SESSION_COST + (x->sse.number ? HELD : 0) &&
	       (TAILQ_FIRST(&ada->http_ended) == x) == ended &&
	       (TAILQ_FIRST(&all.upgrading) == x) ==
		   (x->state == EXCHANGE_UPGRADING) &&
	       (TAILQ_FIRST(&x->of->deferred) == x) ==
		   (x->state == EXCHANGE_DEFERRED);
}

TEST(counters_of_states)
{
	static const char text[HELD];
	struct talk t;

	begin();
	talk_begin(&t);
	for (uint64_t number = 0; number < 2; number++)
		for (int state = EXCHANGE_WAITING; state < EXCHANGE_CLOSED;
		     state++) {
			struct http_exchange *x = make(&t, number);

			sse_add(&x->sse, text, HELD, SSE_PASSING);
			for (int i = 0; i < ways[state].n; i++)
				http_exchange_apply(x, ways[state].ev[i]);
			ok(x->state == (enum http_exchange_state)state &&
			       is_counted(x),
			   "%s, %s: counted and queued as the state says",
			   number == 0 ? "not resumable" : "resumable",
			   names[state]);
			http_exchange_close(x);
		}
	ok(ada->http_open_streams == 0 && ada->http_live_bytes == 0 &&
	       TAILQ_EMPTY(&ada->http_ended) && TAILQ_EMPTY(&all.upgrading) &&
	       ada->memory.held == SESSION_COST,
	   "closed exchanges are not counted");
	session_fini(&t.session);
	end();
}

/* ---- answers and events ---- */

/* A client's end of a connection, with the exchange of its request. */
struct client {
	int fd;
	struct http_conn *conn;
	struct http_exchange *x;
};

static struct client client_of(struct talk *t, uint64_t number)
{
	struct client c = {.x = make(t, number)};

	c.fd = come(&c.conn);
	http_conn_set_usage(c.conn, &ada->http, NULL);
	http_exchange_apply(c.x, EXCHANGE_ON_REQUEST);
	http_exchange_attach(c.x, c.conn);
	return c;
}

static char in[1 << 21];

/* Return what has come to REQ's client. */
static const char *hears(const struct client *c)
{
	size_t len = 0;
	ssize_t n;

	do {
		loop();
		n = read(c->fd, in + len, sizeof(in) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	in[len] = '\0';
	return in;
}

static bool hears_part(const struct client *c, const char *part)
{
	return strstr(hears(c), part) != NULL;
}

static const struct reply_hint no_hint = {0};

static void answer(struct http_exchange *x, const char *text)
{
	http_exchange_answer(NULL, x, text, strlen(text), no_hint);
}

TEST(plain_answers)
{
	struct client c;
	struct talk t;

	begin();
	talk_begin(&t);
	for (uint64_t number = 0; number < 2; number++) {
		c = client_of(&t, number);
		is_int((long long)t.conversation.n_read, 1,
		       "an exchange with a client is counted");
		answer(c.x, "{\"result\":1}");
		ok(hears_part(&c, "Content-Length: 12\r\n") &&
		       strstr(in, "\r\n\r\n{\"result\":1}") != NULL,
		   "an answer before a stream began is plain");
		close(c.fd);
	}
	c = client_of(&t, 0);
	http_exchange_answer(NULL, c.x, NULL, 0, no_hint);
	ok(hears_part(&c, "HTTP/1.1 202 "),
	   "a cancelled request has no answer");
	close(c.fd);
	c = client_of(&t, 0);
	http_exchange_answer(NULL, c.x, "{}", 2,
			     (struct reply_hint){.retry_ms = 1500});
	ok(hears_part(&c, "HTTP/1.1 429 ") &&
	       strstr(in, "Retry-After: 2\r\n") != NULL,
	   "a hint to retry is in the head");
	close(c.fd);
	c = client_of(&t, 0);
	http_exchange_end(c.x, 401, "the token has ended");
	ok(hears_part(&c, "HTTP/1.1 401 ") &&
	       strstr(in, "the token has ended") != NULL,
	   "an exchange that is ended tells why");
	close(c.fd);
	ok(closed == 5 && t.conversation.n_read == 0 && all.share.n_read == 0 &&
	       ada->http_streams == 0,
	   "all are closed then");
	session_fini(&t.session);
	end();
}

TEST(events_before_the_answer)
{
	struct client c;
	struct talk t;

	begin();
	talk_begin(&t);
	for (uint64_t number = 0; number < 2; number++) {
		c = client_of(&t, number);
		on_send(NULL, c.x, "{\"n\":1}", 7);
		ok(hears_part(&c, "text/event-stream") &&
		       strstr(in, "data: {\"n\":1}\n\n") != NULL,
		   "a notification begins a stream");
		is_int(
		    (long long)c.x->sse.bytes, number == 0 ? 0 : 7,
		    "a sent event is kept only for a client that can resume");
		ok((strstr(in, "retry: ") != NULL) == (number != 0),
		   "only a stream that can be resumed has a first event to resume by");
		answer(c.x, "{\"result\":2}");
		ok(hears_part(&c, "data: {\"result\":2}\n\n") &&
		       strstr(in, "\r\n0\r\n\r\n") != NULL,
		   "the answer is the last event, and ends the response");
		is_int(closed, 1,
		       "a stream that can be resumed is kept after the answer");
		close(c.fd);
	}
	ok(c.x->state == EXCHANGE_LAST && c.x->conn == NULL,
	   "the resumable one is kept without a connection");
	http_exchange_close(c.x);
	begins = false;
	c = client_of(&t, 0);
	on_send(NULL, c.x, "{}", 2);
	ok(hears_part(&c, "HTTP/1.1 400 "),
	   "an exchange that may not begin a stream is ended");
	close(c.fd);
	session_fini(&t.session);
	end();
}

TEST(slow_answers)
{
	struct talk t;
	struct client c;
	struct rpc_msg m;
	char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"slow\"}";

	begin();
	talk_begin(&t);
	c = client_of(&t, 1);
	rpc_parse(&m, text, strlen(text));
	http_exchange_deliver(c.x, &m);
	ok(hears_part(&c, "application/json"),
	   "a slow method that answers at once answers plainly");
	close(c.fd);
	c = client_of(&t, 1);
	http_exchange_apply(c.x, EXCHANGE_ON_SLOW);
	c.x->since_ms = clock_mono_ms() + 3600000;
	event_active(all.upgrade, EV_TIMEOUT, 0);
	is_str(hears(&c), "", "a slow answer may be plain for some time");
	c.x->since_ms = clock_mono_ms() - HTTP_PLAIN_MS;
	event_active(all.upgrade, EV_TIMEOUT, 0);
	ok(hears_part(&c, "text/event-stream"),
	   "a slow answer becomes a stream");
	is_int(c.x->state, EXCHANGE_EVENTS,
	       "a stream made of a slow answer awaits the answer");
	http_exchange_close(c.x);
	close(c.fd);
	session_fini(&t.session);
	end();
}

/* ---- clients that read slowly, or go ---- */

/* Send N notifications of 4 KiB. */
static void send_many(struct http_exchange *x, int n)
{
	static char text[4096];

	for (int i = 0; i < n; i++) {
		memset(text, 'x', sizeof(text));
		text[snprintf(text, 16, "%d;", i)] = ' ';
		on_send(NULL, x, text, sizeof(text));
	}
}

TEST(clients_that_read_slowly)
{
	struct client c;
	struct talk t;

	begin();
	talk_begin(&t);
	for (uint64_t number = 0; number < 2; number++) {
		c = client_of(&t, number);
		send_many(c.x, 400);
		ok(c.x->sent < 400 && c.x->sse.bytes <= SSE_PASSING_MAX &&
		       c.x->sse.bytes > SSE_PASSING_MAX / 2,
		   "of what is not read a bounded part is kept");
		ok(ada->http.unread >= SSE_PASSING_MAX / 2,
		   "the kept part of a stream counts as unread");
		answer(c.x, "{\"result\":1}");
		ok(hears_part(&c, "399;") &&
		       strstr(in, "\r\n0\r\n\r\n") != NULL,
		   "a client that reads on hears the newest, and the end");
		close(c.fd);
	}
	http_exchange_close(c.x);
	ok(ada->http_live_bytes == 0 && ada->http.unread == 0,
	   "nothing is counted of a closed exchange");
	c = client_of(&t, 0);
	ada->http_live_bytes = HTTP_OPEN_BYTES;
	send_many(c.x, 100);
	ok(c.x->sse.bytes <= HTTP_OPEN_TIGHT,
	   "while much is kept for a requestor little is kept of each");
	ada->http_live_bytes -= HTTP_OPEN_BYTES;
	http_exchange_close(c.x);
	close(c.fd);
	session_fini(&t.session);
	end();
}

static void on_reader_lost(struct session_observer *o, void *stream)
{
	(void)o;
	lost = stream;
}

static void go(const struct client *c)
{
	http_conn_free(c->conn);
	close(c->fd);
}

TEST(clients_that_go)
{
	static const struct session_observer_ops watch = {.on_reader_lost =
							      on_reader_lost};
	struct session_observer o;
	struct client c;
	struct talk t;

	begin();
	talk_begin(&t);
	session_observe(&t.session, &o, &watch);
	c = client_of(&t, 0);
	go(&c);
	ok(closed == 1 && lost == NULL,
	   "an exchange that cannot be resumed ends with its client");
	c = client_of(&t, 1);
	go(&c);
	ok(closed == 1 && lost == c.x && c.x->conn == NULL,
	   "one that can be resumed goes on, and its session is told");
	answer(c.x, "{}");
	is_int(closed, 2,
	       "a plain answer ends an exchange whose client has gone");
	c = client_of(&t, 1);
	http_exchange_apply(c.x, EXCHANGE_ON_DEFER);
	go(&c);
	is_int(closed, 3, "a request that was not read yet is forgotten");
	is_int((long long)t.conversation.n_read, 0, "no client is left");
	session_unobserve(&t.session, &o);
	session_fini(&t.session);
	end();
}

/* ---- turns ---- */

/* A request on a new connection; the request waits while T reads too much. */
static struct client post(struct talk *t, char id)
{
	char *body = xasprintf(
	    "{\"jsonrpc\":\"2.0\",\"id\":%c,\"method\":\"quick\"}", id);
	char *text = xasprintf(
	    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %zu\r\n\r\n%s",
	    strlen(body), body);
	struct client c = {.x = make(t, 1)};
	struct rpc_msg m = {.kind = RPC_REQUEST};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	asked = NULL;
	http_pool_add(&pool, ends[1], NULL, SIZE_MAX);
	if (write(ends[0], text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	while (asked == NULL)
		event_base_loop(base, EVLOOP_ONCE);
	free(body);
	free(text);
	c.fd = ends[0];
	http_exchange_apply(c.x, EXCHANGE_ON_REQUEST);
	http_exchange_attach(c.x, c.conn = asked);
	http_exchange_request(c.x, &m);
	return c;
}

TEST(turns_to_be_read)
{
	struct client c[6];
	struct talk t[2];

	begin();
	talk_begin(&t[0]);
	talk_begin(&t[1]);
	ada->n_reads = REQUESTOR_READS_MAX;
	for (int i = 0; i < 6; i++)
		c[i] = post(&t[i / 4], (char)('1' + i));
	sessions_read_on(&ctx);
	loop();
	is_str(served, "", "sessions that read too much are not served");
	go(&c[1]);
	ada->n_reads = 0;
	sessions_read_on(&ctx);
	loop();
	is_str(served, "15364",
	       "then each session has its turn, in order, but for a client "
	       "that has gone");
	ok(hears_part(&c[5], "\"id\":6,\"result\""),
	   "a request read after the pause is answered");
	ada->n_reads = REQUESTOR_READS_MAX;
	close(c[0].fd);
	c[0] = post(&t[0], '7');
	ada->n_reads = 0;
	begins = false;
	sessions_read_on(&ctx);
	loop();
	ok(hears_part(&c[0], "HTTP/1.1 400 ") && strlen(served) == 5,
	   "one that may not begin is ended instead");
	for (int i = 0; i < 6; i++)
		if (i != 1)
			close(c[i].fd);
	session_fini(&t[0].session);
	session_fini(&t[1].session);
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	tap_run();
	return tap_done();
}
