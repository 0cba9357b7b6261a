/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_url_policy.c - any URL: a URL allowed to remote requestors must be allowed to
 * local requestors, and the host of the URL must get the same verdict at the time of
 * the connection.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "net/url_policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *url = xstrndup((const char *)data, size);
	struct url_place remote, local;
	const char *errmsg = url_policy_url(url, URL_REMOTE, &remote);

	if (errmsg == NULL) {
		assert(url_policy_url(url, URL_LOCAL, &local) == NULL);
		assert(strcmp(remote.host, local.host) == 0 &&
		       remote.port == local.port);
		assert(url_policy_host(remote.host, URL_REMOTE) == NULL &&
		       url_policy_port(remote.port, URL_REMOTE) == NULL);
		assert(strncasecmp(url, "http", 4) == 0);
	} else {
		assert(strlen(errmsg) > 3);
	}
	free(url);
	return 0;
}
