/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_stream_conn.c - two clients on streams of lines: the order of served messages, and
 * clients which do not read. poll(2) is the test's own, so that a test knows of a wait.
 */
#include "supervisor/mcp/methods/methods.h"
#include "supervisor/run/threads/thread_pool.h"
#include "supervisor/session/request.h"
#include "supervisor/clients/stdio/stream_conn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/log.h"
#include "base/mem.h"
#include "supervisor/run/artifacts/artifact_source.h"
#include "supervisor/store/store.h"
#include "tests/unit/supervisor/run/threads/full_pool_fixture.h"
#include "tests/unit/tap.h"

#define FLOOD 500
#define PING "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n"

static struct config config = {.max_message_bytes = 1 << 20,
			       .max_answer_bytes = 8 << 20};
static struct fair_queue turns;
static struct sessions sessions;
static struct context ctx = {.config = &config,
			     .turns = &turns,
			     .sessions = &sessions,
			     .methods = &methods};
static struct config_requestor section;
static struct requestor who[2];

struct client {
	struct stream_conn *conn;
	int ends[2];	/* ours, the server's */
	size_t answers; /* the number of received answers */
	bool closed;
};

static void on_closed(void *arg, struct stream_conn *c)
{
	struct client *k = arg;

	stream_conn_free(c);
	k->conn = NULL;
	k->closed = true;
}

static void come(struct client *k, struct requestor *q)
{
	*k = (struct client){0};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, k->ends) < 0)
		abort();
	k->conn =
	    stream_conn_new(&ctx, q, k->ends[1], k->ends[1], on_closed, k);
}

static void go(struct client *k)
{
	stream_conn_free(k->conn);
	close(k->ends[0]);
	close(k->ends[1]);
}

static void say(struct client *k, const char *text, size_t len)
{
	if (write(k->ends[0], text, len) != (ssize_t)len)
		abort();
}

static void ping(struct client *k, int n)
{
	char *all = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&all, &len);

	if (f == NULL)
		abort();
	for (int i = 0; i < n; i++)
		fprintf(f, PING, i);
	fclose(f);
	say(k, all, len);
	free(all);
}

static struct client *reader; /* reads whenever something is waited for */
static size_t heard(struct client *k);

int poll(struct pollfd *p, nfds_t n, int ms)
{
	if (reader != NULL)
		heard(reader);
	return (int)syscall(SYS_poll, p, n, ms);
}

/* Count the received lines of K. */
static size_t heard(struct client *k)
{
	char in[65536];
	ssize_t n;

	while ((n = read(k->ends[0], in, sizeof(in))) > 0)
		for (ssize_t i = 0; i < n; i++)
			k->answers += in[i] == '\n';
	return k->answers;
}

static void turn_until(struct client *k, size_t answers)
{
	while (heard(k) < answers)
		event_base_loop(ctx.base, EVLOOP_ONCE);
}

static void begin(void)
{
	ctx.base = event_base_new();
	ctx.thread_pool = thread_pool_new(ctx.base, 1);
	fair_queue_init(&turns, ctx.base);
	sessions_init(&sessions);
	for (size_t i = 0; i < ARRAY_LEN(who); i++) {
		who[i] = (struct requestor){.name = (char *)"somebody",
					    .section = &section};
		fair_queue_flow_init(&who[i].turns);
	}
}

static void end(void)
{
	fair_queue_fini(&turns);
	thread_pool_free(ctx.thread_pool);
	event_base_free(ctx.base);
}

static void test_flood(struct requestor *of_other, const char *name)
{
	struct client flood, other;

	begin();
	come(&flood, &who[0]);
	come(&other, of_other);
	ping(&flood, FLOOD);
	turn_until(&flood, 1); /* the rest has been read as well */
	ping(&other, 1);
	turn_until(&other, 1);
	ok(heard(&flood) < 10,
	   "a ping of %s is answered after %zu of %d that were there before",
	   name, flood.answers, FLOOD);
	turn_until(&flood, FLOOD);
	is_int((long long)flood.answers, FLOOD,
	       "all messages of the flood are answered");
	go(&flood);
	go(&other);
	end();
}

