/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_policy.c - tables of addresses, names, ports and schemes that no page, or
 * no page of a remote requestor, may reach. Calls ask before opening a URL, the
 * proxy before resolving and connecting; any answer but NULL is a reason to
 * refuse.
 */
#include "net/url_policy.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text/host_list.h"
#include "ipc/host_pattern.h"

/* ---- addresses ---- */

/* The first match counts: narrow networks come before wider ones. */
static const struct {
	uint32_t net;
	unsigned bits;
	const char *what;
	bool local; /* reachable at the trust level local */
} v4[] = {
    {0xA9FEA9FE, 32, "a cloud's metadata address", false}, /* 169.254.169.254 */
    {0x646464C8, 32, "a cloud's metadata address", false}, /* 100.100.100.200 */
    {0xC00000C0, 32, "a cloud's metadata address", false}, /* 192.0.0.192 */
    {0xA83F8110, 32, "a cloud's metadata address", false}, /* 168.63.129.16 */
    {0x7F000000, 8, "a loopback address", true},
    {0x00000000, 8, "an unspecified address", false},
    {0x0A000000, 8, "a private address", true},
    {0xAC100000, 12, "a private address", true},
    {0xC0A80000, 16, "a private address", true},
    {0x64400000, 10, "a carrier's private address", true},
    {0xA9FE0000, 16, "a link-local address", false},
    {0xC0000000, 24, "a reserved address", false},
    {0xC0000200, 24, "a reserved address", false},
    {0xC01FC400, 24, "a reserved address", false},
    {0xC034C100, 24, "a reserved address", false},
    {0xC0586300, 24, "a translated address", false}, /* 6to4 relay */
    {0xC0AF3000, 24, "a reserved address", false},
    {0xC6120000, 15, "a reserved address", false},
    {0xC6336400, 24, "a reserved address", false},
    {0xCB007100, 24, "a reserved address", false},
    {0xE0000000, 4, "a multicast address", false},
    {0xF0000000, 4, "a reserved address", false}, /* with broadcast */
};

static const struct {
	uint8_t net[16];
	uint16_t bits;
	bool local;
	const char *what;
} v6[] = {
    {{0xfd, 0x00, 0x0e, 0xc2, [15] = 0x54 /* fd00:ec2::254 */, [14] = 0x02},
     128,
     false,
     "a cloud's metadata address"},
    {{[15] = 1}, 128, true, "a loopback address"},
    {{0}, 128, false, "an unspecified address"},
    {{[10] = 0xff, [11] = 0xff}, 96, false, "a translated address"},
    {{[8] = 0xff, [9] = 0xff}, 96, false, "a translated address"},
    {{0}, 96, false, "a translated address"}, /* IPv4-compatible */
    {{0x00, 0x64, 0xff, 0x9b}, 96, false, "a translated address"},
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, false, "a translated address"},
    {{0x20, 0x02}, 16, false, "a translated address"},		   /* 6to4 */
    {{0x20, 0x01, 0x00, 0x00}, 32, false, "a translated address"}, /* Teredo */
    {{0x20, 0x01, 0x00, 0x00}, 23, false, "a reserved address"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, false, "a reserved address"},
    {{0x3f, 0xff}, 20, false, "a reserved address"},
    {{0xfc, 0x00}, 7, true, "a private address"},
    {{0xfe, 0x80}, 10, false, "a link-local address"},
    {{0xfe, 0xc0}, 10, false, "a site-local address"},
    {{0xff, 0x00}, 8, false, "a multicast address"},
};

static const char *address4(uint32_t a, enum url_trust trust)
{
	for (size_t i = 0; i < ARRAY_LEN(v4); i++)
		if ((a ^ v4[i].net) >> (32 - v4[i].bits) == 0)
			return v4[i].local && trust == URL_LOCAL ? NULL
								 : v4[i].what;
	return NULL;
}

static const char *address6(const struct in6_addr *in, enum url_trust trust)
{
	const uint8_t *a = in->s6_addr;

	for (size_t i = 0; i < ARRAY_LEN(v6); i++)
		if (host_list_within(a, v6[i].net, v6[i].bits))
			return v6[i].local && trust == URL_LOCAL ? NULL
								 : v6[i].what;
	/* global unicast is 2000::/3; other prefixes have no known meaning */
	if (a[0] >> 5 != 1)
		return "a reserved address";
	/* ISATAP: an IPv4 address within any network */
	if ((a[8] & 0xfd) == 0 && a[9] == 0 && a[10] == 0x5e && a[11] == 0xfe)
		return "a translated address";
	return NULL;
}

const char *url_policy_address(const struct sockaddr *address,
			       enum url_trust trust)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return address4(ntohl(in->sin_addr.s_addr), trust);
	if (address->sa_family == AF_INET6)
		return address6(&in6->sin6_addr, trust);
	return "not an internet address";
}

/* ---- names and ports ---- */

