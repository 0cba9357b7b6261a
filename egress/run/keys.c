/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - puts the secrets of a run into requests, for request.c. The run's own field
 * of the same name is left out. Only requests over verified TLS come here; a secret
 * without a value goes nowhere.
 */
#include "egress/run/keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/text/base64.h"

#define BASIC "Basic "

/* ---- values ---- */

/* Mask all forms of all values from now on. */
static void set_mask(struct keys *k)
{
	mask_fini(&k->mask);
	for (size_t i = 0; i < k->n; i++)
		if (k->all[i].len > 0)
			mask_add(&k->mask, k->all[i].value, k->all[i].len);
}

int keys_take(struct keys *k, int sock)
{
	char packet[sizeof(struct key_head) + EGRESS_SECRET_BYTES];
	ssize_t n = recv(sock, packet, sizeof(packet), 0);
	struct key_head head;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n < (ssize_t)sizeof(head))
		return -EPIPE;
	memcpy(&head, packet, sizeof(head));
	if (head.number < k->order->n_secrets) {
		n -= (ssize_t)sizeof(head);
		free(k->all[head.number].value);
		k->all[head.number].value =
		    xstrndup(packet + sizeof(head), (size_t)n);
		k->all[head.number].len = (size_t)n;
		k->n = k->order->n_secrets;
		set_mask(k);
	}
	explicit_bzero(packet, sizeof(packet));
	return 0;
}

/* ---- the secret of a request ---- */

static bool is_host_of(const struct secret *s, const struct place *at)
{
	for (size_t i = 0; i < s->n_hosts; i++)
		if (host_pattern_matches(&s->hosts[i], at->host, at->port))
			return true;
	return false;
}

bool keys_have(const struct keys *k, const struct place *at)
{
	for (size_t i = 0; i < k->order->n_secrets; i++)
		if (is_host_of(k->order->secrets[i], at))
			return true;
	return false;
}

int keys_find(const struct keys *k, const struct place *at, const char *method,
	      const char *path, size_t n)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct secret *s = k->order->secrets[i];

		if (k->all[i].len > 0 && is_host_of(s, at) &&
		    rules_allow(&s->rules, method, path, n))
			return (int)i;
	}
	return -1;
}

/* ---- fields ---- */

bool keys_drop(const struct keys *k, int number, const struct field *f)
{
	const struct secret *s = k->order->secrets[number];

	switch (s->place) {
	case SECRET_HEADER:
		return span_is(f->name, s->where);
	case SECRET_BASIC:
		return span_is(f->name, "Authorization");
	case SECRET_QUERY:
		break;
	}
	return false;
}

static void put_base64(struct buf *to, const char *p, size_t n)
{
	base64_encode(buf_room(to, BASE64_LEN(n)), p, n);
	buf_wrote(to, BASE64_LEN(n));
}

void keys_field(const struct keys *k, int number, struct buf *to)
{
	const struct secret *s = k->order->secrets[number];
	struct buf pair = {0};

	if (s->place == SECRET_HEADER) {
		buf_printf(to, "%s: %s", s->where, s->before);
		buf_add(to, k->all[number].value, k->all[number].len);
		buf_printf(to, "%s\r\n", s->after);
	} else if (s->place == SECRET_BASIC) {
		buf_printf(&pair, "%s:", s->where);
		buf_add(&pair, k->all[number].value, k->all[number].len);
		buf_add_str(to, "Authorization: " BASIC);
		put_base64(to, buf_data(&pair), buf_len(&pair));
		buf_add_str(to, "\r\n");
		explicit_bzero(pair.data, pair.cap);
		buf_fini(&pair);
	}
}

/* Write N bytes at P with the secret for each placeholder; false: there is none. */
static bool replace(const struct keys *k, int number, const char *p, size_t n,
		    struct buf *to)
{
	const char *hole = k->order->secrets[number]->placeholder, *at;
	size_t len = hole == NULL ? 0 : strlen(hole);
	bool found = false;

	while (len > 0 && (at = memmem(p, n, hole, len)) != NULL) {
		buf_add(to, p, (size_t)(at - p));
		buf_add(to, k->all[number].value, k->all[number].len);
		n -= (size_t)(at - p) + len;
		p = at + len;
		found = true;
	}
	if (found)
		buf_add(to, p, n);
	return found;
}

/* Replace within base64, as of a user and a password. */
static bool replace_basic(const struct keys *k, int number, struct span value,
			  struct buf *to)
{
	size_t skip = strlen(BASIC), len = 0;
	struct buf pair = {0};
	char *text;
	bool found;

	if (value.n <= skip || strncasecmp(value.p, BASIC, skip) != 0)
		return false;
	text = xcalloc(1, value.n);
	found =
	    base64_decode(text, &len, value.p + skip, value.n - skip) == 0 &&
	    replace(k, number, text, len, &pair);
	if (found) {
		buf_add_str(to, BASIC);
		put_base64(to, buf_data(&pair), buf_len(&pair));
		explicit_bzero(pair.data, pair.cap);
	}
	buf_fini(&pair);
	free(text);
	return found;
}

bool keys_replace(const struct keys *k, int number, const struct field *f,
		  struct buf *to)
{
	return replace(k, number, f->value.p, f->value.n, to) ||
	       replace_basic(k, number, f->value, to);
}

/* ---- the query ---- */

static void put_escaped(struct buf *to, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isalnum((unsigned char)p[i]) ||
		    strchr("-._~", p[i]) != NULL)
			buf_add(to, p + i, 1);
		else
			buf_printf(to, "%%%02X", (unsigned char)p[i]);
}

/* Is the part of a query at P, N bytes, the value of KEY? */
static bool is_key(const char *p, size_t n, const char *key)
{
	size_t len = strlen(key);

	return n >= len && memcmp(p, key, len) == 0 &&
	       (n == len || p[len] == '=');
}

void keys_path(const struct keys *k, int number, struct span path,
	       struct buf *to)
{
	const struct secret *s = k->order->secrets[number];
	const char *end = path.p + path.n;
	const char *query = path.n == 0 ? NULL : memchr(path.p, '?', path.n);
	char before = '?';

	if (s->place != SECRET_QUERY) {
		buf_add(to, path.p, path.n);
		return;
	}
	buf_add(to, path.p, query == NULL ? path.n : (size_t)(query - path.p));
	while (query != NULL && query < end) {
		const char *part = query + 1;
		const char *next = memchr(part, '&', (size_t)(end - part));
		size_t n = (size_t)((next == NULL ? end : next) - part);

		if (!is_key(part, n, s->where)) {
			buf_add(to, &before, 1);
			buf_add(to, part, n);
			before = '&';
		}
		query = next;
	}
	buf_add(to, &before, 1);
	buf_add_str(to, s->where);
	buf_add_str(to, "=");
	put_escaped(to, k->all[number].value, k->all[number].len);
}
