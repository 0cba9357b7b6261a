/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_lacked.c - notes permissions that a run was refused, as {KEY: [WORD, ...]} for the
 * view. The refusing modules call grants_lacked_add(). A template chooses the words, so
 * number and length are bounded; further words are left out.
 */
#include "supervisor/packages/grants/grants_lacked.h"

#include <string.h>

#include "proto/json/json.h"

#define WORDS_MAX 32 /* of a kind */
#define WORD_MAX 512 /* bytes */

static bool has_word(struct json_object *list, const char *word)
{
	json_each(one, list)
		if (strcmp(json_object_get_string(one), word) == 0)
			return true;
	return false;
}

void grants_lacked_add(struct json_object **lacked, const char *key,
		       const char *word)
{
	struct json_object *list;

	if (strlen(word) > WORD_MAX)
		return;
	if (*lacked == NULL)
		*lacked = json_object_new_object();
	list = json_member(*lacked, key);
	if (list == NULL) {
		list = json_object_new_array();
		json_object_object_add(*lacked, key, list);
	}
	if (json_object_array_length(list) < WORDS_MAX && !has_word(list, word))
		json_object_array_add(list, json_text_new(word));
}
