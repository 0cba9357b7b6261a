/* SPDX-License-Identifier: Apache-2.0 */
/* pointer_error.h - where something is not what it should be, and what would pass. */
#ifndef PROTO_MCP_POINTER_ERROR_H
#define PROTO_MCP_POINTER_ERROR_H

#include <stdbool.h>
#include <stddef.h>

struct pointer_error {
	char pointer[256];    /* JSON Pointer (RFC 6901); "": the whole */
	const char *expected; /* static */
};

/* Append "/KEY", escaped, or "/I"; what does not fit is left out. */
void pointer_error_point(struct pointer_error *f, const char *key);
void pointer_error_index(struct pointer_error *f, size_t i);

/* F is where INNER's pointer starts: make it point on, and expect, as INNER. */
void pointer_error_join(struct pointer_error *f,
			const struct pointer_error *inner);

/* Point at KEY (NULL: at what F points at now); false. */
bool pointer_error_at(struct pointer_error *f, const char *key,
		      const char *expected);

#endif
