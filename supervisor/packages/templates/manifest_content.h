/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_content.h - checks a manifest's content: resources, prompts. */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_CONTENT_H
#define SUPERVISOR_TEMPLATES_MANIFEST_CONTENT_H

#include <json-c/json.h>

#include "supervisor/packages/package/diagnostics.h"
#include "supervisor/packages/templates/template.h"

/*
 * Check MANIFEST's resources, or prompts, beyond the manifest's schema, to
 * which both conform. 0, or -EINVAL with errors in F.
 */
int manifest_content_resources(struct template *t, struct json_object *manifest,
			       struct diagnostics *f);
int manifest_content_prompts(struct template *t, struct json_object *manifest,
			     struct diagnostics *f);

#endif
