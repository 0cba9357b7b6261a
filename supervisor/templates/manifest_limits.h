/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_limits.h - what a manifest says that its runs may use. */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_LIMITS_H
#define SUPERVISOR_TEMPLATES_MANIFEST_LIMITS_H

#include <json-c/json.h>

#include "supervisor/package/diagnostics.h"
#include "supervisor/templates/template.h"

/*
 * T's limits and permissions from MANIFEST, which fits its schema there. 0, or
 * -EINVAL with errors in F. Permissions come after the limits, which they lower.
 */
int manifest_limits_read(struct template *t, struct json_object *manifest,
			 struct diagnostics *f);
int manifest_permissions_read(struct template *t, struct json_object *manifest,
			      struct diagnostics *f);

#endif
