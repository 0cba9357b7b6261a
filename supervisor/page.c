#include "supervisor/page.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "proto/json.h"

#define CURSOR_MAX 100 /* bytes: "OWNER PLACE" */

static bool read_cursor(struct page *p, struct json_object *given)
{
	const char *text = json_object_get_string(given);
	char plain[CURSOR_MAX / 4 * 3 + 4], *end;
	size_t len = 0;

	if (!json_object_is_type(given, json_type_string) ||
	    strlen(text) > CURSOR_MAX ||
	    base64_decode(plain, &len, text, strlen(text)) < 0)
		return false;
	plain[len] = '\0';
	end = memchr(plain, ' ', len);
	if (end == NULL || end - plain > PAGE_OWNER_MAX)
		return false;
	*end++ = '\0';
	memcpy(p->after, plain, (size_t)(end - plain));
	p->after_place = 0;
	for (; *end >= '0' && *end <= '9' && p->after_place < INT_MAX; end++)
		p->after_place = 10 * p->after_place + (*end - '0');
	return end == plain + len && end[-1] != '\0';
}

bool page_begin(struct page *p, struct call *c)
{
	struct json_object *given = json_member(c->msg.params, "cursor");

	*p = (struct page){.call = c, .after_place = -1};
	if (given != NULL && !read_cursor(p, given)) {
		call_error(c, RPC_INVALID_PARAMS, NULL,
			   "params.cursor is not one that this server gave; "
			   "leave it out to start again");
		return false;
	}
	p->list = json_object_new_array();
	return true;
}

bool page_wants(struct page *p, const char *owner, size_t place)
{
	int order = strcmp(owner, p->after);

	if (order < 0 || (order == 0 && (long)place <= p->after_place))
		return false;
	if (json_object_array_length(p->list) >= PAGE_ENTRIES) {
		p->more = true;
		return false;
	}
	snprintf(p->last, sizeof(p->last), "%s", owner);
	p->last_place = (long)place;
	return true;
}

void page_end(struct page *p, const char *key)
{
	struct json_object *result = json_object_new_object();
	char plain[PAGE_OWNER_MAX + 24], text[BASE64_LEN(sizeof(plain))];
	int n = snprintf(plain, sizeof(plain), "%s %ld", p->last,
			 p->last_place);

	json_object_object_add(result, key, p->list);
	base64_encode(text, plain, (size_t)n);
	if (p->more)
		json_object_object_add(
		    result, "nextCursor",
		    json_object_new_string_len(text, (int)BASE64_LEN(n)));
	call_result(p->call, result);
}
