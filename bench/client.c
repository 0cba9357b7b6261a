/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/measure.h"

void client_start(struct client *c, char *const argv[])
{
	int to[2], from[2];

	*c = (struct client){.cap = 1 << 20};
	c->buf = xcalloc(1, c->cap);
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		die("pipe");
	c->pid = fork();
	if (c->pid < 0)
		die("fork");
	if (c->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execv(argv[0], argv);
		die(argv[0]);
	}
	close(to[0]);
	close(from[1]);
	c->in = to[1];
	c->out = from[0];
}

void client_send(struct client *c, const char *line, size_t len)
{
	while (len > 0) {
		ssize_t n = write(c->in, line, len);

		if (n < 0)
			die("write");
		line += n;
		len -= (size_t)n;
	}
}

char *client_line(struct client *c)
{
	char *end;

	memmove(c->buf, c->buf + c->used, c->len - c->used);
	c->len -= c->used;
	while ((end = memchr(c->buf, '\n', c->len)) == NULL) {
		ssize_t n = read(c->out, c->buf + c->len, c->cap - c->len);

		if (n <= 0)
			die("the server ended");
		c->len += (size_t)n;
	}
	*end = '\0';
	c->used = (size_t)(end - c->buf) + 1;
	if (c->used == c->len)
		c->used = c->len = 0;
	return c->buf;
}

void client_stop(struct client *c)
{
	close(c->in);
	close(c->out);
	waitpid(c->pid, NULL, 0);
	free(c->buf);
}

static const char hello[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
    "\"name\":\"bench\",\"version\":\"1\"}}}\n";

void client_hello(struct client *c)
{
	client_send(c, hello, sizeof(hello) - 1);
	client_line(c);
}
