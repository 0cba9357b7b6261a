/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - the words of a configuration: lists of them, and what a requestor
 * may be called, and a question.
 */
#ifndef BASE_TEXT_WORDS_H
#define BASE_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The next word of *LIST (NULL: an empty one), which moves on behind it, and
 * its length in *N; NULL: there are no more.
 */
const char *words_next(const char **list, size_t *n);
/* Is WORD one of LIST's? */
bool words_have(const char *list, const char *word);

#define REQUESTOR_NAME_MAX 32
/* For messages: what would pass. */
#define REQUESTOR_NAME_RULE "1 to 32 of A-Z a-z 0-9 . _ @ -"

/* The N bytes at NAME. "uid:N" is none: ':' stays for the server's own. */
bool requestor_name_ok(const char *name, size_t n);

/* What a template calls a question of its own: MCP 2026-07-28 shows it. */
#define QUESTION_KEY_MAX 64
#define QUESTION_KEY_RULE "1 to 64 of A-Z a-z 0-9 _ . -"

/* The N bytes at KEY. */
bool question_key_ok(const char *key, size_t n);

#endif
