/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - writes reports for connections and for the loop of a child. The child
 * ends when the supervisor is gone, or takes no report for long.
 */
#include "egress/run/report.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Copy N bytes of FROM; a byte which no report may have becomes '?'. */
static void put(char *to, size_t size, const char *from, size_t n)
{
	for (size_t i = 0; from != NULL && i < n && i < size - 1; i++) {
		char c = from[i];

		to[i] = c > ' ' && c <= '~' && c != '"' && c != '\\' ? c : '?';
	}
}

#define PUT(to, from) put((to), sizeof(to), (from), (from) ? strlen(from) : 0)

void report_send(struct child *child, const struct report *r)
{
	struct egress_report packet = {.kind = r->kind,
				       .reason = r->reason,
				       .port = r->port,
				       .connection = r->connection,
				       .bytes_up = r->bytes_up,
				       .bytes_down = r->bytes_down};

	child->refused += r->kind == EGRESS_REFUSED;
	packet.connections = child->connections;
	packet.requests = child->requests;
	packet.refused = child->refused;
	PUT(packet.host, r->host);
	PUT(packet.method, r->method);
	put(packet.path, sizeof(packet.path), r->path, r->path_len);
	PUT(packet.secret, r->secret);
	PUT(packet.address, r->address);
	if (send(child->report, &packet, sizeof(packet), MSG_NOSIGNAL) !=
	    sizeof(packet))
		_exit(0);
}