/* A requestor uses all threads allowed: a large message waits. */
#define TURNS 200
static int fails_by; /* errno of each write(2) to FAILING; 0: success */
static int failing = -1, tries;

/* In place of the C library's. */
ssize_t write(int fd, const void *p, size_t n)
{
	if (fd != failing || fails_by == 0)
		return syscall(SYS_write, fd, p, n);
	tries++;
	errno = fails_by;
	return -1;
}

/* While the kernel has no memory for an answer, the loop rests between two tries. */
TEST(no_memory)
{
	static const int errs[] = {ENOBUFS, ENOMEM};
	struct client k;

	for (size_t i = 0; i < ARRAY_LEN(errs); i++) {
		begin();
		come(&k, &who[0]);
		failing = k.ends[1];
		fails_by = errs[i];
		tries = 0;
		ping(&k, 1);
		while (tries == 0)
			event_base_loop(ctx.base, EVLOOP_ONCE);
		for (int n = 0; n < TURNS; n++)
			event_base_loop(ctx.base,
					EVLOOP_ONCE | EVLOOP_NONBLOCK);
		ok(!k.closed && tries <= TURNS / 2,
		   "%d turns of the loop try few times (%d)", TURNS, tries);
		fails_by = 0;
		turn_until(&k, 1);
		ok(k.answers == 1, "the answer comes when there is memory");
		go(&k);
		end();
	}
}

TEST(large_among_many)
{
	size_t len = 70000;
	char *text = xcalloc(len + 128, 1), in[512] = "";
	struct pollfd heard;
	struct client k;
	ssize_t n;

	begin();
	come(&k, &who[0]);
	full_pool_begin(ctx.thread_pool, &who[0]);
	strcpy(text, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\","
		     "\"params\":{\"a\":\"");
	memset(text + strlen(text), 'x', len);
	strcat(text, "\"}}\n");
	say(&k, text, strlen(text));
	heard = (struct pollfd){.fd = k.ends[0], .events = POLLIN};
	for (int i = 0; i < 5 && poll(&heard, 1, 0) == 0; i++)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	is_int(who[0].memory.held, (long long)strlen(text) - 1 + SESSION_COST,
	       "a large message that waits for a thread is charged");
	full_pool_end();
	while ((n = read(k.ends[0], in, sizeof(in) - 1)) < 0)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	in[n] = '\0';
	is_str(in, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n",
	       "a large message is answered once a thread is free");
	go(&k);
	come(&k, &who[0]);
	full_pool_begin(ctx.thread_pool, &who[0]);
	say(&k, text, strlen(text));
	for (int i = 0; i < 5; i++)
		event_base_loop(ctx.base, EVLOOP_ONCE);
	go(&k);
	full_pool_end();
	is_int(who[0].memory.held, 0,
	       "a large message of a closed client holds no memory");
	end();
	free(text);
}

/*
 * A large message is parsed on a thread: other clients go on, later messages of the
 * client wait.
 */
