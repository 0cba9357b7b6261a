/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_path_rule.c - a rule, a line break and a path: the form of a path is the form of
 * that form, and no path with a dot segment or an empty segment is in any rule.
 */
#include "tests/fuzz/fuzz.h"
#include "net/host_rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *nl = memchr(text, '\n', size);
	size_t n = nl == NULL ? size : (size_t)(nl - text);
	char canon[HOST_RULE_PATH_MAX], again[HOST_RULE_PATH_MAX];
	struct path_rule rule;
	struct host_rule host;

	(void)host_rule_parse(&host, text, n);
	if (nl == NULL || !host_rule_canon(canon, nl + 1, size - n - 1))
		return 0;
	assert(strstr(canon, "//") == NULL && strstr(canon, "/../") == NULL &&
	       strstr(canon, "/./") == NULL && strchr(canon, '\\') == NULL);
	if (host_rule_canon(again, canon, strlen(canon)))
		assert(strcmp(canon, again) == 0);
	if (path_rule_parse(&rule, text, n) == NULL)
		(void)path_rule_matches(&rule, "GET", canon);
	return 0;
}
