/* SPDX-License-Identifier: Apache-2.0 */
/* semver.h - versions by Semantic Versioning 2.0.0, https://semver.org. */
#ifndef SUPERVISOR_TEMPLATES_SEMVER_H
#define SUPERVISOR_TEMPLATES_SEMVER_H

#include <stdbool.h>
#include <stdint.h>

struct semver {
	uint64_t major, minor, patch;
	const char *pre; /* borrowed: after '-', up to '+'; NULL: a release */
};

/* Parse (false: TEXT is no version), and compare as strcmp(3). */
bool semver_parse(struct semver *out, const char *text);
int semver_cmp(const struct semver *a, const struct semver *b);
/* Does V satisfy RANGE: an exact version, or a caret range ("^1.2")? */
bool semver_in(const struct semver *v, const char *range);

#endif
