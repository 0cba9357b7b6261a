/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes of a SOCKS client: a complete request must stay complete whatever bytes
 * follow, an incomplete request must be reported as incomplete, and a host must be a
 * text that the policy can judge.
 */
#include <arpa/inet.h>

#include "tests/fuzz/fuzz.h"
#include "browser/net/socks.h"

/*
 * A shorter piece of the request must be incomplete, until the parser reaches its
 * verdict.
 */
static void check_pieces(const uint8_t *p, size_t size, int whole)
{
	struct socks_request r;
	enum socks_code code;

	for (size_t n = 0; n < size && n < SOCKS_MESSAGE_MAX; n++) {
		int rc = socks_request(p, n, &r, &code);

		assert(rc == 0 || rc == whole);
		assert(rc <= 0 || n >= (size_t)rc);
	}
}

static void check_request(const uint8_t *p, size_t size)
{
	struct socks_request r;
	enum socks_code code = SOCKS_DONE;
	struct in6_addr addr;
	int rc = socks_request(p, size, &r, &code);

	check_pieces(p, size, rc);
	if (rc < 0)
		assert(code == SOCKS_NO_SUCH_COMMAND ||
		       code == SOCKS_NO_SUCH_ADDRESS);
	if (rc == 0)
		assert(size < SOCKS_MESSAGE_MAX);
	if (rc <= 0)
		return;
	assert((size_t)rc <= size && rc <= SOCKS_MESSAGE_MAX);
	assert(r.host[0] != '\0' && strlen(r.host) < sizeof(r.host) &&
	       r.port <= 65535);
	if (p[3] != 3) /* not a name */
		assert(inet_pton(p[3] == 1 ? AF_INET : AF_INET6, r.host,
				 &addr) == 1);
	(void)url_policy_host(r.host, URL_REMOTE);
	(void)url_policy_port(r.port, URL_REMOTE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t method = 1;
	int n = socks_greeting(data, size, &method);

	if (n == 0)
		assert(size < SOCKS_MESSAGE_MAX);
	if (n <= 0)
		return 0;
	assert((size_t)n <= size);
	assert(method == SOCKS_NO_AUTH || method == SOCKS_NO_METHOD);
	check_request(data + n, size - (size_t)n);
	return 0;
}
