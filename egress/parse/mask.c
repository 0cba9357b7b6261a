/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.c - masks secrets in answers of hosts, for exchange.c. The length stays, so that
 * Content-Length stays true. Pure but for memory; a host that changes a secret in
 * another way can tell the run of the secret, as can a host that means to.
 */
#include "egress/parse/mask.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text/base64.h"

#define GROUP 3	      /* bytes of a group of base64 */
#define CASE_BIT 0x20 /* by which capitals and small letters differ */

static void add_needle(struct mask *m, const char *p, size_t n, bool any_case)
{
	m->all = xrealloc(m->all, (m->n + 1) * sizeof(*m->all));
	m->all[m->n++] = (struct needle){xstrndup(p, n), n, any_case};
	m->longest = n > m->longest ? n : m->longest;
}

/* The characters of base64 that depend on the secret alone, SKIP bytes behind a group. */
static void add_base64(struct mask *m, const char *secret, size_t n,
		       size_t skip)
{
	size_t all = skip + n, from = skip == 0 ? 0 : skip + 1;
	char *bytes = xcalloc(1, all + 1);
	char *text = xcalloc(1, BASE64_LEN(all) + 1);

	memcpy(bytes + skip, secret, n);
	base64_encode(text, bytes, all);
	add_needle(m, text + from, all / GROUP * 4 - from, false);
	for (size_t i = 0; i < BASE64_LEN(all); i++)
		text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
	if (strpbrk(text, "-_") != NULL)
		add_needle(m, text + from, all / GROUP * 4 - from, false);
	explicit_bzero(bytes, all);
	explicit_bzero(text, BASE64_LEN(all));
	free(bytes);
	free(text);
}

static void add_escaped(struct mask *m, const char *secret, size_t n)
{
	char *text = xcalloc(n, 3 + 1);
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		if (isalnum((unsigned char)secret[i]) ||
		    strchr("-._~", secret[i]) != NULL)
			text[len++] = secret[i];
		else
			len += (size_t)snprintf(text + len, 4, "%%%02X",
						(unsigned char)secret[i]);
	if (len != n)
		add_needle(m, text, len, true);
	explicit_bzero(text, len);
	free(text);
}

static void add_hex(struct mask *m, const char *secret, size_t n)
{
	char *text = xcalloc(n, 2 + 1);

	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)secret[i]);
	add_needle(m, text, 2 * n, true);
	explicit_bzero(text, 2 * n);
	free(text);
}

void mask_add(struct mask *m, const char *secret, size_t n)
{
	add_needle(m, secret, n, false);
	for (size_t skip = 0; skip < GROUP; skip++)
		add_base64(m, secret, n, skip);
	add_escaped(m, secret, n);
	add_hex(m, secret, n);
}

void mask_fini(struct mask *m)
{
	for (size_t i = 0; i < m->n; i++) {
		explicit_bzero(m->all[i].p, m->all[i].n);
		free(m->all[i].p);
	}
	free(m->all);
	*m = (struct mask){0};
}

static bool same(const struct needle *needle, const char *p, size_t n)
{
	return needle->any_case ? strncasecmp(needle->p, p, n) == 0
				: memcmp(needle->p, p, n) == 0;
}

/* Mask in N bytes at P all that is whole. */
void mask_whole(const struct mask *m, char *p, size_t n)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct needle *needle = &m->all[i];

		for (size_t at = 0; at + needle->n <= n; at++)
			if ((p[at] | CASE_BIT) == (needle->p[0] | CASE_BIT) &&
			    same(needle, p + at, needle->n))
				memset(p + at, '*', needle->n);
	}
}

/* How many bytes at the end of P may be the begin of a needle? */
static size_t open_end(const struct mask *m, const char *p, size_t n)
{
	size_t from = n >= m->longest ? n - m->longest + 1 : 0;

	for (; from < n; from++)
		for (size_t i = 0; i < m->n; i++)
			if (n - from < m->all[i].n &&
			    same(&m->all[i], p + from, n - from))
				return n - from;
	return 0;
}

size_t mask_stream(const struct mask *m, struct buf *held, const char *p,
		   size_t n, bool last)
{
	char *all;
	size_t len;

	buf_add(held, p, n);
	len = buf_len(held);
	if (len == 0)
		return 0;
	all = buf_room(held, 1) - len;
	mask_whole(m, all, len);
	return last ? len : len - open_end(m, all, len);
}
