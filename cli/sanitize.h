/* SPDX-License-Identifier: Apache-2.0 */
/* sanitize.h - untrusted text for a terminal: nothing in it may act. */
#ifndef CLI_SANITIZE_H
#define CLI_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The code point at P (N > 0 bytes), its length in *LEN; -1: not UTF-8. */
int32_t sanitize_point(const char *p, size_t n, size_t *len);

/* What does not show itself: base/text/utf8.h. */
bool sanitize_acts(int32_t point);

/*
 * Append N bytes of S: what acts and what is not UTF-8 becomes '?', line
 * breaks and tabs a blank. At most COLUMNS wide; cut, it ends in "…".
 */
void sanitize_add(struct buf *out, const char *s, size_t n, size_t columns);
#define SANITIZE_NO_LIMIT ((size_t)-1)

/* How many columns S, which is clean, takes. */
size_t sanitize_width(const char *s, size_t n);

#endif
