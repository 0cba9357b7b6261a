/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - words of paddock.conf and of our own tables: lists separated by
 * blanks, names of requestors (also for "paddock token"), and keys of a
 * template's questions. Nothing is refused here: the callers refuse.
 */
#include "base/text/words.h"

#include <string.h>

#define BLANKS " \t"

const char *words_next(const char **list, size_t *n)
{
	const char *word = *list;

	if (word == NULL)
		return NULL;
	word += strspn(word, BLANKS);
	*n = strcspn(word, BLANKS);
	*list = word + *n;
	return *n > 0 ? word : NULL;
}

bool words_have(const char *list, const char *word)
{
	size_t len = strlen(word), n;
	const char *w;

	while ((w = words_next(&list, &n)) != NULL)
		if (n == len && memcmp(w, word, n) == 0)
			return true;
	return false;
}

/* Is P 1 to MAX bytes long, and only of LETTERS? */
static bool consists_of(const char *p, size_t n, size_t max,
			const char *letters)
{
	size_t i = 0;

	while (i < n && p[i] != '\0' && strchr(letters, p[i]) != NULL)
		i++;
	return n > 0 && n <= max && i == n;
}

#define ALPHANUMERIC                                                           \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

bool requestor_name_ok(const char *name, size_t n)
{
	return consists_of(name, n, REQUESTOR_NAME_MAX, ALPHANUMERIC "._@-");
}

bool question_key_ok(const char *key, size_t n)
{
	return consists_of(key, n, QUESTION_KEY_MAX, ALPHANUMERIC "_.-");
}
