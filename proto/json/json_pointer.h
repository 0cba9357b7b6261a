/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_pointer.h - JSON Pointers (RFC 6901): extended and cut as a walk goes
 * down and up, and read token by token.
 */
#ifndef PROTO_JSON_JSON_POINTER_H
#define PROTO_JSON_JSON_POINTER_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Add TOKEN, a name or an index, to P; a full P cuts the token. Return the old
 * length of P; json_pointer_pop() takes it and restores P.
 */
size_t json_pointer_push(struct buf *p, const char *token);
size_t json_pointer_push_index(struct buf *p, size_t i);
void json_pointer_pop(struct buf *p, size_t before);

/* Return POINTER with TOKEN added; the caller owns the text. */
char *json_pointer_below(const char *pointer, const char *token);

/*
 * Return the token behind the "/" at *POINTER, unescaped, which the caller
 * owns; *POINTER moves past the token.
 */
char *json_pointer_token(const char **pointer);

#endif
