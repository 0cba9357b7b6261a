/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_pointer.c - builds and reads JSON Pointers, for schema_lint.c, the
 * checks of a package and other code that tells where JSON is wrong. Names may
 * be any text, so "~" and "/" are escaped. Nothing here fails: a full buffer
 * cuts the pointer.
 */
#include "proto/json/json_pointer.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

size_t json_pointer_push(struct buf *p, const char *token)
{
	size_t before = buf_len(p);

	(void)buf_add(p, "/", 1);
	for (const char *c = token; *c != '\0'; c++)
		if (*c == '~' || *c == '/')
			(void)buf_add(p, *c == '~' ? "~0" : "~1", 2);
		else
			(void)buf_add(p, c, 1);
	return before;
}

size_t json_pointer_push_index(struct buf *p, size_t i)
{
	char token[24];

	snprintf(token, sizeof(token), "%zu", i);
	return json_pointer_push(p, token);
}

void json_pointer_pop(struct buf *p, size_t before)
{
	p->len = p->off + before;
}

char *json_pointer_below(const char *pointer, const char *token)
{
	struct buf p = {0};

	buf_add_str(&p, pointer);
	json_pointer_push(&p, token);
	return buf_take(&p, NULL);
}

char *json_pointer_token(const char **pointer)
{
	size_t n = strcspn(++*pointer, "/");
	char *token = xstrndup(*pointer, n), *to = token;

	for (const char *from = token; *from != '\0'; from++)
		if (from[0] == '~' && (from[1] == '0' || from[1] == '1'))
			*to++ = *++from == '0' ? '~' : '/';
		else
			*to++ = *from;
	*to = '\0';
	*pointer += n;
	return token;
}
