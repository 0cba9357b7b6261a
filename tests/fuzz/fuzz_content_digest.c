/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as Content-Digest: a SHA-256 that comes of it is 64 digits in small letters, and
 * is found again beside others.
 */
#include <errno.h>

#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "supervisor/clients/http_artifacts/http_artifacts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	char *beside = xasprintf("md5=:AA==:, %s, sha-512=:AA==:", text);
	char hex[65] = "", again[65] = "";
	int rc = http_artifacts_digest(text, hex);

	assert(rc == 0 || rc == -EINVAL || rc == -ENOENT);
	assert(http_artifacts_digest(beside, again) == rc);
	if (rc == 0) {
		assert(strspn(hex, "0123456789abcdef") == 64 &&
		       hex[64] == '\0');
		assert(strcmp(again, hex) == 0);
		assert(strstr(text, "sha-256=:") != NULL);
	}
	free(beside);
	free(text);
	return 0;
}
