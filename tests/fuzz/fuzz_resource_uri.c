/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the URI of a resource: an accepted URI must have ids of the right kind
 * and a part that begins at no negative offset. The whole URI must be read: bytes added
 * to the end must give another URI or an error.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "supervisor/session/result/resource_uri.h"

static void check(const char *text, const struct resource_uri *u)
{
	char *again = xasprintf("%s/", text);

	assert(resource_uri_parse(again).kind == RESOURCE_URI_NONE);
	free(again);
	if (u->kind == RESOURCE_URI_IS_ISOLATION) {
		assert(strcmp(text, RESOURCE_URI_ISOLATION) == 0);
		return;
	}
	assert(strncmp(text, RESOURCE_URI_RUNS, strlen(RESOURCE_URI_RUNS)) ==
	       0);
	assert(id_ok(u->run_id, "run") && strstr(text, u->run_id) != NULL);
	assert(u->piece.offset >= 0 && u->piece.limit >= 0);
	assert(u->piece.asked == (strchr(text, '?') != NULL));
	if (u->kind == RESOURCE_URI_IS_ARTIFACT)
		assert(id_ok(u->artifact_id, "art") &&
		       strstr(text, u->artifact_id) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct resource_uri u = resource_uri_parse(text);

	if (u.kind != RESOURCE_URI_NONE)
		check(text, &u);
	free(text);
	return 0;
}
