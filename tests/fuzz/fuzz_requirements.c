/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as requirements.txt: what is left of a lock is lines of printable
 * ASCII, which are a lock again, and the same.
 */
#include "tests/fuzz/fuzz.h"
#include "base/text/requirements.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = {0}, again = {0};
	char errmsg[256] = "";
	size_t line = 0;

	if (requirements_parse((const char *)data, size, &out, &line, errmsg,
			       sizeof(errmsg)) < 0) {
		assert(line >= 1 && errmsg[0] != '\0');
		buf_fini(&out);
		return 0;
	}
	for (size_t i = 0; i < buf_len(&out); i++) {
		char c = buf_data(&out)[i];

		assert(c == '\n' || (c >= ' ' && c <= '~' && c != '\\'));
	}
	assert(requirements_parse(buf_data(&out), buf_len(&out), &again, &line,
				  errmsg, sizeof(errmsg)) == 0);
	assert(buf_len(&again) == buf_len(&out) &&
	       (buf_len(&out) == 0 ||
		memcmp(buf_data(&again), buf_data(&out), buf_len(&out)) == 0));
	buf_fini(&out);
	buf_fini(&again);
	return 0;
}
