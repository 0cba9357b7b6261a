/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the header Origin and, after a NUL, as Host: an accepted origin must be
 * a page of loopback, a page of the same host, or an allowed origin, letter by letter.
 */
#include <strings.h>

#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "supervisor/clients/http/http_addr.h"

#define ALLOWED "https://app.example.com"

static bool is_port(const char *s)
{
	return *s == '\0' ||
	       (*s == ':' && strspn(s + 1, "0123456789") == strlen(s + 1));
}

/* Is PAGE NAME (N bytes), or NAME and a port? */
static bool is(const char *page, const char *name, size_t n)
{
	return strlen(page) >= n && strncasecmp(page, name, n) == 0 &&
	       is_port(page + n);
}

static bool is_loopback(const char *page)
{
	return is(page, "localhost", 9) || is(page, "127.0.0.1", 9) ||
	       is(page, "[::1]", 5);
}

/* The length of HOST without a port. */
static size_t name_of(const char *host)
{
	const char *colon = strrchr(host, ':');

	return colon != NULL && is_port(colon) ? (size_t)(colon - host)
					       : strlen(host);
}

static const char *page_of(const char *origin)
{
	if (strncasecmp(origin, "http://", 7) == 0)
		return origin + 7;
	return strncasecmp(origin, "https://", 8) == 0 ? origin + 8 : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	const char *host = strlen(text) < size ? text + strlen(text) + 1 : "";
	const char *page = page_of(text);
	bool good = http_origin_ok(text, host, ALLOWED);

	if (strcasecmp(text, ALLOWED) == 0)
		assert(good);
	else if (good)
		assert(page != NULL &&
		       (is_loopback(page) || is(page, host, name_of(host))));
	else
		assert(page == NULL || !is_loopback(page));
	free(text);
	return 0;
}
