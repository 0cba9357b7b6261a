/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a template.json: a template that is whole, or a reason. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "supervisor/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[200] = "";
	struct template *t =
	    manifest_parse((const char *)data, size, why, sizeof(why));

	if (t == NULL) {
		assert(strncmp(why, "template.json#", 14) == 0);
		return 0;
	}
	assert(t->id != NULL && strlen(t->id) <= 64 && t->inputs != NULL);
	assert(manifest_path_ok(t->entry));
	assert(t->trust != 0 && t->limits.timeout_ms != 0);
	(void)template_auto_async(t, t->manifest);
	template_unref(t);
	return 0;
}
