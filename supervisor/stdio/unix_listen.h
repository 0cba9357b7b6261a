/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_listen.h - the unix socket: the same messages as on stdin and stdout, a
 * session a connection; who asks is the peer's uid (SO_PEERCRED, unix(7)).
 */
#ifndef SUPERVISOR_STDIO_UNIX_LISTEN_H
#define SUPERVISOR_STDIO_UNIX_LISTEN_H

#include <stddef.h>

#include "supervisor/context.h"

struct unix_listener;

/*
 * Listen at PATH (copied), which is made 0660 for root and 0600 for others,
 * or on FD, when a service manager passed one (-1: none). A socket that
 * nobody serves any more is replaced. NULL with ERRMSG (SIZE bytes).
 */
struct unix_listener *unix_listen_open(struct context *ctx, const char *path,
				       int fd, char *errmsg, size_t size);
/*
 * Could the socket of C be listened at? No socket is made. 0, or the status of a start that
 * ends by it, with ERRMSG.
 */
int unix_listen_try(const struct config *c, char *errmsg, size_t size);
/* Does somebody listen there? */
bool unix_listen_is_served(const char *path);
void unix_listen_start(struct unix_listener *l); /* accept, from now on */
/* accept no more; those there stay */
void unix_listen_stop(struct unix_listener *l);
void unix_listen_close(struct unix_listener *l); /* all of it; NULL is fine */
/* Close the connections of users who are other requestors since a reload. */
void unix_listen_recheck(struct unix_listener *l); /* NULL is fine */
size_t unix_listen_connections(const struct unix_listener *l);

#endif
