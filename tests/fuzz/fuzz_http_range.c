/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as Range: what is told lies in the file. The first byte is its size. */
#include "tests/fuzz/fuzz.h"
#include "supervisor/clients/http/http_field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t of, at = 0, n = 0;
	char *text;

	if (size == 0)
		return 0;
	text = calloc(1, size);
	if (text == NULL)
		return 0;
	memcpy(text, data + 1, size - 1);
	of = data[0] == UINT8_MAX ? INT64_MAX : data[0];
	if (http_range(text, of, &at, &n) == 0)
		assert(at >= 0 && n > 0 && n <= of && at <= of - n);
	free(text);
	return 0;
}
