/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/mcp/pointer_error.h"

#include <stdio.h>
#include <string.h>

/* Whole, or not at all: half of a token would point elsewhere. */
static void append(struct fault *f, const char *token, size_t n)
{
	size_t at = strlen(f->pointer);

	if (at + n < sizeof(f->pointer)) {
		memcpy(f->pointer + at, token, n);
		f->pointer[at + n] = '\0';
	}
}

void fault_point(struct fault *f, const char *key)
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
		append(f, token, n);
}

void fault_index(struct fault *f, size_t i)
{
	char token[24];

	append(f, token, (size_t)snprintf(token, sizeof(token), "/%zu", i));
}

void fault_join(struct fault *f, const struct fault *inner)
{
	append(f, inner->pointer, strlen(inner->pointer));
	f->expected = inner->expected;
}

bool fault_at(struct fault *f, const char *key, const char *expected)
{
	if (key != NULL)
		fault_point(f, key);
	f->expected = expected;
	return false;
}
