/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: a schema, a line "---", an instance. For any input, compiling and checking
 * must end, the explanation must agree with the verdict, and a budget must be kept.
 */
#include <errno.h>

#include "tests/fuzz/fuzz.h"
#include "proto/json/json.h"
#include "proto/schema/schema.h"

#define MARK "\n---\n"
#define ERRORS 4

/*
 * A small budget must be kept, except for the last charge, which is no larger than the
 * input; the verdict and text within the budget must be the same as without a budget.
 */
static void check_budget(const struct schema *s, struct json_object *v, int rc,
			 size_t size)
{
	struct schema_budget b = {.allowed = 2000};
	struct schema_error err;
	int own = schema_check(s, v, &b, &err);

	if (b.used > b.allowed + 20 * size + 2000)
		abort();
	if (own != rc && own != -E2BIG)
		abort();
	if (own != 0 && err.text[0] == '\0')
		abort();
}

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
		    0) {
			check(s, v);
			check_budget(s, v, schema_validate(s, v, NULL), size);
		}
		json_object_put(v);
		schema_free(s);
	} else if (err.text[0] == '\0') {
		abort();
	}
	json_object_put(doc);
	return 0;
}
