/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_call.c - requests without a session: answers, ends and bounds. */
#include "supervisor/clients/stateless_http/http_call.h"

#include "base/clock.h"
#include "supervisor/clients/http/http_share.h"
#include "supervisor/clients/http/sse.h"
#include "supervisor/session/dispatch.h"
#include "tests/unit/supervisor/clients/http/http_fixture.h"

#define META                                                                     \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

static struct context ctx;
static struct sessions sessions;
static struct requestors requestors;
static struct config *config;
static struct http_exchanges exchanges;
static struct http_calls calls;
static struct requestor *ada;

/* ---- methods ---- */

static struct request *held; /* the last waiting request */
static int served, freed;

static void quick(struct request *req)
{
	served++;
	request_result(req, json_object_new_object());
}

static void free_held(void *state)
{
	(void)state;
	freed++;
}

static const struct request_ops held_ops = {.free = free_held};

static void hold(struct request *req)
{
	served++;
	held = req;
	request_set_state(req, &held_ops, NULL);
}

static void fail(struct request *req)
{
	req->hint.status = 404;
	request_error(req, -7, NULL, "no");
}

static const struct method table[] = {
    {.name = "quick", .serve = quick, .needs = MCP_ALWAYS},
    {.name = "held", .serve = hold, .needs = MCP_ALWAYS},
    {.name = "slow", .serve = hold, .needs = MCP_ALWAYS, .slow = true},
    {.name = "fail", .serve = fail, .needs = MCP_ALWAYS},
    {.name = NULL},
};
static const struct methods few = {.all = table};

/* ---- the server and the clients ---- */

static void parsed(struct http_exchange *x, struct rpc_msg *m)
{
	(void)x, (void)m;
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
	http_exchanges_init(&exchanges, &ctx, &pool.held, parsed);
	ada = requestors_of_uid(&requestors, 1);
	http_calls_init(&calls, &exchanges);
	served = freed = 0;
	held = NULL;
}

static void end(void)
{
	http_calls_fini(&calls);
	http_exchanges_fini(&exchanges);
	http_pool_fini(&pool, 0);
	sessions_fini(&sessions);
	requestors_fini(&requestors);
	config_free(config);
	event_base_free(base);
}

