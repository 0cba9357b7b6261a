/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the end of what a program wrote: what is found is a plain name. */
#include "tests/fuzz/fuzz.h"
#include "base/text/missing_module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char cure[MISSING_MODULE_CURE_MAX];
	struct missing_module m;

	if (!missing_module_find((const char *)data, size, &m))
		return 0;
	assert(m.name[0] != '\0' && m.name[0] != '/' && m.name[0] != '.');
	for (const char *p = m.name; *p != '\0'; p++)
		assert(*p > ' ' && *p < 0x7f && *p != '\'' && *p != '"');
	missing_module_cure(&m, cure);
	assert(strlen(cure) < sizeof(cure) - 1);
	return 0;
}
