/* SPDX-License-Identifier: Apache-2.0 */
#include "supervisor/stdio/stdio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/stdio/stream_conn.h"

struct stdio {
	struct stream_conn *conn;
	int in_flags, out_flags; /* as they were */
};

static void on_closed(void *arg, struct stream_conn *c)
{
	server_stop(arg, stream_conn_lost(c) ? EXIT_FAILURE : 0);
}

/* A terminal's description is shared with others: it stays as it is. */
static int make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (fstat(fd, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	return flags;
}

static void on_ready(struct server *srv)
{
	struct stdio *io = srv->transport;

	io->conn = stream_conn_new(srv, srv->local, STDIN_FILENO, STDOUT_FILENO,
				   on_closed, srv);
}

void stdio_open(struct server *srv)
{
	struct stdio *io = xcalloc(1, sizeof(*io));

	io->in_flags = make_nonblocking(STDIN_FILENO);
	io->out_flags = make_nonblocking(STDOUT_FILENO);
	srv->transport = io;
	srv->with_client = true;
	srv->on_ready = on_ready;
}

void stdio_close(struct server *srv)
{
	struct stdio *io = srv->transport;

	if (io == NULL)
		return;
	stream_conn_free(io->conn);
	fcntl(STDIN_FILENO, F_SETFL, io->in_flags);
	fcntl(STDOUT_FILENO, F_SETFL, io->out_flags);
	free(io);
	srv->transport = NULL;
}
