/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - words as paddock.conf and our own tables have them: lists with
 * blanks between, kept as they are written, and the names of requestors, for
 * "paddock token" too. It only looks; its callers refuse.
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

static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-";

bool requestor_name_ok(const char *name, size_t n)
{
	if (n == 0 || n > REQUESTOR_NAME_MAX)
		return false;
	for (size_t i = 0; i < n; i++)
		if (memchr(letters, name[i], sizeof(letters) - 1) == NULL)
			return false;
	return true;
}
