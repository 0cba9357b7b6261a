/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - a host and a port, as requests name them. Pure. */
#ifndef EGRESS_PARSE_PLACE_H
#define EGRESS_PARSE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#define PLACE_TEXT_MAX 272 /* bytes of a place as text, with NUL */

struct place {
	char host
	    [256]; /* a name in lower case, or an address without brackets */
	unsigned port;
	bool literal; /* an address */
};

/*
 * Read "HOST:PORT", or HOST alone where FALLBACK, a port, is not 0. False: a place that
 * is written in no way, or in a rare one (a user, a number for an address, a zone).
 */
bool place_parse(struct place *at, const char *text, size_t n,
		 unsigned fallback);
/* Write "HOST", and ":PORT" unless PORT is USUAL, with brackets where needed. */
void place_text(char text[PLACE_TEXT_MAX], const struct place *at,
		unsigned usual);

#endif
