/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - lists of words with blanks between them: those of paddock.conf,
 * which are kept as they are written, and those of our own tables. Nothing
 * here fails; an empty list has no words.
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
