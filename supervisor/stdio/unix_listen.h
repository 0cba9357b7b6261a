/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_listen.h - the unix socket: the same messages as on stdin and stdout, a
 * session a connection; who asks is the peer's uid (SO_PEERCRED, unix(7)).
 */
#ifndef SUPERVISOR_STDIO_UNIX_LISTEN_H
#define SUPERVISOR_STDIO_UNIX_LISTEN_H

#include "supervisor/server.h"

struct listener;

/*
 * Listen at PATH (copied), which is made 0660 for root and 0600 for others,
 * or on FD, when a service manager passed one (-1: none). A socket that
 * nobody serves any more is replaced. NULL with WHY (SIZE bytes).
 */
struct listener *listen_open(struct server *srv, const char *path, int fd,
			     char *why, size_t size);
/*
 * Could the socket of C be listened at? No socket is made. 0, or the status of a start that
 * ends by it, with WHY.
 */
int listen_try(const struct config *c, char *why, size_t size);
/* Does somebody listen there? */
bool listen_is_served(const char *path);
void listen_start(struct listener *l); /* accept, from now on */
void listen_stop(struct listener *l);  /* accept no more; those there stay */
void listen_close(struct listener *l); /* all of it; NULL is fine */
/* Close the connections of users who are other requestors since a reload. */
void listen_look(struct listener *l); /* NULL is fine */
size_t listen_connections(const struct listener *l);

#endif
