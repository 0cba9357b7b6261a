/* SPDX-License-Identifier: Apache-2.0 */
/*
 * full_result.c - reads long results in parts: a server sends no message beyond
 * its max_answer_bytes and names a longer result by a URI. client_call.c and
 * logs.c call it.
 */
#include "cli/client/full_result.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_pack.h"

/* Append the part in CONTENTS to OUT. Returns its length. */
static size_t take_part(struct buf *out, struct json_object *contents)
{
	struct json_object *text = json_member(contents, "text");
	size_t n = text != NULL ? (size_t)json_object_get_string_len(text) : 0;

	buf_add(out, n > 0 ? json_object_get_string(text) : "", n);
	return n;
}

/*
 * Read the part of URI from byte FROM on. While the server limits the rate,
 * wait and ask again.
 */
static int read_part(struct client *c, const char *uri, size_t from,
		     struct tool_result *a)
{
	char *part = xasprintf("%s?offset=%zu", uri, from);
	int rc;

	do {
		rc = client_wait(c, client_send_read(c, part), CLIENT_FOREVER,
				 a);
		if (rc == 0)
			rc = client_ask_again(c, INT64_MAX, a);
	} while (rc > 0);
	free(part);
	return rc;
}

int full_result_text(struct client *c, const char *uri, size_t from,
		     struct buf *out, struct tool_result *a)
{
	for (;;) {
		int rc = read_part(c, uri, from, a);
		size_t n;

		if (rc < 0 || !a->good)
			return rc;
		n = take_part(out, a->value);
		from += n;
		if (n == 0 || json_member_str(json_member(a->value, "_meta"),
					      "paddock/next") == NULL)
			return 0;
		tool_result_fini(a);
	}
}

static int add_result(struct client *c, struct tool_result *a, const char *uri)
{
	struct json_object *result = NULL;
	struct buf text = {0};
	struct tool_result part;
	int rc = full_result_text(c, uri, 0, &text, &part);

	if (rc < 0) {
		buf_fini(&text);
		return rc;
	}
	if (part.good &&
	    json_parse(&result, buf_data(&text), buf_len(&text), NULL) < 0)
		part.good = false; /* never: the server parsed the result */
	buf_fini(&text);
	if (!part.good) {
		tool_result_fini(a);
		*a = part;
		return 0;
	}
	tool_result_fini(&part);
	json_add(a->value, "result:o", result);
	json_object_object_del(a->value, "resultUri");
	json_object_object_del(a->value, "resultBytes");
	json_object_object_del(a->value, "resultOmitted");
	return 0;
}

int full_result(struct client *c, struct tool_result *a)
{
	const char *uri = json_member_str(a->value, "resultUri");
	char *own;
	int rc;

	if (uri == NULL || json_member_str(a->value, "runId") == NULL)
		return 0;
	own = xstrdup(uri);
	rc = add_result(c, a, own);
	free(own);
	return rc;
}