/* POST a request of METHOD by ada on a new connection; returns the client's end. */
static int post(const char *method)
{
	char *body =
	    xasprintf("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"%s\","
		      "\"params\":{" META "}}",
		      method);
	char *text =
	    xasprintf("POST / HTTP/1.1\r\nHost: a\r\nMcp-Param-X: y\r\n"
		      "Content-Length: %zu\r\n\r\n%s",
		      strlen(body), body);
	struct rpc_msg m;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	asked = NULL;
	http_pool_add(&pool, ends[1], NULL, SIZE_MAX);
	if (write(ends[0], text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	while (asked == NULL)
		event_base_loop(base, EVLOOP_ONCE);
	http_conn_set_usage(asked, &ada->http, NULL);
	rpc_parse(&m, body, strlen(body));
	http_call_take(&calls, ada, asked, &m);
	rpc_fini(&m);
	free(body);
	free(text);
	return ends[0];
}

/* The bytes received on FD for at least MS. */
static const char *hears(int fd, int64_t ms)
{
	static char in[1 << 20];
	int64_t until = clock_mono_ms() + ms;
	size_t len = 0;
	ssize_t n;

	do {
		loop();
		n = read(fd, in + len, sizeof(in) - 1 - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 || clock_mono_ms() < until);
	in[len] = '\0';
	return in;
}

/* The bytes received on FD, once some have arrived. */
static const char *comes(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, MSG_PEEK) < 0)
		event_base_loop(base, EVLOOP_ONCE);
	return hears(fd, 0);
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static void tell(const char *text)
{
	held->session->ops->send(held->session->arg, held->stream, text,
				 strlen(text));
}

/* Nothing of any call is left. */
static void nothing_left(const char *name)
{
	loop();
	ok(TAILQ_EMPTY(&calls.alive) && TAILQ_EMPTY(&calls.over) &&
	       LIST_EMPTY(&sessions.all) && exchanges.share.n_read == 0 &&
	       ada->http_open_streams == 0 && ada->http_streams == 0 &&
	       ada->http_live_bytes == 0,
	   "no call, stream or byte is left: %s", name);
}

/* ---- answers ---- */

TEST(answers)
{
	const char *in;
	int fd;

	begin();
	in = hears(fd = post("quick"), 0);
	ok(has(in, "HTTP/1.1 200 ") && has(in, "application/json") &&
	       has(in, "\"id\":5,\"result\""),
	   "a quick answer comes as plain JSON");
	close(fd);
	in = hears(fd = post("fail"), 0);
	ok(has(in, "HTTP/1.1 404 ") && has(in, "\"code\":-7"),
	   "MCP26 5: an error has the right HTTP status");
	close(fd);
	fd = post("slow");
	is_str(hears(fd, HTTP_PLAIN_MS / 4), "",
	       "a slow request has no answer at first");
	is_str(held->session->ops->field(held->session->arg, "mcp-param-x"),
	       "y", "MCP26 12: its head can be asked meanwhile");
	in = comes(fd);
	ok(has(in, "text/event-stream") && !has(in, "data:"),
	   "MCP26 11: and is a stream, soon");
	request_result(held, json_object_new_object());
	in = hears(fd, 0);
	ok(has(in, "data: {\"jsonrpc\"") && !has(in, "id: ") &&
	       !has(in, "retry:") && has(in, "\r\n0\r\n\r\n"),
	   "MCP26 11: with its answer as an event without an id, and an end");
	close(fd);
	fd = post("held");
	tell("{\"method\":\"n\"}");
	in = hears(fd, 0);
	ok(has(in, "text/event-stream") && has(in, "data: {\"method\":\"n\"}"),
	   "a request with an early message becomes a stream at once");
	held->session->ops->send(held->session->arg, NULL, "{}", 2);
	request_result(held, json_object_new_object());
	in = hears(fd, 0);
	ok(has(in, "\"result\"") && !has(in, "data: {}"),
	   "on which is nothing that belongs to no request");
	close(fd);
	nothing_left("of those that were answered");
	end();
}

/* ---- ends ---- */

TEST(ends)
{
	const char *in;
	int fd;

	begin();
	fd = post("slow");
	close(fd);
	loop();
	comes(fd = post("quick"));
	close(fd);
	while (freed == 0)
		event_base_loop(base, EVLOOP_ONCE);
	is_int(freed, 1, "MCP26 8: who goes before there is a stream cancels");
	fd = post("held");
	tell("{}");
	close(fd);
	nothing_left("MCP26 8: of one who went");
	is_int(freed, 2, "a request whose client left is cancelled");

	fd = post("held");
	request_ref(held);
	tell("{}");
	close(fd);
	nothing_left("of one that somebody comes back to");
	ok(held->dropped && freed == 2,
	   "a resumable request is kept after the client left");
	ok(!request_unref(held) && freed == 3,
	   "a resumable request ends when released");

	fd = post("held");
	shutdown(fd, SHUT_WR);
	loop();
	request_result(held, json_object_new_object());
	ok(has(hears(fd, 0), "\"result\""),
	   "a client which closed its sending side gets a quick answer");
	close(fd);
	fd = post("slow");
	shutdown(fd, SHUT_WR);
	in = comes(fd);
	ok(has(in, "HTTP/1.1 400 ") && has(in, "ended its side"),
	   "MCP26 8: a slow request of a client which closed its sending side is cancelled with 400");
	is_int(freed, 5, "the cancelled request is freed");
	close(fd);
	fd = post("held");
	shutdown(fd, SHUT_WR);
	loop();
	tell("{}");
	tell("{}");
	request_result(held, json_object_new_object());
	ok(has(hears(fd, 0), "HTTP/1.1 400 "),
	   "messages and the end of a cancelled request are dropped");
	close(fd);
	nothing_left("of all of these");
	end();
}

TEST(token)
{
	const char *in;
	int fd[2];

	begin();
	fd[0] = post("held");
	tell("{}");
	hears(fd[0], 0);
	fd[1] = post("held");
	http_calls_recheck(&calls, true);
	is_str(hears(fd[1], 0), "", "a token that is good is no matter");
	ada->tokens++;
	http_calls_recheck(&calls, true);
	is_str(hears(fd[0], 0), "0\r\n\r\n", "a change of token ends a stream");
	in = hears(fd[1], 0);
	ok(has(in, "HTTP/1.1 401 ") && has(in, "\"its token") == false &&
	       has(in, "good no more"),
	   "a change of token is the answer to a waiting request");
	is_int(freed, 2, "both requests of the old token are cancelled");
	close(fd[0]);
	close(fd[1]);
	nothing_left("of them");
	fd[0] = post("held");
	tell("{}");
	fd[1] = post("held");
	http_calls_fini(&calls);
	ok(has(hears(fd[0], 0), "0\r\n\r\n"),
	   "the end of the server ends a stream");
	ok(has(hears(fd[1], 0), "HTTP/1.1 503 "),
	   "the end of the server is the answer to a waiting request");
	close(fd[0]);
	close(fd[1]);
	http_calls_init(&calls, &exchanges);
	nothing_left("then");
	end();
}

/* ---- bounds ---- */

TEST(room)
{
	const char *in;
	int fd;

	begin();
	exchanges.share.n_read = ada->http_streams = HTTP_STREAMS_EACH;
	in = hears(fd = post("slow"), 0);
	ok(has(in, "HTTP/1.1 429 ") && has(in, "Retry-After: 1\r\n") &&
	       has(in, "\"id\":5,\"error\":{\"code\":429,"),
	   "MCP26 5: with so many streams what may be one is refused");
	close(fd);
	ok(has(hears(fd = post("quick"), 0), "HTTP/1.1 200 "),
	   "MCP26 5: a request which cannot be a stream is served");
	close(fd);
	exchanges.share.n_read = ada->http_streams = 0;
	ada->http_open_streams = HTTP_OPEN_EACH;
	ok(has(hears(fd = post("quick"), 0), "HTTP/1.1 429 "),
	   "a request above HTTP_OPEN_EACH awaited answers is refused");
	close(fd);
	ada->http_open_streams = 0;
	nothing_left("of those that were refused");
	end();
}

TEST(deferred)
{
	int fd[40];

	begin();
	ada->n_reads = REQUESTOR_READS_MAX;
	for (size_t i = 0; i < ARRAY_LEN(fd); i++)
		fd[i] = post("quick");
	loop();
	is_int(served, 0, "requests of a requestor who reads too much wait");
	sessions_read_on(&ctx);
	loop();
	is_int(served, 0, "requests wait until fewer reads are in progress");
	close(fd[0]);
	loop();
	ada->n_reads = 0;
	sessions_read_on(&ctx);
	loop();
	is_int(
	    served, ARRAY_LEN(fd) - 1,
	    "waiting requests are served except those of closed connections");
	for (size_t i = 1; i < ARRAY_LEN(fd); i++) {
		if (i + 1 == ARRAY_LEN(fd))
			ok(has(hears(fd[i], 0), "\"id\":5,\"result\""),
			   "a waiting request is answered under the id");
		close(fd[i]);
	}
	nothing_left("of those that waited");
	end();
}

/* N notifications of 4 KiB, numbered. */
static void tell_many(int n)
{
	char *text = xcalloc(4200, 1);

	for (int i = 0; i < n; i++) {
		memset(text, 'x', 4096);
		snprintf(text + 4096, 100, " %d;", i);
		tell(text);
	}
	free(text);
}

TEST(unread)
{
	const char *in;
	int fd;

	begin();
	fd = post("held");
	tell_many(400);
	ok(ada->http_live_bytes <= SSE_PASSING_MAX &&
	       ada->http_live_bytes > SSE_PASSING_MAX / 2,
	   "of what is not read %zu bytes are kept", ada->http_live_bytes);
	ok(ada->http.unread >= ada->http_live_bytes,
	   "kept messages count as unread: %zu", ada->http.unread);
	request_result(held, json_object_new_object());
	in = hears(fd, 20);
	ok(has(in, " 0;") && has(in, " 399;") && !has(in, " 200;"),
	   "the oldest messages were dropped, the newest are there");
	ok(has(in, "\"result\"") && has(in, "\r\n0\r\n\r\n"),
	   "the answer follows the newest message");
	close(fd);
	nothing_left("of who read late");
	fd = post("held");
	ada->http_live_bytes = HTTP_OPEN_BYTES;
	tell_many(400);
	ok(ada->http_live_bytes <= HTTP_OPEN_BYTES + HTTP_OPEN_TIGHT,
	   "when much is kept for one requestor each of it has little");
	ada->http_live_bytes -= HTTP_OPEN_BYTES;
	close(fd);
	nothing_left("of who never read");
	end();
}