TEST(large)
{
	size_t len = 200000;
	char *text = xcalloc(len + 128, 1);
	struct client large, other;
	char in[4096] = "";
	pid_t writer;
	ssize_t n;

	begin();
	come(&large, &who[0]);
	come(&other, &who[1]);
	strcpy(text,
	       "{\"jsonrpc\":\"2.0\",\"id\":\"large\",\"method\":\"ping\","
	       "\"params\":{\"a\":\"");
	memset(text + strlen(text), 'x', len);
	strcat(text, "\"}}\n");
	fcntl(large.ends[0], F_SETFL, 0);
	fcntl(large.ends[1], F_SETFL, O_NONBLOCK);
	writer = fork();
	if (writer == 0) { /* the socket may not hold the whole message */
		say(&large, text, strlen(text));
		ping(&large, 2);
		_exit(0);
	}
	fcntl(large.ends[0], F_SETFL, O_NONBLOCK);
	while (large.answers < 3) {
		event_base_loop(ctx.base, EVLOOP_ONCE);
		n = read(large.ends[0], in + strlen(in),
			 sizeof(in) - strlen(in) - 1);
		for (ssize_t i = 0; i < n; i++)
			large.answers += in[strlen(in) - 1 - (size_t)i] == '\n';
	}
	waitpid(writer, NULL, 0);
	ok(strncmp(in, "{\"jsonrpc\":\"2.0\",\"id\":\"large\"", 29) == 0 &&
	       strstr(in, "\"id\":0") < strstr(in, "\"id\":1"),
	   "a large message and what follows it are answered in their order");
	free(text);
	go(&large);
	go(&other);
	end();
}

/* The client leaves while its message is being parsed. */
TEST(gone)
{
	char *text = xcalloc(100000, 1);
	struct client gone;

	begin();
	come(&gone, &who[0]);
	memset(text, 'x', 90000);
	text[90000] = '\n';
	say(&gone, text, 90001);
	/* the message is read and given to a thread */
	for (int i = 0; i < 3; i++)
		event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	go(&gone);
	free(text);
	ok(LIST_EMPTY(&sessions.all),
	   "a client which leaves during parsing leaves nothing behind");
	end();
}

#define UNREAD (1 << 20) /* more than a socket holds */

/* The client closes its sending side, with much unread and a pending row. */
TEST(ended)
{
	struct json_object *text = json_object_new_object();
	char *xs = xcalloc(UNREAD + 1, 1);
	struct rpc_msg m = {.kind = RPC_REQUEST};
	struct client k, next;
	struct request *req;

	begin();
	come(&k, &who[0]);
	memset(xs, 'x', UNREAD);
	json_object_object_add(text, "text", json_object_new_string(xs));
	session_tell(stream_conn_session(k.conn), NULL, "unread", text);
	json_object_put(text);
	req = request_new(stream_conn_session(k.conn), NULL, &m, NULL);
	request_ref_large(req);
	shutdown(k.ends[0], SHUT_WR);
	while (!LIST_EMPTY(&sessions.all))
		event_base_loop(ctx.base, EVLOOP_ONCE);
	ok(k.conn != NULL,
	   "a session ends with its input, and what is unsent stays");
	come(&next, &who[1]);
	for (int i = 0; i < 3; i++)
		event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	ok(LIST_FIRST(&sessions.all) == stream_conn_session(next.conn),
	   "the session of a closed client ends once");
	while (!k.closed) {
		heard(&k);
		event_base_loop(ctx.base, EVLOOP_ONCE);
	}
	is_int((long long)heard(&k), 1,
	       "the client of a pending row gets one answer at the end");
	request_unref(req);
	free(xs);
	go(&k);
	go(&next);
	end();
}

/* Send a file of many MB to the client of S. */
static void send_file(struct session *s, const char *dir)
{
	static const struct store_artifact a = {.requestor = "somebody",
						.run_id = "r",
						.id = "a",
						.size = 64 << 20};
	char *folder = xasprintf("%s/artifacts", dir);
	char *run = xasprintf("%s/r", folder), *path = xasprintf("%s/a", run);
	struct artifact_source *source;
	int fd, rc;

	mkdir(folder, 0700);
	mkdir(run, 0700);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, a.size) < 0)
		abort();
	close(fd);
	source = artifact_source_open(NULL, NULL, &config, &a, 0, a.size, &rc);
	ok(source != NULL && !s->ops->sends_bytes(s->arg) &&
	       s->ops->send_bytes(s->arg, source) &&
	       s->ops->sends_bytes(s->arg),
	   "a file is on its way");
	unlink(path), rmdir(run), rmdir(folder);
	free(path), free(run), free(folder);
}

