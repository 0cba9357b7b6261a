/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.c - parses the hello of a TLS client (RFC 8446, section 4.1.2, and RFC 6066) for
 * conn.c, before a byte goes to the host. Records are put together; whatever two
 * readers could read in two ways (two names, bytes left over) is foreign.
 */
#include "egress/parse/hello.h"

#include <ctype.h>
#include <string.h>

enum { HANDSHAKE = 22, CLIENT_HELLO = 1, RECORD_HEAD = 5, MESSAGE_HEAD = 4 };
enum { EXT_SERVER_NAME = 0, EXT_ECH = 0xfe0d, EXT_OLD_ESNI = 0xffce };

struct bytes {
	const uint8_t *p;
	size_t n;
	bool bad; /* fewer bytes than asked for */
};

static unsigned take_number(struct bytes *b, size_t size)
{
	unsigned v = 0;

	if (b->n < size) {
		b->bad = true;
		b->n = 0;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		v = v << 8 | b->p[i];
	b->p += size;
	b->n -= size;
	return v;
}

/* Take a vector whose length is a number of SIZE bytes. */
static struct bytes take_vector(struct bytes *b, size_t size)
{
	size_t n = take_number(b, size);
	struct bytes v = {.p = b->p, .n = n};

	if (b->bad || b->n < n) {
		b->bad = true;
		return (struct bytes){.bad = true};
	}
	b->p += n;
	b->n -= n;
	return v;
}

/* A single name, of the type host_name. */
static bool take_name(struct hello *h, struct bytes ext)
{
	struct bytes list = take_vector(&ext, 2), name;
	unsigned type = take_number(&list, 1);

	name = take_vector(&list, 2);
	if (ext.bad || list.bad || ext.n > 0 || list.n > 0 || type != 0 ||
	    name.n == 0 || name.n >= sizeof(h->name) || h->name[0] != '\0' ||
	    memchr(name.p, '\0', name.n) != NULL)
		return false;
	for (size_t i = 0; i < name.n; i++)
		h->name[i] = (char)tolower(name.p[i]);
	h->name[name.n] = '\0';
	return true;
}

static bool take_extensions(struct hello *h, struct bytes all)
{
	while (all.n > 0 && !all.bad) {
		unsigned type = take_number(&all, 2);
		struct bytes ext = take_vector(&all, 2);

		if (type == EXT_ECH || type == EXT_OLD_ESNI)
			h->encrypted = true;
		if (!all.bad && type == EXT_SERVER_NAME && !take_name(h, ext))
			return false;
	}
	return !all.bad;
}

static bool take_hello(struct hello *h, struct bytes b)
{
	struct bytes extensions = {0};

	if (take_number(&b, 2) >> 8 != 3 || b.n < 32)
		return false;
	b.p += 32;
	b.n -= 32;
	(void)take_vector(&b, 1); /* session */
	(void)take_vector(&b, 2); /* ciphers */
	(void)take_vector(&b, 1); /* compressions */
	if (b.n > 0 && !b.bad)
		extensions = take_vector(&b, 2);
	return !b.bad && b.n == 0 && take_extensions(h, extensions);
}

enum hello_state hello_parse(struct hello *h, const uint8_t *p, size_t n)
{
	uint8_t message[HELLO_MAX];
	size_t have = 0, need = MESSAGE_HEAD;

	*h = (struct hello){0};
	for (size_t at = 0; have < need;) {
		size_t len, part = n - at;

		if ((part > 0 && p[at] != HANDSHAKE) ||
		    (part > 1 && p[at + 1] != 3))
			return HELLO_FOREIGN;
		if (part < RECORD_HEAD)
			return at + RECORD_HEAD > HELLO_MAX ? HELLO_FOREIGN
							    : HELLO_PART;
		len = (size_t)p[at + 3] << 8 | p[at + 4];
		if (len == 0 || at + RECORD_HEAD + len > HELLO_MAX)
			return HELLO_FOREIGN;
		part = part - RECORD_HEAD < len ? part - RECORD_HEAD : len;
		memcpy(message + have, p + at + RECORD_HEAD, part);
		have += part;
		at += RECORD_HEAD + part;
		if (have > 0 && message[0] != CLIENT_HELLO)
			return HELLO_FOREIGN;
		if (have >= MESSAGE_HEAD)
			need = MESSAGE_HEAD + ((size_t)message[1] << 16 |
					       (size_t)message[2] << 8 |
					       message[3]);
		if (need > HELLO_MAX)
			return HELLO_FOREIGN;
		if (have < need && part < len)
			return HELLO_PART;
	}
	return take_hello(h, (struct bytes){.p = message + MESSAGE_HEAD,
					    .n = need - MESSAGE_HEAD})
		   ? HELLO_WHOLE
		   : HELLO_FOREIGN;
}
