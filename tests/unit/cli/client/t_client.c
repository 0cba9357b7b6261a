/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_client.c - the command's end of a connection: lines, bytes among lines, requests of
 * the server, and the ways in which a server leaves. The test is the server; a message
 * too large to be read comes from a read(2) of the test's own.
 */
#include "cli/client/client_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "tests/unit/tap.h"

#define MIB ((size_t)1 << 20)
#define LINE_MAX_BYTES (256 * MIB)

static struct client c;
static int server;     /* the server's end */
static size_t endless; /* bytes without a line's end that read(2) still gives */
static int fails;      /* errno of the next read(2) or poll(2), or 0 */
static char said[4096]; /* on stderr, in the last ending */

/*
 * Most bytes are those of fresh memory, which costs none as long as nobody writes there;
 * less memory than 64 MiB may have been used before.
 */
ssize_t read(int fd, void *to, size_t n)
{
	if (fails != 0 && fd == c.link.in) {
		errno = fails;
		fails = 0;
		return -1;
	}
	if (endless == 0 || fd != c.link.in)
		return (ssize_t)syscall(SYS_read, fd, to, n);
	n = n < endless ? n : endless;
	endless -= n;
	if (buf_len(&c.rx) < 64 * MIB)
		memset(to, 'x', n);
	return (ssize_t)n;
}

static void begin(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0)
		abort();
	c = (struct client){.link = {.in = ends[0],
				     .out = ends[0],
				     .pid = -1,
				     .pidfd = -1,
				     .log = -1,
				     .peer = xstrdup("/the/socket")}};
	TAILQ_INIT(&c.early);
	server = ends[1];
}

static void end(void)
{
	struct early *e;

	while ((e = TAILQ_FIRST(&c.early)) != NULL) {
		TAILQ_REMOVE(&c.early, e, link);
		rpc_fini(&e->msg);
		free(e);
	}
	transport_end(&c.link);
	transport_fini(&c.link);
	buf_fini(&c.rx);
	buf_fini(&c.tx);
	json_object_put(c.told);
	json_object_put(c.capabilities);
	free(c.server_version);
	if (server >= 0)
		close(server);
}

