/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as Accept and as Content-Type: what is taken says the type, or a star; more of a
 * list takes nothing away; and a Content-Type that is taken would be accepted.
 */
#include <strings.h>

#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "supervisor/clients/http/http_field.h"

#define JSON "application/json"
#define EVENTS "text/event-stream"

static void check(const char *text, const char *type)
{
	char *more = xasprintf("a/b;q=1, %s, c/d", text);
	char *again = xasprintf("%s, %s;q=0.5", text, type);
	bool good = http_accepts(text, type);

	if (good)
		assert(strcasestr(text, type) != NULL ||
		       strchr(text, '*') != NULL);
	assert(!good || http_accepts(more, type));
	assert(http_accepts(again, type));
	if (http_is_type(text, type))
		assert(good && strncasecmp(text, type, strlen(type)) == 0);
	free(again);
	free(more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);

	check(text, JSON);
	check(text, EVENTS);
	free(text);
	return 0;
}
