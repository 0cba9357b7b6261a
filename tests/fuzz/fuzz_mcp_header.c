/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A header field, and in the next line the JSON that it repeats; that JSON is a
 * schema with "x-mcp-header" as well.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "proto/mcp/mcp_header.h"
#include "proto/mcp/mcp_param_header.h"

static const char *same(void *arg, const char *name)
{
	(void)name;
	return arg;
}

static void schema(struct json_object *o, char *value)
{
	struct mcp_param_headers h;
	struct pointer_error f;
	char errmsg[200] = "";

	if (!mcp_param_headers_read(&h, o, &f)) {
		assert(f.expected != NULL && f.pointer[0] == '/');
		return;
	}
	assert(mcp_param_headers_check(&h, o, same, value, errmsg,
				       sizeof(errmsg)) == (errmsg[0] == '\0'));
	mcp_param_headers_fini(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size == 0 ? NULL : memchr(data, '\n', size);
	struct mcp_header h = {.name = "N", .where = "w"};
	struct json_object *o = NULL;
	char errmsg[200] = "";
	char *value;
	bool agree;

	if (end == NULL ||
	    json_parse(&o, (const char *)end + 1,
		       size - (size_t)(end - data) - 1, NULL) < 0)
		return 0;
	value = xstrndup((const char *)data, (size_t)(end - data));
	agree = mcp_header_check(&h, value, o, errmsg, sizeof(errmsg));
	assert(agree == (errmsg[0] == '\0'));
	if (!json_object_is_type(o, json_type_string))
		assert(!agree || mcp_header_check(&h, json_text(o, NULL), o,
						  errmsg, sizeof(errmsg)));
	schema(o, value);
	free(value);
	json_object_put(o);
	return 0;
}
