/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a template.json: the result must be a complete template, or a reason.
 */
#include "tests/fuzz/fuzz.h"
#include "proto/json/json.h"
#include "base/os/nofollow.h"
#include "supervisor/packages/package/package.h"
#include "supervisor/packages/templates/manifest.h"
#include "supervisor/packages/templates/manifest_lint.h"

/* The lint's diagnostics must each point to a place in the text as well. */
static void lint(const char *text, size_t len, struct diagnostics *f)
{
	struct json_object *tree = NULL;

	if (json_parse(&tree, text, len, NULL) < 0)
		return;
	manifest_lint(tree, f);
	diagnostics_place(f, MANIFEST_FILE, text, len);
	diagnostics_sort(f);
	for (size_t i = 0; i < f->n; i++)
		assert(f->all[i].line > 0 && f->all[i].column > 0);
	json_object_put(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diagnostics f = {0};
	struct template *t = manifest_parse((const char *)data, size, &f);
	char errmsg[200];

	assert((t == NULL) == (diagnostics_errors(&f) > 0));
	diagnostics_sort(&f);
	diagnostics_first(&f, errmsg, sizeof(errmsg));
	for (size_t i = 0; i < f.n; i++) {
		assert(strcmp(f.all[i].file, MANIFEST_FILE) == 0);
		assert(f.all[i].line > 0 && f.all[i].column > 0);
		assert(f.all[i].line <= size + 1 &&
		       f.all[i].column <= size + 1);
	}
	lint((const char *)data, size, &f);
	diagnostics_fini(&f);
	if (t == NULL) {
		assert(strncmp(errmsg, MANIFEST_FILE ":", 14) == 0);
		return 0;
	}
	assert(t->id != NULL && strlen(t->id) <= 64 && t->inputs != NULL);
	assert(nofollow_is_plain(t->entry));
	assert(t->trust != 0 && t->limits.timeout_ms != 0);
	(void)template_auto_async(t, t->manifest);
	template_unref(t);
	return 0;
}
