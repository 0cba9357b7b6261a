/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_conn.c - bounds on the time of connections and on the held bytes. */
#include "tests/unit/supervisor/clients/http/http_conn_fixture.h"

/* ---- without memory ---- */

#define TURNS 200
static int fails_by; /* errno of each send(2); 0: success */
static int tries;

/* In place of the C library's. */
ssize_t send(int fd, const void *p, size_t n, int flags)
{
	tries++;
	if (fails_by == 0)
		return sendto(fd, p, n, flags, NULL, 0);
	errno = fails_by;
	return -1;
}

/* While the kernel has no memory for an answer, the loop rests between two tries. */
TEST(no_memory)
{
	static const int errs[] = {ENOBUFS, ENOMEM};

	for (size_t i = 0; i < ARRAY_LEN(errs); i++) {
		begin(NULL);
		say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
		fails_by = errs[i];
		tries = 0;
		http_conn_reply(asked, 200, "text/plain", "answered", 8);
		for (int k = 0; k < TURNS; k++)
			event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
		ok(tries >= 1 && tries <= TURNS / 2,
		   "%d turns of the loop try few times (%d)", TURNS, tries);
		fails_by = 0;
		ok(hears("answered"), "the answer comes when there is memory");
		end();
	}
}

/* ---- turns ---- */

#define FLOOD 200
#define GET_A "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_B "GET /b HTTP/1.1\r\nHost: a\r\n\r\n"

static char order[FLOOD + 8]; /* the requested paths */

static void on_path(void *arg, struct http_conn *c,
		    const struct http_request *r)
{
	(void)arg;
	order[strlen(order)] = r->path[1];
	http_conn_reply(c, 204, NULL, NULL, 0);
}

static const struct http_conn_ops by_path = {
    .on_head = on_head, .on_request = on_path, .on_closed = on_closed};

/*
 * Many requests of a client in a single piece, and then a request of a second client.
 */
