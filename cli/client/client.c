/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.c - messages over a connection that client_open.c made: requests,
 * answers and notifications, from which client_call.c makes calls. When the
 * server leaves or sends nonsense, one message is printed; every wait then ends
 * with -EPIPE.
 */
#include "cli/client/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/client/client_private.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/signals.h"
#include "proto/json/json_pack.h"
#include "proto/mcp/mcp_envelope.h"

#define READ_BYTES 65536
#define BYTES_AT_ONCE (256u << 10) /* for raw bytes */
#define LOG_LEVEL "info" /* of the log lines that client_on_log() asks for */
#define LINE_MAX_BYTES ((size_t)256 << 20)

bool client_is_private(const struct client *c)
{
	return c->is_private;
}

const char *client_server_version(const struct client *c)
{
	return c->server_version != NULL ? c->server_version : "";
}

const char *client_peer(const struct client *c)
{
	return c->link.peer;
}

void client_on_progress(struct client *c, int64_t id, client_progress fn,
			void *arg)
{
	c->progress = fn;
	c->progress_arg = arg;
	c->progress_id = id;
}

void client_on_log(struct client *c, client_log fn, void *arg)
{
	c->log = fn;
	c->log_arg = arg;
}

static bool misled;	   /* a private server by its flags or configuration */
static bool sent_too_much; /* a message was longer than the server takes */

int client_trouble(void)
{
	if (signals_noted() != 0)
		return CLI_SIGNALED + signals_noted();
	return misled || sent_too_much ? CLI_USAGE : CLI_TROUBLE;
}

bool client_sent_too_much(void)
{
	return sent_too_much;
}

/* ---- the server has gone ---- */

/*
 * End the connection and print why. WHAT is the reason, or NULL for unknown;
 * SAID: the server gave the reason. Returns -EPIPE.
 */
static int gone_as(struct client *c, const char *what, bool said)
{
	int status;

	if (c->gone)
		return -EPIPE;
	said = said && what != NULL;
	if (what == NULL)
		what = "it does not say why";
	c->gone = true;
	if (c->quiet_end)
		return -EPIPE;
	if (said && strstr(what, "max_message_bytes") != NULL) {
		sent_too_much = true;
		if (client_is_private(c))
			(void)transport_end(&c->link);
		message_print("what is given is too large to be sent with the "
			      "call: use @@ instead of @, KEY=@@FILE, which "
			      "uploads the file first");
		return -EPIPE;
	}
	if (!client_is_private(c))
		return message_fail(-EPIPE, "no more from the server at %s: %s",
				    c->link.peer, what);
	status = transport_end(&c->link);
	if (WIFSIGNALED(status))
		message_print("the private server was killed by signal %d (%s)",
			      WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == EX_CONFIG)
		message_print(
		    "the private server does not start with these flags and "
		    "this configuration");
	else if (WEXITSTATUS(status) == EX_UNAVAILABLE ||
		 WEXITSTATUS(status) == EX_NOPERM)
		message_print("the private server cannot start here");
	else if (said && WEXITSTATUS(status) == 0)
		return message_fail(-EPIPE, "the private server: %s", what);
	else
		message_print("the private server stopped, with status %d: %s",
			      WEXITSTATUS(status), what);
	misled = WIFEXITED(status) && WEXITSTATUS(status) == EX_CONFIG;
	transport_show_log(&c->link);
	return -EPIPE;
}

/* ---- messages ---- */

static void send_message(struct client *c, const struct buf *message)
{
	buf_add(&c->tx, buf_data(message), buf_len(message));
	buf_add_str(&c->tx, "\n");
}

void client_notify(struct client *c, const char *method,
		   struct json_object *params)
{
	struct buf b = {0};

	rpc_put_notification(&b, method, params);
	send_message(c, &b);
	buf_fini(&b);
	json_object_put(params);
}

struct json_object *client_info(void)
{
	return json_pack("name:s version:s", "paddock", PADDOCK_VERSION);
}

/* Add the _meta of a request without session: version, client, abilities. */
static void add_terms(const struct client *c, struct json_object *params)
{
	struct json_object *meta = json_member(params, "_meta");

	if (meta == NULL) {
		meta = json_object_new_object();
		json_add(params, "_meta:o", meta);
	}
	json_object_object_add(
	    meta, MCP_META_VERSION,
	    json_object_new_string(mcp_revision_name(MCP_LATEST)));
	json_object_object_add(meta, MCP_META_CLIENT, client_info());
	json_object_object_add(meta, MCP_META_CAPABILITIES,
			       c->capabilities != NULL
				   ? json_object_get(c->capabilities)
				   : json_object_new_object());
	if (c->log != NULL)
		json_object_object_add(meta, MCP_META_LOG_LEVEL,
				       json_object_new_string(LOG_LEVEL));
}

int64_t client_request(struct client *c, const char *method,
		       struct json_object *params)
{
	struct buf b = {0};
	char id[24];

	if (c->stateless && params == NULL)
		params = json_object_new_object();
	if (c->stateless)
		add_terms(c, params);
	snprintf(id, sizeof(id), "%lld", (long long)++c->last_id);
	rpc_put_request(&b, id, method, params);
	send_message(c, &b);
	buf_fini(&b);
	json_object_put(params);
	return c->last_id;
}

static void on_log(struct client *c, struct json_object *params)
{
	const char *level = json_member_str(params, "level");
	const char *text = json_member_str(params, "data");

	if (c->log != NULL && level != NULL && text != NULL)
		c->log(c->log_arg, level, text);
}

