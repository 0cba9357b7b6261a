/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - words of a configuration: lists, and the legal names of requestors
 * and questions.
 */
#ifndef BASE_TEXT_WORDS_H
#define BASE_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Return the next word of *LIST (NULL: an empty list), with its length in *N;
 * *LIST moves past the word. NULL: there are no more.
 */
const char *words_next(const char **list, size_t *n);
/* Is WORD in LIST? */
bool words_have(const char *list, const char *word);

#define REQUESTOR_NAME_MAX 32
/* The legal names, for messages. */
#define REQUESTOR_NAME_RULE "1 to 32 of A-Z a-z 0-9 . _ @ -"

/*
 * Is the NAME of N bytes legal? "uid:N" is not: ':' is for the server's own
 * names.
 */
bool requestor_name_ok(const char *name, size_t n);

/* A template's key of a question, which MCP 2026-07-28 shows. */
#define QUESTION_KEY_MAX 64
#define QUESTION_KEY_RULE "1 to 64 of A-Z a-z 0-9 _ . -"

/* Is the KEY of N bytes legal? */
bool question_key_ok(const char *key, size_t n);

#endif
