/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text and, after the first newline, a URI: the parts of the text are all
 * of it, and what matches has a value for each name.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"
#include "supervisor/session/result/resource_uri.h"
#include "supervisor/packages/package/placeholder.h"

#define FILLED_MAX ((size_t)1 << 16)

static void parts(const char *text, enum placeholder_style style)
{
	size_t braces = style == PLACEHOLDER_PROMPT ? 2 : 1, len = 0;
	const char *at = text;
	struct placeholder_part p;

	while (placeholder_next(&p, style, &at)) {
		assert(p.len > 0);
		assert(!p.is_name || p.len <= PLACEHOLDER_NAME_MAX);
		len += p.len + (p.is_name ? 2 * braces : 0);
		assert(at == text + len);
	}
	assert(len == strlen(text));
}

static void values(const char *text, const char *uri)
{
	struct json_object *v = placeholder_uri_match(text, uri);
	struct buf out = {.max = FILLED_MAX};
	struct placeholder_part p;

	(void)placeholder_fill(&out, PLACEHOLDER_PROMPT, text, v);
	assert(buf_len(&out) <= FILLED_MAX);
	buf_fini(&out);
	while (v != NULL && placeholder_next(&p, PLACEHOLDER_URI, &text)) {
		char *name = xstrndup(p.text, p.len);
		const char *value = json_member_str(v, name);

		assert(!p.is_name || (value != NULL && *value != '\0' &&
				      utf8_ok(value, strlen(value))));
		free(name);
	}
	json_object_put(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	char *uri = text + strcspn(text, "\n");
	bool good;

	if (*uri != '\0')
		*uri++ = '\0';
	(void)resource_uri_parse(uri);
	parts(text, PLACEHOLDER_URI);
	parts(text, PLACEHOLDER_PROMPT);
	parts(text, PLACEHOLDER_ANSWERS);
	good = placeholder_uri_fault(text) == NULL;
	if (good)
		values(text, uri);
	free(text);
	return 0;
}