static void on_notification(struct client *c, const struct rpc_msg *m)
{
	struct json_object *token = json_member(m->params, "progressToken");
	struct json_object *total = json_member(m->params, "total");

	if (strcmp(m->method, "notifications/resources/updated") == 0)
		c->updated = true;
	if (strcmp(m->method, "notifications/message") == 0)
		on_log(c, m->params);
	if (strcmp(m->method, "notifications/paddock/artifact") == 0 &&
	    c->told == NULL)
		c->told = json_object_get(m->params);
	if (strcmp(m->method, "notifications/progress") != 0 ||
	    c->progress == NULL || !json_object_is_type(token, json_type_int) ||
	    json_object_get_int64(token) != c->progress_id)
		return;
	c->progress(c->progress_arg,
		    json_object_get_uint64(json_member(m->params, "progress")),
		    json_object_get_uint64(total),
		    json_member_str(m->params, "message"));
}

/* Handle a line of the server's. 0, or -EPIPE: the line is no valid message. */
static int on_line(struct client *c, const char *text, size_t len)
{
	struct rpc_msg m;
	struct buf b = {0};
	struct early *e;
	int rc = 0;

	if (len == 0)
		return 0;
	rpc_parse(&m, text, len);
	if (m.kind == RPC_RESPONSE && m.id != NULL) {
		if (c->bytes_id > 0 && strtoll(m.id, NULL, 10) == c->bytes_id)
			c->bytes = json_member_int(m.result, "follows");
		e = xcalloc(1, sizeof(*e));
		e->msg = m;
		TAILQ_INSERT_TAIL(&c->early, e, link);
		return 0;
	}
	if (m.kind == RPC_REQUEST) {
		if (strcmp(m.method, "ping") == 0)
			rpc_put_result(&b, m.id, NULL);
		else
			rpc_put_error(&b, m.id, RPC_METHOD_NOT_FOUND,
				      "this client cannot do that", NULL);
		send_message(c, &b);
		buf_fini(&b);
	} else if (m.kind == RPC_NOTIFICATION)
		on_notification(c, &m);
	else if (m.kind == RPC_BROKEN)
		rc = gone_as(c, m.text, false);
	else if (m.kind == RPC_RESPONSE) /* to a message it could not read */
		rc = gone_as(c, json_member_str(m.error, "message"), true);
	rpc_fini(&m);
	return rc;
}

static int cut_lines(struct client *c)
{
	int rc = 0;

	for (;;) {
		const char *data = buf_data(&c->rx);
		size_t len = buf_len(&c->rx);
		const char *end =
		    len == c->scanned
			? NULL
			: memchr(data + c->scanned, '\n', len - c->scanned);

		if (end == NULL || rc < 0 || c->bytes > 0) {
			c->scanned = c->bytes > 0 ? 0 : len;
			return rc;
		}
		rc = on_line(c, data, (size_t)(end - data));
		buf_drop(&c->rx, (size_t)(end - data) + 1);
		c->scanned = 0;
	}
}

/* ---- bytes ---- */

static int read_server(struct client *c)
{
	size_t most = c->bytes > 0 ? BYTES_AT_ONCE : READ_BYTES;
	char *room = buf_room(&c->rx, most);
	ssize_t n = read(c->link.in, room, most);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return gone_as(c, strerror(errno), false);
	if (n == 0)
		return gone_as(c, "it closed the connection", false);
	buf_wrote(&c->rx, (size_t)n);
	if (cut_lines(c) < 0)
		return -EPIPE;
	if (c->bytes == 0 && buf_len(&c->rx) > LINE_MAX_BYTES)
		return gone_as(c, "it sent a message too large to read", false);
	return 0;
}

int client_pump(struct client *c, int ms)
{
	struct pollfd p[3] = {
	    {.fd = c->link.in, .events = POLLIN},
	    {.fd = signals_fd(), .events = POLLIN},
	    {.fd = buf_len(&c->tx) > 0 ? c->link.out : -1, .events = POLLOUT}};
	ssize_t wrote;
	int n, rc = 0;

	if (c->gone)
		return -EPIPE;
	n = poll(p, 3, ms);
	if (n < 0)
		return errno == EINTR ? 0 : gone_as(c, strerror(errno), false);
	if (n == 0)
		return -ETIMEDOUT;
	if (p[2].revents != 0) {
		wrote = write(c->link.out, buf_data(&c->tx), buf_len(&c->tx));
		if (wrote >= 0)
			buf_drop(&c->tx, (size_t)wrote);
		else if (errno != EAGAIN && errno != EINTR)
			/* the server's last words may still be there to read */
			buf_drop(&c->tx, buf_len(&c->tx));
	}
	if (p[0].revents != 0)
		rc = read_server(c);
	if (rc == 0 && p[1].revents != 0)
		rc = -EINTR;
	return rc;
}

static bool take_early(struct client *c, int64_t id, struct rpc_msg *out)
{
	struct early *e;

	TAILQ_FOREACH(e, &c->early, link) {
		/*
		 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc): freed ones are
		 * off the list
		 */
		const char *its = e->msg.id; /* cppcheck-suppress uninitvar */

		if (strtoll(its, NULL, 10) != id)
			continue;
		TAILQ_REMOVE(&c->early, e, link);
		*out = e->msg;
		free(e);
		return true;
	}
	return false;
}

int client_wait_message(struct client *c, int64_t id, int ms,
			struct rpc_msg *out)
{
	int64_t end = clock_mono_ms() + ms;
	int rc = 0;

	while (!take_early(c, id, out)) {
		int64_t left = ms < 0 ? -1 : end - clock_mono_ms();

		if (rc < 0)
			return rc;
		rc = client_pump(c, ms >= 0 && left < 0 ? 0 : (int)left);
	}
	return 0;
}