/* Refused names, with all names below. */
static const struct {
	const char *name;
	const char *what;
	bool local;
} names[] = {
    {"localhost", "a loopback name", true},
    {"localdomain", "a local name", true},
    {"local", "a local name", true},
    {"internal", "a private name", false},
    {"intranet", "a private name", true},
    {"lan", "a private name", true},
    {"home.arpa", "a private name", true},
    {"corp", "a private name", true},
    {"onion", "a name of another network", false},
};

static bool name_ok(const char *host)
{
	const unsigned char *p = (const unsigned char *)host;

	for (; *p != '\0'; p++)
		if (*p <= ' ' || *p == 0x7f ||
		    strchr("%/\\?#@:<>[]^|`\"{}", *p))
			return false;
	return host[0] != '\0' && host[0] != '.' &&
	       strlen(host) < URL_HOST_MAX && strstr(host, "..") == NULL;
}

const char *url_policy_host(const char *host, enum url_trust trust)
{
	char bare[URL_HOST_MAX];
	struct in6_addr in6;
	struct in_addr in;
	size_t n = strlen(host);

	if (n == 0 || n >= sizeof(bare))
		return "no host, or one too long";
	if (strchr(host, ':') != NULL)
		return inet_pton(AF_INET6, host, &in6) == 1
			   ? address6(&in6, trust)
			   : "not a host";
	memcpy(bare, host, n + 1);
	if (bare[n - 1] == '.')
		bare[n - 1] = '\0';
	if (!name_ok(bare))
		return "not a host";
	if (host_is_numeric(bare))
		return inet_aton(bare, &in) != 0
			   ? address4(ntohl(in.s_addr), trust)
			   : "not a host";
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (host_list_is_or_below(bare, strlen(bare), names[i].name) &&
		    !(names[i].local && trust == URL_LOCAL))
			return names[i].what;
	return NULL;
}

const char *url_policy_port(unsigned port, enum url_trust trust)
{
	static const unsigned web[] = {80, 443, 8080, 8443};

	if (port == 0 || port > 65535)
		return "not a port";
	if (trust == URL_LOCAL)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(web); i++)
		if (port == web[i])
			return NULL;
	return "a port other than 80, 443, 8080 and 8443";
}

/* ---- URLs ---- */

static const struct {
	const char *name;
	unsigned port;
} schemes[] = {{"http", 80}, {"https", 443}};

/* Read 0 to 65535 at P (N bytes), FALLBACK when empty; else 65536. */
static unsigned port_of(const char *p, size_t n, unsigned fallback)
{
	unsigned port = 0;

	if (n == 0)
		return fallback;
	for (size_t i = 0; i < n && port <= 65535; i++) {
		if (!isdigit((unsigned char)p[i]))
			return 65536;
		port = port * 10 + (unsigned)(p[i] - '0');
	}
	return port;
}

/* Split host[:port] or [v6][:port] at P, N bytes. */
static const char *split_place(struct url_place *to, const char *p, size_t n,
			       unsigned fallback)
{
	const char *host = p, *end = p + n, *colon;
	size_t len;

	if (n > 0 && *p == '[') {
		const char *close = memchr(p, ']', n);

		if (close == NULL || (close + 1 < end && close[1] != ':'))
			return "not a host";
		host = p + 1;
		len = (size_t)(close - host);
		colon = close + 1 < end ? close + 1 : NULL;
		if (memchr(host, ':', len) == NULL)
			return "not a host";
	} else {
		colon = memchr(p, ':', n);
		len = colon == NULL ? n : (size_t)(colon - p);
	}
	if (len == 0 || len >= sizeof(to->host))
		return "no host, or one too long";
	for (size_t i = 0; i < len; i++)
		to->host[i] = (char)tolower((unsigned char)host[i]);
	to->host[len] = '\0';
	if (to->host[len - 1] == '.')
		to->host[len - 1] = '\0';
	to->port = colon == NULL ? fallback
				 : port_of(colon + 1, (size_t)(end - colon - 1),
					   fallback);
	return NULL;
}

const char *url_policy_url(const char *url, enum url_trust trust,
			   struct url_place *place)
{
	struct url_place own = {0}, *to = place == NULL ? &own : place;
	size_t n = strcspn(url, ":"), i;
	const char *p, *errmsg;

	memset(to, 0, sizeof(*to));
	for (p = url; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return "white space or a control character";
	for (i = 0; i < ARRAY_LEN(schemes); i++)
		if (strlen(schemes[i].name) == n &&
		    strncasecmp(url, schemes[i].name, n) == 0)
			break;
	if (i == ARRAY_LEN(schemes))
		return "a scheme other than http and https";
	p = url + n;
	if (strncmp(p, "://", 3) != 0)
		return "not an absolute URL";
	p += 3;
	n = strcspn(p, "/?#\\");
	if (p[n] == '\\')
		return "a backslash";
	if (memchr(p, '@', n) != NULL)
		return "a user or a password in it";
	errmsg = split_place(to, p, n, schemes[i].port);
	if (errmsg == NULL)
		errmsg = url_policy_port(to->port, trust);
	if (errmsg == NULL)
		errmsg = url_policy_host(to->host, trust);
	return errmsg;
}
