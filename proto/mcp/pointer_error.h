/* SPDX-License-Identifier: Apache-2.0 */
/* pointer_error.h - where something is not what it should be, and what would pass. */
#ifndef PROTO_MCP_POINTER_ERROR_H
#define PROTO_MCP_POINTER_ERROR_H

#include <stdbool.h>
#include <stddef.h>

struct fault {
	char pointer[256];    /* JSON Pointer (RFC 6901); "": the whole */
	const char *expected; /* static */
};

/* Append "/KEY", escaped, or "/I"; what does not fit is left out. */
void fault_point(struct fault *f, const char *key);
void fault_index(struct fault *f, size_t i);

/* F is where INNER's pointer starts: make it point on, and expect, as INNER. */
void fault_join(struct fault *f, const struct fault *inner);

/* Point at KEY (NULL: at what F points at now); false. */
bool fault_at(struct fault *f, const char *key, const char *expected);

#endif
