/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - one end of a connection, a socket or TLS over a socket, in the loop of a
 * child. Nothing blocks: -EAGAIN says that the loop will call.
 */
#ifndef EGRESS_RUN_STREAM_H
#define EGRESS_RUN_STREAM_H

#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stream {
	int fd;	  /* -1: closed */
	SSL *ssl; /* NULL: plain */
	struct event *readable, *writable;
	bool ended;	     /* the other side sends no more */
	bool shut;	     /* stream_end() was called */
	bool waits_to_write; /* of a TLS handshake under way */
};

/* Takes FD, non-blocking. CALL gets ARG whenever a watched event comes. */
void stream_open(struct stream *s, struct event_base *base, int fd,
		 event_callback_fn call, void *arg);
void stream_close(struct stream *s); /* a closed one is fine */
static inline bool stream_is_open(const struct stream *s)
{
	return s->fd >= 0;
}

/* Speak TLS from now on; takes SSL, which has a role and its settings. */
void stream_secure(struct stream *s, SSL *ssl);
/* Go on with the handshake. 0, -EAGAIN or -EPROTO. */
int stream_shake(struct stream *s);

/* Read at most SIZE bytes: the number, 0 at the end, -EAGAIN, or another -errno. */
ssize_t stream_read(struct stream *s, void *to, size_t size);
ssize_t stream_write(struct stream *s, const void *from, size_t n);
/* Are bytes there that no event will tell of? */
bool stream_has_pending(const struct stream *s);
void stream_end(struct stream *s); /* send no more */

/* From now on call when readable, or writable. */
void stream_watch(struct stream *s, bool read, bool write);

#endif
