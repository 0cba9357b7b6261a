/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unix_listen.h - the unix socket: the same messages as on stdin and stdout, a
 * session for each connection; the requestor is known by the peer's uid
 * (SO_PEERCRED, unix(7)).
 */
#ifndef SUPERVISOR_STDIO_UNIX_LISTEN_H
#define SUPERVISOR_STDIO_UNIX_LISTEN_H

#include <stddef.h>

#include "supervisor/context.h"

struct unix_listener;

/*
 * Listen at PATH (*copied*), which is made with mode 0660 for root and 0600 for
 * other users, or on FD, if a service manager passed a socket (else -1). A
 * socket without a server is replaced. Returns NULL with ERRMSG (SIZE bytes) on
 * failure.
 */
struct unix_listener *unix_listen_open(struct context *ctx, const char *path,
				       int fd, char *errmsg, size_t size);
/*
 * Check whether the socket of C could be made; none is made. Returns 0, or the
 * status with which a start would end, with ERRMSG.
 */
int unix_listen_try(const struct config *c, char *errmsg, size_t size);
/* Does a server listen at PATH? */
bool unix_listen_is_served(const char *path);
/* accepts connections from now on */
void unix_listen_start(struct unix_listener *l);
/* Accept no more; connections stay open. */
void unix_listen_stop(struct unix_listener *l);
void unix_listen_close(struct unix_listener *l); /* NULL is fine */
/*
 * Close the connections of users whose requestor a reload has changed. NULL is
 * fine.
 */
void unix_listen_recheck(struct unix_listener *l);
size_t unix_listen_connections(const struct unix_listener *l);

#endif
