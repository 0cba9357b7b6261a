/* SPDX-License-Identifier: Apache-2.0 */
/* search_chars.h - what a character is to the words of a search. */
#ifndef SUPERVISOR_SEARCH_SEARCH_CHARS_H
#define SUPERVISOR_SEARCH_SEARCH_CHARS_H

#include <stddef.h>
#include <stdint.h>

enum search_char {
	SEARCH_PARTS,	/* parts words: a space, punctuation, a symbol */
	SEARCH_HYPHEN,	/* parts the words of a name: - and _ */
	SEARCH_SKIPPED, /* is left out: an accent, an apostrophe */
	SEARCH_UPPER,
	SEARCH_LOWER, /* a letter, of a script with cases or without */
	SEARCH_DIGIT,
	SEARCH_PAIRED, /* of a script without spaces between words */
};

#define SEARCH_CHAR_MAX 4 /* bytes of a folded character */

/*
 * Return what POINT is; OUT gets the N bytes by which POINT is compared, with
 * nothing behind them.
 */
enum search_char search_char_of(int32_t point, char out[SEARCH_CHAR_MAX],
				size_t *n);

#endif
