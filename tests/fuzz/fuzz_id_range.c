/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the files of users and groups: the first byte says which. What
 * is picked is free by them and in no other's block.
 */
#include "tests/fuzz/fuzz.h"
#include "base/os/id_range.h"

static bool any(void *arg, uint32_t first)
{
	(void)arg, (void)first;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct id_range_view v = {{NULL}};
	struct id_range_taken t = {.errmsg = ""};
	uint32_t first;
	char *text;

	if (size == 0)
		return 0;
	text = calloc(1, size);
	if (text == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	v.text[data[0] % ID_RANGE_FILES] = text;
	first = id_range_pick(&v, data[0], any, NULL);
	if (first != 0)
		assert(id_range_is_free(&v, first, ID_RANGE_BLOCK, &t));
	first = id_range_spare(&v, &t);
	assert(first == 0 || id_range_is_free(&v, first, 1, &t));
	assert(memchr(t.errmsg, 0, sizeof(t.errmsg)) != NULL);
	free(text);
	return 0;
}