static void say(const char *text)
{
	if (write(server, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
}

/* The lines that the server has received. */
static const char *heard(void)
{
	static char in[4096];
	ssize_t n = read(server, in, sizeof(in) - 1);

	in[n > 0 ? n : 0] = '\0';
	return in;
}

/* Handle what there is; what is printed on stderr is in SAID. */
static int pump(void)
{
	int was = dup(STDERR_FILENO), to = memfd_create("stderr", 0), rc;
	ssize_t n;

	fflush(stderr);
	dup2(to, STDERR_FILENO);
	rc = client_pump(&c, 0);
	fflush(stderr);
	dup2(was, STDERR_FILENO);
	n = pread(to, said, sizeof(said) - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(was);
	close(to);
	return rc;
}

/* Does the answer to request ID come as {"n":N}? */
static bool has(int64_t id, int64_t n)
{
	struct rpc_msg m;
	bool is;

	if (client_wait_message(&c, id, 0, &m) != 0)
		return false;
	is = json_member_int(m.result, "n") == n;
	rpc_fini(&m);
	return is;
}

TEST(lines)
{
	begin();
	is_int(pump(), -ETIMEDOUT, "without news nothing is read");
	say("\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"n\":2}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}\n{\"json");
	is_int(pump(), 0, "lines are read");
	ok(has(1, 1) && has(2, 2), "answers are found by their ids");
	ok(!has(3, 3), "a line without an end is no answer");
	say("rpc\":\"2.0\",\"id\":3,\"result\":{\"n\":3}}");
	is_int(pump(), 0, "the rest of a line is read");
	say("\n");
	ok(has(3, 3), "a line in three pieces is one answer");
	end();
}

TEST(requests)
{
	begin();
	say("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"other\"}\n");
	pump();
	pump();
	is_str(heard(),
	       "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n"
	       "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"error\":{\"code\":-32601,"
	       "\"message\":\"this client cannot do that\"}}\n",
	       "requests of the server are answered");
	is_int(client_request(&c, "m", NULL), 1, "the first id is 1");
	is_int(client_request(&c, "m", NULL), 2,
	       "each request has the next id");
	client_notify(&c, "n", NULL);
	pump();
	is_str(heard(),
	       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n"
	       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"m\"}\n"
	       "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n",
	       "requests and notifications are lines");
	end();
}

TEST(stateless)
{
	const char *line;

	begin();
	c.stateless = true;
	client_request(&c, "m", NULL);
	pump();
	line = heard();
	ok(strstr(line, "\"io.modelcontextprotocol/protocolVersion\":\"") &&
	       strstr(line, "/clientInfo\":{\"name\":\"paddock\"") &&
	       strstr(line, "/clientCapabilities\":{}"),
	   "a request without session has the terms");
	end();
}

static uint64_t done, total;
static char text[64];

static void on_progress(void *arg, uint64_t d, uint64_t t, const char *message)
{
	*(int *)arg += 1;
	done = d;
	total = t;
	snprintf(text, sizeof(text), "%s", message);
}

#define NOTE(method, params)                                                   \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method              \
	"\",\"params\":" params "}\n"

TEST(notifications)
{
	int calls = 0;

	begin();
	say(NOTE("progress", "{\"progressToken\":7,\"progress\":1}"));
	pump();
	client_on_progress(&c, 7, on_progress, &calls);
	say(NOTE("progress", "{\"progressToken\":8,\"progress\":1}")
		NOTE("progress", "{\"progressToken\":\"7\",\"progress\":1}")
		    NOTE("message", "{\"progressToken\":7,\"progress\":1}"));
	pump();
	is_int(calls, 0, "progress of another call is not told");
	say(NOTE("progress", "{\"progressToken\":7,\"progress\":3,\"total\":9,"
			     "\"message\":\"hm\"}"));
	pump();
	ok(calls == 1 && done == 3 && total == 9 && strcmp(text, "hm") == 0,
	   "progress of the call is told");
	ok(!c.updated && c.told == NULL, "nothing else was notified");
	say(NOTE("resources/updated", "{\"uri\":\"u\"}")
		NOTE("paddock/artifact", "{\"n\":1}")
		    NOTE("paddock/artifact", "{\"n\":2}"));
	pump();
	ok(c.updated, "an update is noted");
	is_int(json_member_int(c.told, "n"), 1,
	       "the first news of an upload is noted");
	end();
}

TEST(bytes)
{
	begin();
	c.bytes_id = 5;
	say("{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{\"follows\":3}}\n");
	pump();
	is_int(c.bytes, 0, "another answer announces no bytes");
	say("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"follows\":3}}\na\nb");
	pump();
	is_int(c.bytes, 3, "an answer announces bytes");
	is_int((int64_t)buf_len(&c.rx), 3, "the bytes are no lines");
	is_int((int64_t)c.scanned, 0, "the bytes are not searched for a line");
	end();
}

/* Does the server's LINE end the connection, with WORDS on stderr? */
static bool ends_by(const char *line, const char *words)
{
	bool ends;

	begin();
	say(line);
	ends = pump() == -EPIPE && c.gone && strstr(said, words) != NULL &&
	       client_trouble() == CLI_TROUBLE;
	ends = ends && pump() == -EPIPE && said[0] == '\0';
	end();
	return ends;
}

TEST(nonsense)
{
	ok(ends_by("nonsense\n", "no more from the server at /the/socket: "),
	   "a line that is no message ends the connection, which is told once");
	ok(ends_by(
	       "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
	       "\"message\":\"no, you\"}}\n",
	       "no, you"),
	   "an error without an id is the reason of the end");
	ok(ends_by(
	       "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600}}"
	       "\n",
	       "does not say why"),
	   "an end without a reason is told");
}

TEST(gone)
{
	begin();
	fails = EINTR;
	say("\n");
	is_int(pump(), 0, "an interrupted read is no end");
	fails = EAGAIN;
	is_int(pump(), 0, "a read of nothing is no end");
	fails = EIO;
	is_int(pump(), -EPIPE, "a read that fails is the end");
	ok(strstr(said, "Input/output error") != NULL, "the failure is told");
	end();
	begin();
	close(server);
	server = -1;
	is_int(pump(), -EPIPE, "a closed connection is the end");
	ok(strstr(said, "closed the connection") != NULL,
	   "a closed connection is told");
	end();
	begin();
	c.quiet_end = true;
	close(server);
	server = -1;
	ok(pump() == -EPIPE && said[0] == '\0',
	   "during a greeting an end is not told");
	end();
}

/* The end of a private server that ended by SIG, or with STATUS if SIG is 0. */
static void private_server_ends(int sig, int status)
{
	siginfo_t ended;

	begin();
	c.is_private = true;
	c.link.pid = fork();
	if (c.link.pid == 0) {
		if (sig != 0)
			(void)raise(sig);
		_exit(status);
	}
	(void)waitid(P_PID, (id_t)c.link.pid, &ended, WEXITED | WNOWAIT);
	close(server);
	server = -1;
	is_int(pump(), -EPIPE, "the end of a private server is the end");
}

TEST(private_server_gone)
{
	private_server_ends(SIGKILL, 0);
	ok(strstr(said, "was killed by signal 9") != NULL,
	   "the signal that killed a private server is told");
	end();
	private_server_ends(0, EX_CONFIG);
	ok(strstr(said, "does not start with these flags") != NULL,
	   "a private server that refuses its configuration is told");
	end();
	private_server_ends(0, EX_UNAVAILABLE);
	ok(strstr(said, "cannot start here") != NULL,
	   "a private server that cannot serve is told");
	end();
	private_server_ends(0, EX_NOPERM);
	ok(strstr(said, "cannot start here") != NULL,
	   "a private server that may not serve is told");
	end();
}

TEST(too_large_to_read)
{
	int rc = 0;

	begin();
	say("x");
	endless = LINE_MAX_BYTES;
	while (rc == 0 && endless > 0)
		rc = pump();
	ok(rc == 0 && buf_len(&c.rx) == LINE_MAX_BYTES,
	   "a line of the most bytes may be on its way");
	is_int(pump(), -EPIPE, "a line with a byte more is the end");
	ok(strstr(said, "too large to read") != NULL,
	   "the too large line is told");
	end();
	begin();
	c.bytes = 1;
	say("x");
	endless = LINE_MAX_BYTES + MIB;
	rc = 0;
	while (rc == 0 && endless > 0)
		rc = pump();
	is_int(rc, 0, "bytes among lines have no such bound");
	end();
}

/* Last here: the message that was too long is remembered. */
TEST(too_large_to_send)
{
	begin();
	say("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
	    "\"message\":\"at most 9 bytes (its max_message_bytes)\"}}\n");
	ok(!client_sent_too_much(), "nothing too long was sent so far");
	is_int(pump(), -EPIPE, "after a too long message the server is left");
	ok(strstr(said, "too large to be sent with the call") != NULL,
	   "what would pass is told");
	ok(strstr(said, "no more from the server") == NULL,
	   "the end is told in one sentence");
	ok(client_sent_too_much(), "the too long message is remembered");
	is_int(client_trouble(), CLI_USAGE, "the exit status is that of usage");
	end();
}
