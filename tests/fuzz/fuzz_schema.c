/*
 * Input: a schema, a line "---", an instance. Whatever they are, compiling and
 * checking end, and explaining agrees with the verdict.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json.h"
#include "proto/schema.h"

#define MARK "\n---\n"
#define ERRORS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct schema *s, struct json_object *v)
{
	struct schema_error err, errs[ERRORS];
	int rc = schema_validate(s, v, &err);
	size_t n = schema_validate_all(s, v, errs, ERRORS);

	if (rc != schema_validate(s, v, NULL) || (rc == 0) != (n == 0))
		abort();
	if (rc != 0 && err.text[0] == '\0')
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct schema_options opt = {.assert_formats = true};
	const char *text = (const char *)data;
	const char *mark = memmem(text, size, MARK, strlen(MARK));
	struct json_object *doc = NULL, *v = NULL;
	struct schema_error err;
	struct schema *s;

	if (mark == NULL ||
	    json_parse(&doc, text, (size_t)(mark - text), NULL) != 0)
		return 0;
	mark += strlen(MARK);
	if (schema_compile(&s, doc, &opt, &err) == 0) {
		if (json_parse(&v, mark, size - (size_t)(mark - text), NULL) ==
		    0)
			check(s, v);
		json_object_put(v);
		schema_free(s);
	} else if (err.text[0] == '\0') {
		abort();
	}
	json_object_put(doc);
	return 0;
}
