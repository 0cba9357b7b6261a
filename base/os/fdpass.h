/* SPDX-License-Identifier: Apache-2.0 */
/* fdpass.h - a packet over a local socket, with a descriptor. */
#ifndef BASE_OS_FDPASS_H
#define BASE_OS_FDPASS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Send LEN bytes of DATA, and FD (lent; -1: none), with FLAGS of sendmsg(2)
 * beside MSG_NOSIGNAL. 0 or -errno.
 */
int fdpass_send(int sock, const void *data, size_t len, int fd, int flags);

/* As fdpass_send(), with both of FDS, or with none: both are -1. */
int fdpass_send_two(int sock, const void *data, size_t len, const int fds[2],
		    int flags);

/*
 * Wait for a packet of SIZE bytes at most; return its length, 0 at the end, or
 * -errno. *FD is the descriptor of the packet, owned by the caller and closed
 * on exec, or -1. *WHOLE (NULL is fine): no part of the packet was cut off.
 */
ssize_t fdpass_recv(int sock, void *data, size_t size, int *fd, bool *whole);

/* Is FD a unix socket that keeps records apart, such as our parent gives? */
bool fdpass_is_control(int fd);

#endif
