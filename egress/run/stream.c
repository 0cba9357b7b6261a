/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - reads and writes sockets and TLS for connections of a child. OpenSSL works
 * on the socket itself, and has no renegotiation: reading waits for bytes, writing
 * for room. An error ends the stream; the connection decides on the rest.
 */
#include "egress/run/stream.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

void stream_open(struct stream *s, struct event_base *base, int fd,
		 event_callback_fn call, void *arg)
{
	*s = (struct stream){.fd = fd};
	s->readable = event_new(base, fd, EV_READ | EV_PERSIST, call, arg);
	s->writable = event_new(base, fd, EV_WRITE | EV_PERSIST, call, arg);
	assert(s->readable != NULL && s->writable != NULL);
}

void stream_close(struct stream *s)
{
	if (s->fd < 0)
		return;
	event_free(s->readable);
	event_free(s->writable);
	SSL_free(s->ssl);
	close(s->fd);
	*s = (struct stream){.fd = -1};
}

void stream_secure(struct stream *s, SSL *ssl)
{
	s->ssl = ssl;
	SSL_set_fd(ssl, s->fd);
}

/* Turn the result of a call of OpenSSL into -EAGAIN or another -errno. */
static int tls_error(struct stream *s, int rc)
{
	int error = SSL_get_error(s->ssl, rc);
	int saved = errno;

	ERR_clear_error();
	s->waits_to_write = error == SSL_ERROR_WANT_WRITE;
	switch (error) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return -EAGAIN;
	case SSL_ERROR_SYSCALL:
		return saved != 0 ? -saved : -ECONNRESET;
	default:
		return -EPROTO;
	}
}

int stream_shake(struct stream *s)
{
	int rc;

	ERR_clear_error();
	errno = 0;
	rc = SSL_do_handshake(s->ssl);
	if (rc == 1)
		return 0;
	rc = tls_error(s, rc);
	return rc == -EAGAIN ? rc : -EPROTO;
}

ssize_t stream_read(struct stream *s, void *to, size_t size)
{
	ssize_t n;

	if (s->ssl == NULL) {
		n = read(s->fd, to, size);
		s->ended = s->ended || n == 0;
		return n < 0 ? -errno : n;
	}
	ERR_clear_error();
	errno = 0;
	n = SSL_read(s->ssl, to, size > INT_MAX ? INT_MAX : (int)size);
	if (n > 0)
		return n;
	if (SSL_get_error(s->ssl, (int)n) == SSL_ERROR_ZERO_RETURN) {
		s->ended = true;
		return 0;
	}
	return tls_error(s, (int)n);
}

ssize_t stream_write(struct stream *s, const void *from, size_t n)
{
	ssize_t done;

	if (s->ssl == NULL) {
		done = send(s->fd, from, n, MSG_NOSIGNAL);
		return done < 0 ? -errno : done;
	}
	ERR_clear_error();
	errno = 0;
	done = SSL_write(s->ssl, from, n > INT_MAX ? INT_MAX : (int)n);
	return done > 0 ? done : tls_error(s, (int)done);
}

bool stream_has_pending(const struct stream *s)
{
	return s->ssl != NULL && SSL_has_pending(s->ssl) != 0;
}

void stream_end(struct stream *s)
{
	if (s->shut || s->fd < 0)
		return;
	s->shut = true;
	if (s->ssl != NULL && SSL_is_init_finished(s->ssl))
		(void)SSL_shutdown(s->ssl);
	ERR_clear_error();
	(void)shutdown(s->fd, SHUT_WR);
}

/* Add or remove an event where a change is needed. */
static void watch(struct event *event, short kind, bool on)
{
	bool is = event_pending(event, kind, NULL) != 0;

	if (on && !is)
		event_add(event, NULL);
	else if (!on && is)
		event_del(event);
}

void stream_watch(struct stream *s, bool read, bool write)
{
	if (s->fd < 0)
		return;
	watch(s->readable, EV_READ, read);
	watch(s->writable, EV_WRITE, write);
}
