/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_list.c - lists of hosts in the configuration and for paddock-browser:
 * addresses, networks and names. Addresses are kept in IPv6's form, IPv4 as
 * ::ffff:0:0/96. A word of no known form fails the whole list: a rule that is
 * not understood must not count as a rule that does not match.
 */
#include "base/text/host_list.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define V4_BITS 96 /* bits of an IPv4 address's prefix in IPv6's form */

struct host {
	char name[HOST_LIST_WORD_MAX]; /* the name; "": a network */
	uint8_t net[16];
	unsigned bits;
};

struct host_list {
	size_t n;
	struct host all[];
};

static void from_v4(uint8_t net[16], const void *in)
{
	memset(net, 0, 10);
	net[10] = net[11] = 0xff;
	memcpy(net + 12, in, 4);
}

/* Read a number of digits alone, 0 to MOST. */
static bool read_bits(const char *s, unsigned most, unsigned *bits)
{
	size_t n = strlen(s);

	if (n == 0 || n > 3 || strspn(s, "0123456789") != n)
		return false;
	*bits = (unsigned)strtoul(s, NULL, 10);
	return *bits <= most;
}

/* Read an address or network; TEXT is cut at its slash. */
static bool read_network(struct host *h, char *text)
{
	char *slash = strchr(text, '/');
	uint8_t in[16];
	bool v4;

	if (slash != NULL)
		*slash++ = '\0';
	v4 = inet_pton(AF_INET, text, in) == 1;
	if (!v4 && inet_pton(AF_INET6, text, in) != 1)
		return false;
	if (v4)
		from_v4(h->net, in);
	else
		memcpy(h->net, in, sizeof(h->net));
	h->bits = v4 ? 32 : 128;
	if (slash != NULL && !read_bits(slash, h->bits, &h->bits))
		return false;
	h->bits += v4 ? V4_BITS : 0;
	return true;
}

/* Read a name. A last label of digits is refused: an address in a rare form. */
static bool read_name(struct host *h, const char *text)
{
	const char *last = strrchr(text, '.');
	size_t n = strlen(text);

	last = last == NULL ? text : last + 1;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) &&
		    strchr("-_.", text[i]) == NULL &&
		    (unsigned char)text[i] < 0x80)
			return false;
	if (n == 0 || text[0] == '.' || strstr(text, "..") != NULL ||
	    *last == '\0' || isdigit((unsigned char)*last))
		return false;
	memcpy(h->name, text, n + 1);
	return true;
}

static bool read_word(struct host *h, const char *word, size_t n)
{
	char text[HOST_LIST_WORD_MAX], copy[HOST_LIST_WORD_MAX];

	*h = (struct host){.bits = 0};
	if (n == 0 || n >= sizeof(text))
		return false;
	memcpy(text, word, n);
	text[n] = '\0';
	memcpy(copy, text, n + 1);
	return read_network(h, copy) || read_name(h, text);
}

bool host_list_word_ok(const char *word, size_t n)
{
	struct host h;

	return read_word(&h, word, n);
}

struct host_list *host_list_new(const char *list)
{
	struct host_list *h =
	    xcalloc(1, sizeof(*h) + HOST_LIST_MAX * sizeof(h->all[0]));
	const char *s = list + strspn(list, HOST_LIST_SEPARATORS);

	while (*s != '\0') {
		size_t n = strcspn(s, HOST_LIST_SEPARATORS);

		if (h->n == HOST_LIST_MAX ||
		    !read_word(&h->all[h->n++], s, n)) {
			free(h);
			return NULL;
		}
		s += n;
		s += strspn(s, HOST_LIST_SEPARATORS);
	}
	return h;
}

void host_list_free(struct host_list *h)
{
	free(h);
}

bool host_list_is_or_below(const char *host, size_t h, const char *name)
{
	size_t n = strlen(name);

	return n > 0 && h >= n && strncasecmp(host + h - n, name, n) == 0 &&
	       (h == n || host[h - n - 1] == '.');
}

bool host_list_have_name(const struct host_list *h, const char *name)
{
	size_t n = strlen(name);

	n -= n > 0 && name[n - 1] == '.';
	for (size_t i = 0; h != NULL && i < h->n; i++)
		if (host_list_is_or_below(name, n, h->all[i].name))
			return true;
	return false;
}

bool host_list_within(const uint8_t *a, const uint8_t *net, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	return memcmp(a, net, bytes) == 0 &&
	       (rest == 0 || (a[bytes] ^ net[bytes]) >> (8 - rest) == 0);
}

bool host_list_have_address(const struct host_list *h,
			    const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	uint8_t a[16];

	if (address->sa_family == AF_INET)
		from_v4(a, &in->sin_addr);
	else if (address->sa_family == AF_INET6)
		memcpy(a, &in6->sin6_addr, sizeof(a));
	else
		return false;
	for (size_t i = 0; h != NULL && i < h->n; i++)
		if (h->all[i].name[0] == '\0' &&
		    host_list_within(a, h->all[i].net, h->all[i].bits))
			return true;
	return false;
}
