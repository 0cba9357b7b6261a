/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a host pattern and, after a newline, a host: a pattern without wildcards
 * must match the same name, and a pattern must match no host of an excluded kind.
 */
#include <arpa/inet.h>

#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "ipc/host_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t n = end == NULL ? size : (size_t)(end - data);
	char *text = xstrndup((const char *)data, n);
	char *host = end == NULL
			 ? xstrdup("example.org")
			 : xstrndup((const char *)end + 1, size - n - 1);
	struct sockaddr_storage address;
	struct host_pattern p;
	bool is_address = host_is_address(host, &address);

	if (host_pattern_parse(&p, text, strlen(text)) == 0) {
		unsigned port = p.port != 0 ? p.port : 80;
		bool matches = host_pattern_matches(&p, host, port);

		assert(strlen(text) <= HOST_PATTERN_TEXT && p.port <= 65535);
		assert(p.kind == HOST_ANY || p.kind == HOST_NET ||
		       (p.name[0] != '\0' && !(matches && is_address)));
		assert(p.kind != HOST_NET || !matches || is_address);
		assert(p.kind != HOST_NAME ||
		       host_pattern_matches(&p, p.name, port));
		assert(p.kind != HOST_BELOW ||
		       !host_pattern_matches(&p, p.name, port));
		assert(p.port == 0 ||
		       !host_pattern_matches(&p, host, p.port ^ 1));
		assert(
		    !is_address ||
		    host_pattern_has(&p, (struct sockaddr *)&address, port) ==
			(p.kind == HOST_NET && matches));
	}
	free(text);
	free(host);
	return 0;
}
