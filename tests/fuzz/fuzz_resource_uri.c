/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the URI of a resource: what is found in it has ids of their kind and a part
 * that begins at no negative byte, and all of it is read; more at its end is another URI.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "supervisor/run/resource_uri.h"

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
