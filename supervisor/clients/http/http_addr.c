/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_addr.c - the address at which HTTP is served, and whether the Host and
 * Origin of a request mean paddockd. http_listen.c calls the parser,
 * http_routes.c the checks. Pure functions: http_routes.c answers a failed
 * check with 403; a malformed address ends the start.
 */
#include "supervisor/clients/http/http_addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text/words.h"

bool http_addr_parse(struct http_addr *a, const char *listen)
{
	struct sockaddr_in *v4 = (void *)&a->addr;
	struct sockaddr_in6 *v6 = (void *)&a->addr;
	const char *colon = strrchr(listen, ':');
	char host[HTTP_ADDR_SIZE];
	size_t n = colon == NULL ? 0 : (size_t)(colon - listen);
	in_port_t port;
	bool good;

	*a = (struct http_addr){0};
	if (n == 0 || n >= sizeof(host))
		return false;
	port = htons((in_port_t)strtoul(colon + 1, NULL, 10));
	memcpy(host, listen, n);
	host[n] = '\0';
	if (host[0] == '[' && host[n - 1] == ']') {
		host[n - 1] = '\0';
		v6->sin6_family = AF_INET6;
		v6->sin6_port = port;
		a->len = sizeof(*v6);
		good = inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1;
		a->loopback = good && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	} else {
		v4->sin_family = AF_INET;
		v4->sin_port = port;
		a->len = sizeof(*v4);
		good = inet_pton(AF_INET,
				 strcmp(host, "localhost") == 0 ? "127.0.0.1"
								: host,
				 &v4->sin_addr) == 1;
		a->loopback =
		    good && ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	return good;
}

/* Write the address in the form of a URL, without the port. */
static void host_text(const struct http_addr *a, char *out, size_t size)
{
	const struct sockaddr_in *v4 = (const void *)&a->addr;
	const struct sockaddr_in6 *v6 = (const void *)&a->addr;
	char text[INET6_ADDRSTRLEN];

	if (a->addr.ss_family == AF_INET) {
		inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
		snprintf(out, size, "%s", text);
	} else {
		inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
		snprintf(out, size, "[%s]", text);
	}
}

void http_addr_text(const struct http_addr *a, char out[HTTP_ADDR_SIZE])
{
	const struct sockaddr_in *v4 = (const void *)&a->addr;
	const struct sockaddr_in6 *v6 = (const void *)&a->addr;
	unsigned port =
	    ntohs(a->addr.ss_family == AF_INET ? v4->sin_port : v6->sin6_port);
	size_t n;

	host_text(a, out, HTTP_ADDR_SIZE);
	n = strlen(out);
	snprintf(out + n, HTTP_ADDR_SIZE - n, ":%u", port);
}

/*
 * Return the length of the name in NAME[:PORT], or 0 if HOST has another form.
 */
static size_t host_name_len(const char *host)
{
	size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

	if (host[0] == '[' && host[n - 1] != ']')
		return 0;
	if (host[n] == ':' &&
	    host[n + 1 + strspn(host + n + 1, "0123456789")] == '\0')
		return n;
	return host[n] == '\0' ? n : 0;
}

static bool is_host(const char *s, size_t len, const char *want)
{
	return strlen(want) == len && strncasecmp(s, want, len) == 0;
}

/* Is S a word of LIST, in any case of letters? */
static bool in_list(const char *s, size_t len, const char *list)
{
	const char *word;
	size_t n;

	while ((word = words_next(&list, &n)) != NULL)
		if (n == len && strncasecmp(word, s, n) == 0)
			return true;
	return false;
}

static bool names_loopback(const char *host, size_t len)
{
	return is_host(host, len, "localhost") ||
	       is_host(host, len, "127.0.0.1") || is_host(host, len, "[::1]");
}

bool http_host_ok(const struct http_addr *a, const char *host,
		  const char *allowed)
{
	size_t n = host_name_len(host);
	char own[HTTP_ADDR_SIZE];

	host_text(a, own, sizeof(own));
	if (n == 0)
		return false;
	if (!a->loopback && allowed == NULL)
		return true;
	return names_loopback(host, n) || is_host(host, n, own) ||
	       in_list(host, n, allowed);
}

bool http_origin_ok(const char *origin, const char *host, const char *allowed)
{
	static const char *const schemes[] = {"http://", "https://"};
	const char *page = NULL;
	size_t n, host_n = host_name_len(host);

	if (in_list(origin, strlen(origin), allowed))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (strncasecmp(origin, schemes[i], strlen(schemes[i])) == 0)
			page = origin + strlen(schemes[i]);
	if (page == NULL)
		return false;
	n = host_name_len(page);
	return n > 0 && (names_loopback(page, n) ||
			 (n == host_n && strncasecmp(page, host, n) == 0));
}
