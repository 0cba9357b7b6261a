/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.c - the single client on stdin and stdout. main.c opens it,
 * stream_conn.c carries the messages. The end of stdin ends the server after
 * the answers are written; a write error ends it as a failure.
 */
#include "supervisor/clients/stdio/stdio.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "supervisor/clients/stdio/stream_conn.h"

struct stdio {
	struct stream_conn *conn;
	/* flags of descriptors 0 and 1 before stdio_open() */
	int in_flags, out_flags;
};

static void on_closed(void *arg, struct stream_conn *c)
{
	struct context *ctx = arg;

	ctx->stop(ctx, stream_conn_lost(c) ? EXIT_FAILURE : 0);
}

/*
 * Set O_NONBLOCK on a pipe or socket. The file description of a terminal is
 * shared with other processes, so its flags stay. Returns the old flags.
 */
static int make_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (fstat(fd, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	return flags;
}

void stdio_ready(void *stdio)
{
	struct stdio *io = stdio;

	stream_conn_serve(io->conn);
}

struct stdio *stdio_open(struct context *ctx)
{
	struct stdio *io = xcalloc(1, sizeof(*io));

	io->in_flags = make_nonblocking(STDIN_FILENO);
	io->out_flags = make_nonblocking(STDOUT_FILENO);
	ctx->with_client = true;
	io->conn = stream_conn_new(ctx, ctx->local, STDIN_FILENO, STDOUT_FILENO,
				   on_closed, ctx);
	stream_conn_greet(io->conn);
	return io;
}

void stdio_close(struct stdio *io)
{
	if (io == NULL)
		return;
	stream_conn_free(io->conn);
	fcntl(STDIN_FILENO, F_SETFL, io->in_flags);
	fcntl(STDOUT_FILENO, F_SETFL, io->out_flags);
	free(io);
}
