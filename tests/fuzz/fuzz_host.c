/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the header Host. On a loopback address without an allowed name, an
 * accepted host must be a name of loopback, with a port of digits or without a port.
 * With an allowed name, the allowed name must be accepted as well.
 */
#include <strings.h>

#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "supervisor/clients/http/http_addr.h"

/* Is HOST NAME, or NAME and a port? */
static bool is(const char *host, const char *name)
{
	size_t n = strlen(name);

	if (strncasecmp(host, name, n) != 0)
		return false;
	host += n;
	return *host == '\0' ||
	       (*host == ':' &&
		strspn(host + 1, "0123456789") == strlen(host + 1));
}

static bool is_loopback(const char *host)
{
	return is(host, "localhost") || is(host, "127.0.0.1") ||
	       is(host, "[::1]");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_addr loopback, any;
	char *host = xstrndup((const char *)data, size);

	assert(http_addr_parse(&loopback, "127.0.0.1:80"));
	assert(http_addr_parse(&any, "0.0.0.0:80"));
	assert(http_host_ok(&loopback, host, NULL) == is_loopback(host));
	assert(http_host_ok(&any, host, "mcp.example.com") ==
	       (is_loopback(host) || is(host, "mcp.example.com") ||
		is(host, "0.0.0.0")));
	free(host);
	return 0;
}