TEST(turns)
{
	char *text = xcalloc(FLOOD, sizeof(GET_A));
	struct fair_queue turns;
	int flood;

	fair_queue_init(&turns, base);
	http_pool_init(&pool, base, &by_path, NULL);
	pool.turns = &turns;
	pool.keepalive_ms = LATE_MS;
	pool.body_max = LARGE;
	connect_one();
	flood = client;
	for (int i = 0; i < FLOOD; i++)
		strcpy(text + (size_t)i * strlen(GET_A), GET_A);
	if (write(flood, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	while (strlen(order) == 0)
		event_base_loop(base, EVLOOP_ONCE);
	connect_one();
	if (write(client, GET_B, strlen(GET_B)) != (ssize_t)strlen(GET_B))
		abort();
	while (strlen(order) < FLOOD + 1)
		event_base_loop(base, EVLOOP_ONCE);
	ok(strchr(order, 'b') != NULL && strchr(order, 'b') - order < 10,
	   "a request comes after %d of %d that another connection had sent "
	   "before",
	   (int)(strchr(order, 'b') - order), FLOOD);
	close(flood);
	close(client);
	http_pool_fini(&pool, 0);
	fair_queue_fini(&turns);
	free(text);
}

/* Use up the time of a whole round. */
static void long_turn(void *arg)
{
	int64_t until = clock_mono_us() + FAIR_QUEUE_ROUND_US;

	(void)arg;
	while (clock_mono_us() < until)
		;
}

/* Reading is work as well, where a body comes in many small chunks. */
TEST(body_in_turns)
{
	struct fair_queue_turn other = {.take = long_turn};
	struct fair_queue_flow flow;
	struct fair_queue turns;

	fair_queue_init(&turns, base);
	fair_queue_flow_init(&flow);
	begin(NULL);
	pool.turns = &turns;
	asked = NULL;
	say(HEAD);
	fair_queue_requeue(&turns, &flow, &other);
	if (write(client, "bo", 2) != 2)
		abort();
	event_base_loop(base, EVLOOP_ONCE);
	is_int((long long)pool.held.bodies, 0,
	       "more of a body is not read before another's turn");
	while (pool.held.bodies == 0)
		event_base_loop(base, EVLOOP_ONCE);
	is_int((long long)pool.held.bodies, 2,
	       "more of a body is read after the other client's turn");
	say("dy");
	say("");
	ok(asked != NULL, "the rest of the body is read");
	end();
	fair_queue_fini(&turns);
}

TEST(head)
{
	begin(&pool.limits.head_ms);
	say("GET / HT");
	ok(hears("HTTP/1.1 408 "), "a head that crawls in is refused with 408");
	shutdown(client, SHUT_WR);
	ok(hears(NULL), "the connection of a slow head is closed");
	is_int(pool.n, 0, "nothing of it is left");
	end();

	begin(&pool.limits.head_ms);
	ok(hears(NULL), "a silent connection is closed");
	is_str(seen, "", "a silent connection is closed without a response");
	end();
}

TEST(body)
{
	begin(&pool.limits.body_ms);
	say(HEAD "ab");
	is_int(pool.held.bodies, 2, "received bytes of a body are counted");
	ok(hears("HTTP/1.1 408 "), "a body that crawls in is refused with 408");
	shutdown(client, SHUT_WR);
	ok(hears(NULL), "the connection of a slow body is closed");
	is_int(pool.held.bodies, 0, "no body is counted after the close");
	end();
}

TEST(idle)
{
	begin(&pool.limits.idle_ms);
	say(HEAD "abcd");
	ok(asked != NULL, "a request that is whole may take its time");
	http_conn_reply(asked, 200, "text/plain", "yes", 3);
	ok(hears("yes"), "a request is answered after a long time");
	ok(hears(NULL), "an idle connection is closed after an answer");
	end();
}

TEST(stall)
{
	char *text = xcalloc(1, LARGE);
	struct http_usage owes = {0};

	memset(text, 'x', LARGE);
	begin(&pool.limits.stall_ms);
	say(HEAD "abcd");
	http_conn_set_usage(asked, &owes, NULL);
	http_conn_reply(asked, 200, "text/plain", text, LARGE);
	ok(pool.held.unread >= LARGE && owes.unread == pool.held.unread,
	   "unread bytes are counted for the requestor");
	for (int64_t until = clock_mono_ms() + PATIENCE_MS;
	     pool.n > 0 && clock_mono_ms() < until; usleep(1000)) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		http_pool_tick(&pool);
	}
	is_int(pool.n, 0,
	       "the connection of a client which reads nothing is closed");
	ok(pool.held.unread == 0 && owes.unread == 0,
	   "no unread bytes are counted after the close");
	end();
	free(text);
}

TEST(linger)
{
	begin(&pool.limits.linger_ms);
	say("no such thing\r\n\r\n");
	ok(hears("HTTP/1.1 400 "), "a request that is none is refused");
	say("more bytes of the refused request");
	for (int64_t until = clock_mono_ms() + PATIENCE_MS;
	     pool.n > 0 && clock_mono_ms() < until; usleep(1000)) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		http_pool_tick(&pool);
	}
	is_int(pool.n, 0,
	       "a refused client which goes on sending is closed soon");
	end();
}

/* ---- held bytes of requests ---- */

#define BODIES 1000 /* for all requestors; a single requestor has 875 */
#define UPLOAD(path)                                                           \
	"POST /" path " HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\n"

static struct http_usage ada, eve;

/* The path stands for the token's requestor; other paths have no requestor. */
static bool on_payer(void *arg, struct http_conn *c,
		     const struct http_request *r)
{
	(void)arg;
	http_conn_set_usage(c,
			    strcmp(r->path, "/ada") == 0   ? &ada
			    : strcmp(r->path, "/eve") == 0 ? &eve
							   : NULL,
			    NULL);
	return true;
}

static const struct http_conn_ops by_payer = {
    .on_head = on_payer, .on_request = on_request, .on_closed = on_closed};

/* Open one more connection and send a body except the last byte. */
static int upload(const char *head)
{
	char text[700];

	connect_one();
	snprintf(text, sizeof(text), "%s%0499d", head, 0);
	say(text);
	return client;
}

static bool is_refused(void)
{
	bool refused = hears("HTTP/1.1 429 ") && hears("}") &&
		       strstr(seen, "Retry-After: 1\r\n") != NULL;

	shutdown(client, SHUT_WR);
	return hears(NULL) && refused;
}

static bool is_taken(int fd)
{
	client = fd;
	asked = NULL;
	say("0");
	return asked != NULL;
}

