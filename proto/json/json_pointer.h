/* SPDX-License-Identifier: Apache-2.0 */
/* json_pointer.h - JSON Pointers (RFC 6901) as a walk goes down and up again, and read. */
#ifndef PROTO_JSON_JSON_POINTER_H
#define PROTO_JSON_JSON_POINTER_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Add TOKEN, a name or an index, to P; one with no more room cuts it. What is
 * returned json_pointer_pop() takes, to be where it was before.
 */
size_t json_pointer_push(struct buf *p, const char *token);
size_t json_pointer_push_index(struct buf *p, size_t i);
void json_pointer_pop(struct buf *p, size_t before);

/* POINTER's member TOKEN; the caller's. */
char *json_pointer_below(const char *pointer, const char *token);

/* The token whose "/" *POINTER is at, which moves past it; the caller's. */
char *json_pointer_token(const char **pointer);

#endif
