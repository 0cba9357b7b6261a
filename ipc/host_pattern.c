/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_pattern.c - parses and compares patterns of hosts. The supervisor checks
 * an operator's grants, paddock-browser the hosts that pages reach. Only the
 * parser fails, by -EINVAL; a pattern that is not understood matches nothing.
 */
#include "ipc/host_pattern.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

#include "base/text/host_list.h"

#define LABEL_MAX 63

/* Read 1 to MAX in decimal, exactly N bytes; 0: another text. */
static unsigned parse_octet(const char *p, size_t n, unsigned max)
{
	unsigned v = 0;

	if (n == 0 || n > 5 || *p == '0')
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)p[i]))
			return 0;
		v = v * 10 + (unsigned)(p[i] - '0');
	}
	return v <= max ? v : 0;
}

bool host_is_numeric(const char *host)
{
	const char *last = strrchr(host, '.');

	last = last == NULL ? host : last + 1;
	if (strncasecmp(last, "0x", 2) == 0)
		return strspn(last + 2, "0123456789abcdefABCDEF") ==
		       strlen(last + 2);
	return *last != '\0' && strspn(last, "0123456789") == strlen(last);
}

static bool is_host_name(const char *s)
{
	size_t label = 0;

	for (; *s != '\0'; s++) {
		if (*s == '.' && label == 0)
			return false;
		label = *s == '.' ? 0 : label + 1;
		if (label > LABEL_MAX || (*s != '.' && *s != '-' && *s != '_' &&
					  !isdigit((unsigned char)*s) &&
					  !islower((unsigned char)*s)))
			return false;
	}
	return label > 0;
}

static int take_name(struct host_pattern *p, const char *s, size_t n)
{
	p->kind = HOST_NAME;
	if (n > 2 && memcmp(s, "*.", 2) == 0) {
		p->kind = HOST_BELOW;
		s += 2;
		n -= 2;
	}
	if (n >= sizeof(p->name))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		p->name[i] = (char)tolower((unsigned char)s[i]);
	p->name[n] = '\0';
	return strlen(p->name) == n && is_host_name(p->name) &&
		       !host_is_numeric(p->name)
		   ? 0
		   : -EINVAL;
}

/* Read ADDRESS[/BITS] of FAMILY; another text: -EINVAL. */
static int take_net(struct host_pattern *p, sa_family_t family, const char *s,
		    size_t n, const char *bits, size_t bits_n)
{
	unsigned all = family == AF_INET ? 32 : 128;
	char text[INET6_ADDRSTRLEN];

	if (n >= sizeof(text))
		return -EINVAL;
	memcpy(text, s, n);
	text[n] = '\0';
	if (strlen(text) != n || inet_pton(family, text, p->net) != 1)
		return -EINVAL;
	p->kind = HOST_NET;
	p->family = family;
	p->bits = bits == NULL ? all : parse_octet(bits, bits_n, all);
	/* a set bit beyond the network's is likely a mistake */
	for (unsigned i = p->bits; i < all; i++)
		if ((p->net[i / 8] & (0x80u >> (i % 8))) != 0)
			return -EINVAL;
	return p->bits > 0 ? 0 : -EINVAL;
}

/* Cut ":PORT" off the end of the text at FROM. */
static int take_port(struct host_pattern *p, const char *from, const char **end)
{
	const char *colon = memchr(from, ':', (size_t)(*end - from));

	if (colon == NULL)
		return 0;
	p->port = parse_octet(colon + 1, (size_t)(*end - colon - 1), 65535);
	*end = colon;
	return p->port > 0 ? 0 : -EINVAL;
}

/* Parse "[ADDRESS]" and the text behind. */
static int parse_bracketed(struct host_pattern *p, const char *text,
			   const char *end)
{
	const char *close = memchr(text, ']', (size_t)(end - text));
	const char *rest = close == NULL ? end : close + 1;
	size_t n;

	if (close == NULL || take_port(p, rest, &end) < 0 ||
	    (rest < end && *rest != '/'))
		return -EINVAL;
	n = (size_t)(close - text - 1);
	return rest == end ? take_net(p, AF_INET6, text + 1, n, NULL, 0)
			   : take_net(p, AF_INET6, text + 1, n, rest + 1,
				      (size_t)(end - rest - 1));
}

int host_pattern_parse(struct host_pattern *p, const char *text, size_t len)
{
	const char *end = text + len, *slash;

	*p = (struct host_pattern){0};
	if (len == 0 || len > HOST_PATTERN_TEXT)
		return -EINVAL;
	if (*text == '[')
		return parse_bracketed(p, text, end);
	if (take_port(p, text, &end) < 0)
		return -EINVAL;
	slash = memchr(text, '/', (size_t)(end - text));
	if (slash != NULL)
		return take_net(p, AF_INET, text, (size_t)(slash - text),
				slash + 1, (size_t)(end - slash - 1));
	if (end == text + 1 && *text == '*') {
		p->kind = HOST_ANY;
		return 0;
	}
	if (take_net(p, AF_INET, text, (size_t)(end - text), NULL, 0) == 0)
		return 0;
	return take_name(p, text, (size_t)(end - text));
}

/* ---- matching ---- */

bool host_is_address(const char *host, struct sockaddr_storage *address)
{
	struct sockaddr_in *in = (void *)address;
	struct sockaddr_in6 *in6 = (void *)address;

	memset(address, 0, sizeof(*address));
	if (strchr(host, ':') != NULL) {
		address->ss_family = AF_INET6;
		return inet_pton(AF_INET6, host, &in6->sin6_addr) == 1;
	}
	address->ss_family = AF_INET;
	return host_is_numeric(host) && inet_aton(host, &in->sin_addr) != 0;
}

bool host_pattern_has(const struct host_pattern *p,
		      const struct sockaddr *address, unsigned port)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	const uint8_t *a = address->sa_family == AF_INET
			       ? (const uint8_t *)&in->sin_addr
			       : in6->sin6_addr.s6_addr;

	return p->kind == HOST_NET && p->family == address->sa_family &&
	       (p->port == 0 || p->port == port) &&
	       host_list_within(a, p->net, p->bits);
}

static bool is_below(const char *host, const char *name)
{
	size_t h = strlen(host), n = strlen(name);

	return h > n + 1 && host[h - n - 1] == '.' &&
	       strcasecmp(host + h - n, name) == 0;
}

bool host_pattern_is_place(const char *text, size_t len)
{
	struct host_pattern p;

	return host_pattern_parse(&p, text, len) == 0 && p.port > 0 &&
	       (p.kind == HOST_NAME ||
		(p.kind == HOST_NET && memchr(text, '/', len) == NULL));
}

bool host_pattern_matches(const struct host_pattern *p, const char *host,
			  unsigned port)
{
	struct sockaddr_storage address;
	bool is_address = host_is_address(host, &address);

	if (p->port != 0 && p->port != port)
		return false;
	switch (p->kind) {
	case HOST_ANY:
		return true;
	case HOST_NAME:
		return !is_address && strcasecmp(host, p->name) == 0;
	case HOST_BELOW:
		return !is_address && is_below(host, p->name);
	case HOST_NET:
		return is_address &&
		       host_pattern_has(p, (struct sockaddr *)&address, port);
	}
	return false;
}