static void begin_bodies(void)
{
	begin(NULL);
	pool.ops = &by_payer;
	pool.limits.bodies = BODIES;
	pool.limits.nobodys = 500;
	close(client);
	ada = eve = (struct http_usage){0};
}

TEST(bodies)
{
	int first, second, others;

	begin_bodies();
	first = upload(UPLOAD("eve"));
	is_int(eve.bodies, 499,
	       "received bytes of a body count for the requestor");
	upload(UPLOAD("eve"));
	ok(is_refused(), "a body beyond the requestor's share is refused");
	ok(strstr(seen, "998 bytes of requests of yours are being held, and of "
			"the 1000 in all") != NULL,
	   "by figures of its own: %s", seen);
	close(client);
	is_int(eve.bodies, 499, "a refused body leaves the earlier body alone");
	others = upload(UPLOAD("ada"));
	second = upload(UPLOAD("ada"));
	ok(is_refused(), "another requestor's second body is refused");
	close(second);
	ok(is_taken(others), "another requestor's first body is taken");
	ok(is_taken(first),
	   "the first body is taken beside another requestor's");
	is_int(pool.held.bodies, 1000, "all held bytes of bodies are counted");
	close(first);
	client = others;
	end();
	ok(ada.bodies == 0 && eve.bodies == 0,
	   "no byte of a body is held at the end");
}

/* A requestor that holds more memory than it may is told when to try again. */
TEST(memory)
{
	struct memory all = {.most = 1000};
	struct memory_account account = {.all = &all};
	int first;

	begin_bodies();
	eve.memory = &account;
	first = upload(UPLOAD("eve"));
	memory_add(&account, 900);
	upload(UPLOAD("eve"));
	ok(is_refused(), "a body beyond the requestor's memory is refused");
	ok(strstr(seen, MEMORY_NO_ROOM) != NULL,
	   "a refusal for want of memory says so: %s", seen);
	is_int((int64_t)account.refused, 1,
	       "a refusal for want of memory is counted");
	close(client);
	client = first;
	end();
}

/*
 * A connection that waits for an answer holds the request and the bytes after the
 * request.
 */
TEST(after)
{
	int first, n = 0;

	begin_bodies();
	first = upload(UPLOAD("eve"));
	ok(is_taken(first), "a request is taken");
	for (; n < 100 && write(client, "0123456789", 10) == 10; n++)
		event_base_loop(base, EVLOOP_NONBLOCK);
	ok(eve.bodies > 875 && eve.bodies < 900,
	   "bytes after a request are held up to the share: %zu", eve.bodies);
	close(upload(UPLOAD("ada")));
	end();
}

TEST(nobody)
{
	int first;

	begin_bodies();
	first = upload(UPLOAD("page"));
	ok(is_taken(first), "a requestor without a token may send a body");
	upload(UPLOAD("page"));
	ok(is_refused(), "requestors without a token share a small bound");
	close(client);
	connect_one();
	asked = NULL;
	say("GET /page HTTP/1.1\r\nHost: a\r\n\r\n");
	ok(asked != NULL, "a request without a body is still served");
	close(client);
	client = first;
	end();
}

TEST(keepalive)
{
	begin(NULL);
	pool.keepalive_ms = SOON_MS;
	say(HEAD "abcd");
	http_conn_begin(asked);
	ok(hears("3\r\n:\n\n"), "a silent stream is kept alive by comments");
	http_conn_end(asked);
	ok(hears("0\r\n\r\n"), "the comments end with the stream");
	end();
}

TEST(a_body_of_bytes)
{
	int64_t until;

	begin(NULL);
	pool.keepalive_ms = 1;
	say(HEAD "abcd");
	http_conn_begin_body(asked, 200, "text/plain", 4);
	http_conn_put_body(asked, "ab", 2);
	ok(hears("\r\n\r\nab"), "a body leaves as it comes");
	until = clock_mono_ms() + 20;
	while (clock_mono_ms() < until)
		http_pool_tick(&pool);
	http_conn_put_body(asked, "cd", 2);
	http_conn_end(asked);
	ok(hears("\r\n\r\nabcd"),
	   "no comment comes between the bytes of a body");
	end();
}

int main(void)
{
	return http_conn_main();
}
