/* SPDX-License-Identifier: Apache-2.0 */
/* pointer_error.h - the place of a wrong value in JSON, and what would pass. */
#ifndef PROTO_MCP_POINTER_ERROR_H
#define PROTO_MCP_POINTER_ERROR_H

#include <stdbool.h>
#include <stddef.h>

struct pointer_error {
	char pointer[256];    /* JSON Pointer (RFC 6901); "": the root */
	const char *expected; /* the expected value in words, static */
};

/* Append "/KEY", escaped, or "/I"; a token that does not fit is left out. */
void pointer_error_point(struct pointer_error *f, const char *key);
void pointer_error_index(struct pointer_error *f, size_t i);

/* Append INNER's pointer to F's, and copy what INNER expects. */
void pointer_error_join(struct pointer_error *f,
			const struct pointer_error *inner);

/* Point at KEY (NULL: at F's present place), set EXPECTED, return false. */
bool pointer_error_at(struct pointer_error *f, const char *key,
		      const char *expected);

#endif
