/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointer_error.c - builds the JSON pointer to a fault in a template's
 * question, for elicit_form.c, sampling.c and the supervisor's input_request.c.
 * A token without room is left out whole.
 */
#include "proto/mcp/pointer_error.h"

#include <stdio.h>
#include <string.h>

/* Append a whole token or nothing: half of a token would point elsewhere. */
static void append_token(struct pointer_error *f, const char *token, size_t n)
{
	size_t at = strlen(f->pointer);

	if (at + n < sizeof(f->pointer)) {
		memcpy(f->pointer + at, token, n);
		f->pointer[at + n] = '\0';
	}
}

void pointer_error_point(struct pointer_error *f, const char *key)
{
	char token[sizeof(f->pointer)] = "/";
	size_t n = 1;

	for (; *key != '\0' && n + 2 < sizeof(token); key++) {
		if (*key == '~' || *key == '/')
			token[n++] = '~';
		token[n] = *key;
		if (*key == '~' || *key == '/')
			token[n] = *key == '~' ? '0' : '1';
		n++;
	}
	if (*key == '\0')
		append_token(f, token, n);
}

void pointer_error_index(struct pointer_error *f, size_t i)
{
	char token[24];

	append_token(f, token,
		     (size_t)snprintf(token, sizeof(token), "/%zu", i));
}

void pointer_error_join(struct pointer_error *f,
			const struct pointer_error *inner)
{
	append_token(f, inner->pointer, strlen(inner->pointer));
	f->expected = inner->expected;
}

bool pointer_error_at(struct pointer_error *f, const char *key,
		      const char *expected)
{
	if (key != NULL)
		pointer_error_point(f, key);
	f->expected = expected;
	return false;
}