/* Lines behind a file that the client does not read count like other lines. */
TEST(behind_a_file)
{
	char dir[] = "/tmp/paddock-t-conn-XXXXXX";
	char *xs = xcalloc((1 << 20) + 1, 1);
	struct json_object *text = json_object_new_object();
	struct session *s;
	struct client k;
	int n = 0;

	if (mkdtemp(dir) == NULL)
		abort();
	config.state_dir = dir;
	begin();
	come(&k, &who[0]);
	s = stream_conn_session(k.conn);
	send_file(s, dir);
	memset(xs, 'x', 1 << 20);
	json_object_object_add(text, "text", json_object_new_string(xs));
	for (; n < 20 && !session_is_backlogged(s); n++)
		session_tell(s, NULL, "unread", text);
	is_int(n, 8,
	       "lines behind a file that is not read fill the same "
	       "bound as others");
	json_object_put(text);
	free(xs);
	go(&k);
	end();
	rmdir(dir);
	config.state_dir = NULL;
}

#define NOTES 14 /* ten may come at once, and ten a second */

/* Above the rate, messages that cannot be refused are read later. */
TEST(rest)
{
	static const char note[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n";
	char *notes = xcalloc(NOTES, sizeof(note));
	struct client k;

	begin();
	section.rate_per_second = 1;
	come(&k, &who[0]);
	for (int i = 0; i < NOTES; i++)
		strcpy(notes + (size_t)i * (sizeof(note) - 1), note);
	say(&k, notes, strlen(notes));
	free(notes);
	ping(&k, 1);
	turn_until(&k, 1);
	ok(who[0].rate_limited > 0,
	   "notifications above the rate are read later, and what follows them "
	   "is answered");
	section.rate_per_second = 0;
	go(&k);
	end();
}

/* Send a message without its end; does the server answer? */
static bool is_refused(struct client *k, const char *text, size_t len)
{
	char in[512] = "";

	for (size_t at = 0, n; at < len; at += n) {
		n = len - at < 32768 ? len - at : 32768;
		say(k, text + at, n);
		event_base_loop(ctx.base, EVLOOP_NONBLOCK);
	}
	event_base_loop(ctx.base, EVLOOP_NONBLOCK);
	return read(k->ends[0], in, sizeof(in) - 1) > 0 &&
	       strstr(in, "of messages of yours have not ended, and 4194304 "
			  "may") != NULL;
}

/* Unfinished messages of one user's streams have a bound. */
TEST(unended)
{
	size_t len = (size_t)config.max_message_bytes - 1000;
	char *text = xcalloc(len, 1);
	struct client all[5], other;

	begin();
	memset(text, 'x', len);
	for (int i = 0; i < 5; i++) {
		come(&all[i], &who[0]);
		ok(is_refused(&all[i], text, len) == (i == 4),
		   i == 4 ? "what is over it is refused"
			  : "so many messages may be on their way");
	}
	come(&other, &who[1]);
	ok(!is_refused(&other, text, len),
	   "another user's unfinished message has a bound of its own");
	go(&all[0]);
	ok(!is_refused(&all[4], "\n", 1),
	   "the rest of a refused message is dropped");
	ok(!is_refused(&all[4], text, len),
	   "a closed stream makes room for an unfinished message");
	for (int i = 1; i < 5; i++)
		go(&all[i]);
	go(&other);
	ok(who[0].line_bytes == 0 && who[1].line_bytes == 0,
	   "no byte of unfinished messages is counted at the end");
	free(text);
	end();
}

#define CHECKS 30 /* of a client that is found unmoved */

static int note_check(const struct event_base *base, const struct event *ev,
		      void *arg)
{
	struct event **check = arg;

	(void)base;
	if (event_get_fd(ev) < 0 && event_get_events(ev) == EV_PERSIST)
		*check = (struct event *)(uintptr_t)ev;
	return 0;
}

/* Let N checks of the one stalled client be due; is there any to be done? */
static bool checked(int n)
{
	struct event *check = NULL;

	for (; n > 0; n--) {
		check = NULL;
		event_base_foreach_event(ctx.base, note_check, &check);
		if (check == NULL)
			return false;
		event_active(check, EV_TIMEOUT, 0);
		event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	}
	return true;
}

/* Leave N lines of a MiB unread by K, and let the server write what it can. */
static void leave_unread(struct client *k, int n)
{
	struct json_object *text = json_object_new_object();
	char *xs = xcalloc((1 << 20) + 1, 1);

	memset(xs, 'x', 1 << 20);
	json_object_object_add(text, "text", json_object_new_string(xs));
	for (int i = 0; i < n; i++)
		session_tell(stream_conn_session(k->conn), NULL, "unread",
			     text);
	for (int i = 0; i < 9; i++)
		event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	json_object_put(text);
	free(xs);
}

/* A client which reads nothing is kept as long as it is there. */
TEST(stalled)
{
	struct client k;

	begin();
	come(&k, &who[0]);
	leave_unread(&k, 12);
	ok(checked(2 * CHECKS) && !k.closed,
	   "a client that reads nothing is kept while it is there");
	shutdown(k.ends[0], SHUT_WR);
	ok(checked(1) == true && k.closed,
	   "a client that reads nothing and has ended its input is closed");
	go(&k);
	end();
}

/* Let K read a MiB of what waits for K. */
static void read_some(struct client *k)
{
	char some[1 << 16];

	for (size_t n = 0; n < 1 << 20;) {
		ssize_t got = read(k->ends[0], some, sizeof(some));

		n += got > 0 ? (size_t)got : 0;
		event_base_loop(ctx.base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	}
}

/* Between two checks something was read: the checks begin anew. */
TEST(moved)
{
	struct client k;

	begin();
	come(&k, &who[0]);
	leave_unread(&k, 12);
	shutdown(k.ends[0], SHUT_WR);
	checked(1);
	ok(checked(CHECKS - 1) && !k.closed,
	   "a client is kept until so many checks found it unmoved");
	read_some(&k);
	checked(1);
	ok(checked(CHECKS - 1) && !k.closed,
	   "a client that reads again has all checks anew");
	checked(1);
	ok(k.closed, "a client that reads no more is closed");
	go(&k);
	end();
}

/* The input has ended: a client that reads nothing more is closed in time. */
TEST(ended_and_stalled)
{
	struct client k;

	begin();
	come(&k, &who[0]);
	leave_unread(&k, 2);
	shutdown(k.ends[0], SHUT_WR);
	while (!LIST_EMPTY(&sessions.all))
		event_base_loop(ctx.base, EVLOOP_ONCE);
	checked(1);
	ok(checked(CHECKS - 1) && !k.closed,
	   "after the end of the input the rest waits for the client");
	checked(1);
	ok(k.closed, "a client that reads nothing of the rest is closed");
	go(&k);
	end();
}

/* At the end of the server a client gets what it reads while the server waits. */
TEST(flushed)
{
	struct client k;
	int64_t until;

	begin();
	come(&k, &who[0]);
	leave_unread(&k, 3);
	until = clock_mono_ms() + 60000;
	ctx.flush_until_ms = until;
	reader = &k;
	stream_conn_free(k.conn);
	reader = NULL;
	is_int(
	    (long long)heard(&k), 3,
	    "what is unsent is sent at the end, as fast as the client reads");
	ok(clock_mono_ms() < until, "the end waits no longer than it needs");
	k.conn = NULL;
	ctx.flush_until_ms = 0;
	go(&k);
	come(&k, &who[0]);
	leave_unread(&k, 3);
	reader = &k;
	stream_conn_free(k.conn);
	reader = NULL;
	ok(heard(&k) < 3, "without time at the end nothing is waited for");
	k.conn = NULL;
	go(&k);
	end();
}

int main(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	test_flood(&who[1], "another requestor");
	test_flood(&who[0], "another connection");
	tap_run();
	return tap_done();
}
