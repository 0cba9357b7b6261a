/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first byte says what the rest is: a query with a file's name, a
 * Content-Digest, a name, the files in a RUN's body, or a schema and, after a
 * newline, inputs with files.
 */
#include "tests/fuzz/fuzz.h"
#include "base/mem.h"
#include "base/text/utf8.h"
#include "ipc/file_part.h"
#include "proto/json/json.h"
#include "supervisor/packages/inputs/file_name.h"
#include "supervisor/packages/inputs/run_files.h"
#include "supervisor/clients/http_artifacts/http_artifacts.h"

static void name(const char *text)
{
	char *safe = file_name_safe(text), *second;

	if (safe == NULL)
		return;
	second = file_name_numbered(safe, 2);
	assert(strlen(safe) <= FILE_NAME_MAX && strchr(safe, '/') == NULL);
	assert(safe[0] != '.' && utf8_printable(safe, strlen(safe)));
	assert(strlen(second) <= FILE_NAME_MAX && strcmp(safe, second) != 0);
	free(second);
	free(safe);
}

static void query(const char *text)
{
	char *n = http_artifacts_name(text);

	assert(n == NULL || utf8_ok(n, strlen(n)));
	free(n);
}

static void digest(const char *text)
{
	char hex[65] = "";

	assert(http_artifacts_digest(text, hex) != 0 || strlen(hex) == 64);
}

static void parts(const char *text, size_t len)
{
	struct str rest = {text, len};
	struct file_part f;

	while (file_part_next(&rest, &f))
		assert(f.label.p >= text && f.data.p + f.data.n <= text + len);
}

static void inputs(const char *text)
{
	const char *end = strchr(text, '\n');
	struct json_object *schema = NULL, *in = NULL;
	struct run_files_error err;
	struct run_files *f;
	struct file_spot *spots;

	if (end == NULL ||
	    json_parse(&schema, text, (size_t)(end - text), NULL) < 0)
		return;
	spots = file_schema_find(schema);
	file_schema_expand(schema);
	if (json_parse(&in, end + 1, strlen(end + 1), NULL) == 0) {
		char *before = xstrdup(json_text(in, NULL));

		f = run_files_collect(spots, in, &err);
		if (f != NULL)
			run_files_settle(f, in);
		assert(strcmp(before, json_text(in, NULL)) == 0);
		run_files_free(f);
		free(before);
	}
	json_object_put(in);
	file_schema_free(spots);
	json_object_put(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size == 0)
		return 0;
	text = xstrndup((const char *)data + 1, size - 1);
	if (data[0] == 'n')
		name(text);
	else if (data[0] == 'q')
		query(text);
	else if (data[0] == 'd')
		digest(text);
	else if (data[0] == 'p')
		parts((const char *)data + 1, size - 1);
	else
		inputs(text);
	free(text);
	return 0;
}
