/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_limits.h - reads a manifest's limits and permissions. */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_LIMITS_H
#define SUPERVISOR_TEMPLATES_MANIFEST_LIMITS_H

#include <json-c/json.h>

#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/packages/templates/template.h"

/*
 * Read T's limits, and permissions, from MANIFEST, whose shape is good. 0, or
 * -EINVAL with errors in F. Call for permissions after limits, which
 * permissions lower.
 */
int manifest_limits_read(struct template *t, struct json_object *manifest,
			 struct diagnostics *f);
int manifest_permissions_read(struct template *t, struct json_object *manifest,
			      struct diagnostics *f);

#endif
