/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mask.h - finds secret texts in a stream, however the stream is cut, and writes
 * asterisks over them: also over the forms in base64, in hexadecimal and with escapes.
 */
#ifndef EGRESS_PARSE_MASK_H
#define EGRESS_PARSE_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct mask {
	size_t n;
	struct needle {
		char *p;
		size_t n;
		bool any_case;
	} * all;
	size_t longest;
};

/* Add all forms of a secret of N bytes, 8 or more. */
void mask_add(struct mask *m, const char *secret, size_t n);
void mask_fini(struct mask *m); /* overwrites the needles */

/* Mask the N bytes at P. */
void mask_whole(const struct mask *m, char *p, size_t n);
/*
 * Mask a stream: add N bytes to HELD, and return how many bytes at HELD's front are ready
 * to go on. LAST: no more will come, and all are ready.
 */
size_t mask_stream(const struct mask *m, struct buf *held, const char *p,
		   size_t n, bool last);

#endif
