/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_words.h - the words of a text in the form in which words are compared:
 * lower case, without accents and common endings, and without words such as
 * "the" that every text has.
 */
#ifndef SUPERVISOR_SEARCH_SEARCH_WORDS_H
#define SUPERVISOR_SEARCH_SEARCH_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define SEARCH_WORD_MAX 64 /* bytes of a word; further bytes do not count */

/*
 * Takes the WORD of N bytes, lent for the call, no NUL at its end; false: no
 * more words are wanted.
 */
typedef bool (*search_words_take)(void *arg, const char *word, size_t n);

/*
 * Give TAKE each word of the LEN bytes at TEXT, in order. A name made of several
 * words (csv_profile, csvProfile, e-mail, sha256) gives these words and the whole
 * name. Writing without spaces between words (Chinese, Japanese, Thai) gives
 * pairs of characters. Bytes that are not UTF-8 part words.
 */
void search_words_each(const char *text, size_t len, search_words_take take,
		       void *arg);

#endif
