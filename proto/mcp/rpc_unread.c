/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rpc_unread.c - finds the id of a request whose JSON the parser does not take,
 * for the error that answers the request. rpc.c calls rpc_unread_id(). The text
 * is searched by brackets and strings alone, to any depth. A doubtful text has
 * no id, as JSON-RPC says.
 */
#include "proto/mcp/rpc_unread.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct look {
	const char *text;
	size_t len, at, depth;
	size_t value; /* start of the member's value; 0: in a name */
	struct json_span name, id;
	unsigned ids, methods;
	bool doubt;
};

/* Go to the last byte of the string at k->at. Keep the place of a name. */
static void pass_string(struct look *k)
{
	size_t from = k->at++;
	bool escaped = false;

	for (; k->at < k->len && k->text[k->at] != '"'; k->at++)
		if (k->text[k->at] == '\\') {
			escaped = true;
			k->at++;
		}
	if (k->depth != 1 || k->value != 0)
		return;
	k->doubt |= escaped; /* "\u0069d" is "id" as well */
	k->name = (struct json_span){.off = from, .len = k->at + 1 - from};
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_key(const struct look *k, const char *quoted)
{
	return k->name.len == strlen(quoted) &&
	       memcmp(k->text + k->name.off, quoted, k->name.len) == 0;
}

/* Count the member that ends before k->at. */
static void end_member(struct look *k)
{
	size_t from = k->value, end = k->at;

	if (k->depth != 1)
		return;
	while (from < end && is_space(k->text[from]))
		from++;
	while (end > from && is_space(k->text[end - 1]))
		end--;
	k->methods += is_key(k, "\"method\"");
	if (is_key(k, "\"id\"")) {
		k->ids++;
		k->id = (struct json_span){.off = from, .len = end - from};
	}
	k->value = 0;
	k->name.len = 0;
}

static void pass_bracket(struct look *k, bool opens)
{
	if (opens) {
		k->doubt |= k->depth++ == 0 && k->text[k->at] == '[';
		return;
	}
	end_member(k);
	k->doubt |= k->depth == 0;
	k->depth -= k->depth > 0;
}

int rpc_unread_id(struct json_span *id, const char *text, size_t len)
{
	struct look k = {.text = text, .len = len};

	for (; k.at < len && !k.doubt; k.at++) {
		char c = text[k.at];

		if (c == '"')
			pass_string(&k);
		else if (c == '{' || c == '[')
			pass_bracket(&k, true);
		else if (c == '}' || c == ']')
			pass_bracket(&k, false);
		else if (c == ',')
			end_member(&k);
		else if (c == ':' && k.depth == 1)
			k.value = k.at + 1;
	}
	*id = k.id;
	return !k.doubt && k.depth == 0 && k.ids == 1 && k.methods == 1
		   ? 0
		   : -ENOENT;
}
