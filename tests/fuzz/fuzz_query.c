/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the query of a PUT of a file: an accepted name must be text, no longer
 * than the query, and the same after all bytes of the name were escaped and read again.
 */
#include <stdio.h>

#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "supervisor/clients/http_artifacts/http_artifacts.h"

static char *escaped(const char *name)
{
	size_t n = strlen(name);
	char *query = xcalloc(3 * n + 8, 1);

	strcpy(query, "name=");
	for (size_t i = 0; i < n; i++)
		sprintf(query + 5 + 3 * i, "%%%02X", (unsigned char)name[i]);
	return query;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	char *name = http_artifacts_name(text), *query, *again;

	if (name != NULL) {
		assert(strstr(text, "name=") != NULL);
		assert(name[0] != '\0' && strlen(name) < strlen(text));
		assert(utf8_ok(name, strlen(name)));
		query = escaped(name);
		again = http_artifacts_name(query);
		assert(again != NULL && strcmp(again, name) == 0);
		free(query);
		free(again);
	}
	free(name);
	free(text);
	return 0;
}
