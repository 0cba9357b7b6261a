/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pagination.c - a page of a list and the cursor to the next, for tools,
 * resources, prompts and tasks. A cursor which paddockd never gave is answered
 * as invalid params. Entries which come or go between pages do no harm.
 */
#include "supervisor/session/pagination.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text/base64.h"
#include "proto/json/json_pack.h"

#define CURSOR_MAX BASE64_LEN((size_t)PAGINATION_WHERE_MAX) /* bytes */

/* Decode GIVEN into WHERE. False: GIVEN has not the form of a cursor. */
static bool decode_cursor(struct json_object *given,
			  char where[PAGINATION_WHERE_MAX + 1])
{
	const char *text = json_object_get_string(given);
	size_t len = 0;

	if (!json_object_is_type(given, json_type_string) ||
	    strlen(text) > CURSOR_MAX ||
	    base64_decode(where, &len, text, strlen(text)) < 0)
		return false;
	where[len] = '\0';
	return len > 0 && strlen(where) == len;
}

bool pagination_read_cursor(struct request *req,
			    char where[PAGINATION_WHERE_MAX + 1])
{
	struct json_object *given = json_member(req->msg.params, "cursor");

	where[0] = '\0';
	if (given == NULL || decode_cursor(given, where))
		return true;
	pagination_refuse_cursor(req);
	return false;
}

void pagination_refuse_cursor(struct request *req)
{
	request_error(req, RPC_INVALID_PARAMS, NULL,
		      "params.cursor is not one that this server gave; "
		      "leave it out to start again");
}

void pagination_write_cursor(struct json_object *result, const char *where)
{
	char text[BASE64_LEN(PAGINATION_WHERE_MAX)];
	size_t len = strlen(where);

	base64_encode(text, where, len);
	json_add(result, "nextCursor:S", text, BASE64_LEN(len));
}

/* Continue P after WHERE, which is "OWNER PLACE". */
static bool go_on_after(struct pagination *p, const char *where)
{
	const char *end = strchr(where, ' ');

	if (end == NULL || end - where > PAGINATION_OWNER_MAX)
		return false;
	memcpy(p->after, where, (size_t)(end - where));
	p->after_place = 0;
	while (*++end >= '0' && *end <= '9' && p->after_place < INT_MAX)
		p->after_place = 10 * p->after_place + (*end - '0');
	return *end == '\0' && end[-1] != ' ';
}

bool pagination_begin(struct pagination *p, struct request *req, size_t size)
{
	char where[PAGINATION_WHERE_MAX + 1];

	*p = (struct pagination){
	    .request = req, .size = size, .after_place = -1};
	if (!pagination_read_cursor(req, where))
		return false;
	if (where[0] != '\0' && !go_on_after(p, where)) {
		pagination_refuse_cursor(req);
		return false;
	}
	p->list = json_object_new_array();
	return true;
}

/*
 * Do the entries take a quarter of the longest message? Until then the next
 * entry fits.
 */
static bool is_long(struct pagination *p)
{
	size_t n = json_object_array_length(p->list), len;

	for (; p->counted < n; p->counted++) {
		json_text(json_object_array_get_idx(p->list, p->counted), &len);
		p->bytes += len;
	}
	return p->bytes > request_max_bytes(p->request) / 4;
}

bool pagination_wants(struct pagination *p, const char *owner, size_t place)
{
	int order = strcmp(owner, p->after);

	if (order < 0 || (order == 0 && (long)place <= p->after_place))
		return false;
	if (json_object_array_length(p->list) >= p->size || is_long(p)) {
		p->more = true;
		return false;
	}
	snprintf(p->last, sizeof(p->last), "%s", owner);
	p->last_place = (long)place;
	return true;
}

void pagination_end(struct pagination *p, const char *key)
{
	struct json_object *result = json_object_new_object();
	char where[PAGINATION_WHERE_MAX + 1];

	json_object_object_add(result, key, p->list);
	if (p->more) {
		snprintf(where, sizeof(where), "%s %ld", p->last,
			 p->last_place);
		pagination_write_cursor(result, where);
	}
	mcp_add_cache_hint(result, p->request->terms->revision, MCP_CACHE_LIST);
	request_result(p->request, result);
}
