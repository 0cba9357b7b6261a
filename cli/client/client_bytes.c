/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_bytes.c - a file's bytes between the lines of a connection, for
 * artifact_put.c and artifact_fetch.c. No other request runs meanwhile. After a
 * transfer that ends early the connection cannot be used any more.
 */
#include "cli/client/client_bytes.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/sys.h"
#include "cli/client/client_private.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "proto/json/json_pack.h"

#define BLOCK (256u << 10)
#define PUT "paddock/putArtifact"
#define READ "paddock/readArtifact"

/*
 * Call METHOD; takes PARAMS. 0, with the answer or the refusal in A; else the
 * exit status.
 */
static int call_bytes_method(struct client *c, const char *method,
			     struct json_object *params, struct tool_result *a)
{
	int64_t id, until_ms = clock_mono_ms() + CLIENT_PATIENCE_MS;
	struct rpc_msg m;
	int rc;

	do {
		id = client_request(c, method, json_object_get(params));
		if (strcmp(method, READ) == 0)
			c->bytes_id = id;
		rc = client_wait_message(c, id, CLIENT_FOREVER, &m);
		c->bytes_id = 0;
		if (rc == 0) {
			tool_result_read(a, &m);
			if (a->good && a->value == NULL)
				a->value = json_object_get(m.result);
			rpc_fini(&m);
			rc = client_ask_again(c, until_ms, a);
		}
	} while (rc > 0);
	json_object_put(params);
	return rc < 0 ? client_trouble() : 0;
}

/* ---- files to the server ---- */

/* Wait until the server can take bytes again, handling a message that came. */
static int wait_writable(struct client *c)
{
	struct pollfd p[3] = {{.fd = c->link.out, .events = POLLOUT},
			      {.fd = c->link.in, .events = POLLIN},
			      {.fd = signals_fd(), .events = POLLIN}};

	if (poll(p, 3, -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[2].revents != 0)
		return -EINTR;
	/* the server may refuse the rest of the file early */
	return p[1].revents != 0 ? client_pump(c, 0) : 0;
}

static ssize_t copy_range(int out, int fd, off_t at, size_t n)
{
	static char block[1 << 16];
	ssize_t got =
	    pread(fd, block, n < sizeof(block) ? n : sizeof(block), at);

	return got > 0 ? write(out, block, (size_t)got) : got;
}

/* Send SIZE bytes of FD. 0, or -errno; -EIO: FD has fewer bytes now. */
static int send_file(struct client *c, int fd, int64_t size)
{
	int64_t at = 0;
	int rc = 0;

	while (rc == 0 && at < size && c->told == NULL) {
		size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
		off_t from = (off_t)at;
		ssize_t got = sendfile(c->link.out, fd, &from, n);

		if (got < 0 && errno == EINVAL)
			got = copy_range(c->link.out, fd, (off_t)at, n);
		if (got > 0)
			at += got;
		else if (got < 0 && errno == EAGAIN)
			rc = wait_writable(c);
		else if (got == 0 || errno != EINTR)
			rc = got == 0 ? -EIO : -errno;
	}
	return rc;
}

/*
 * Wait for the server's notification about the uploaded file; A is the artifact
 * or the refusal. 0 or -errno.
 */
static int wait_told(struct client *c, struct tool_result *a)
{
	int rc = 0;

	while (rc == 0 && c->told == NULL)
		rc = client_pump(c, CLIENT_FOREVER);
	if (c->told == NULL)
		return rc;
	a->good = json_member(c->told, "artifact") != NULL;
	a->value = a->good ? json_object_get(json_member(c->told, "artifact"))
			   : json_object_get(c->told);
	json_object_put(c->told);
	c->told = NULL;
	return 0;
}

int client_put_bytes(struct client *c, int fd, int64_t size, const char *name,
		     const char *mime, struct tool_result *a)
{
	int rc = call_bytes_method(
	    c, PUT, json_pack("name?s mimeType?s bytes:i", name, mime, size),
	    a);

	if (rc != 0 || !a->good)
		return rc;
	tool_result_fini(a);
	*a = (struct tool_result){0};
	sys_roomy(c->link.out);
	rc = send_file(c, fd, size);
	if (rc == -EIO)
		return message_fail(CLI_TROUBLE,
				    "%s was cut short while it was sent", name);
	if (rc == 0 || rc == -EPIPE || rc == -ECONNRESET)
		rc = wait_told(c, a);
	return rc < 0 ? client_trouble() : 0;
}

/* ---- files from the server ---- */

int client_get_bytes(struct client *c, const char *id, int64_t at,
		     client_bytes_sink sink, void *arg, struct tool_result *a)
{
	int rc = call_bytes_method(
	    c, READ, json_pack("artifactId:s offset?i", id, at), a);

	/* an older server, or a transport without raw bytes */
	if (rc == 0 && !a->good &&
	    (json_member_is(a->value, "errorCode", "JSON-RPC -32601") ||
	     json_member_is(a->value, "errorCode", "JSON-RPC -32602")))
		return -ENOTSUP;
	while (rc == 0 && (c->bytes > 0)) {
		size_t n = buf_len(&c->rx);

		if ((int64_t)n > c->bytes)
			n = (size_t)c->bytes;
		if (n > 0) {
			rc = sink(arg, buf_data(&c->rx), n);
			buf_drop(&c->rx, n);
			c->bytes -= (int64_t)n;
		} else if (client_pump(c, CLIENT_FOREVER) < 0) {
			rc = client_trouble();
		}
	}
	if (rc != 0)
		c->bytes = 0;
	return rc;
}
