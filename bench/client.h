/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - an MCP client over stdio of a server that it starts. */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <stddef.h>
#include <sys/types.h>

struct client {
	pid_t pid;
	int in, out;
	char *buf;
	size_t len, cap, used;
};

void client_start(struct client *c, char *const argv[]);
void client_hello(struct client *c); /* initialize, and its answer */
void client_send(struct client *c, const char *line, size_t len);
char *client_line(struct client *c); /* the next, lent until the next call */
void client_stop(struct client *c);

#endif
