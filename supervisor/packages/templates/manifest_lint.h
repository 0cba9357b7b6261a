/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_lint.h - warns of parts of a manifest that are allowed and better
 * avoided.
 */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_LINT_H
#define SUPERVISOR_TEMPLATES_MANIFEST_LINT_H

#include <json-c/json.h>

#include "supervisor/packages/package/diagnostics.h"

/*
 * Add the oddities in the schemas of MANIFEST, any JSON, to F: warnings, and
 * errors that manifest_parse(), called before, leaves for later.
 */
void manifest_lint(struct json_object *manifest, struct diagnostics *f);

#endif
