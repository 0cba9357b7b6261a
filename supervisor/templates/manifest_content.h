/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_content.h - what a manifest offers to read: resources, prompts. */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_CONTENT_H
#define SUPERVISOR_TEMPLATES_MANIFEST_CONTENT_H

#include <json-c/json.h>

#include "supervisor/package/diagnostics.h"
#include "supervisor/templates/template.h"

/*
 * Check what the schema of the manifest, which MANIFEST fits there, cannot say
 * of its resources, or of its prompts. 0, or -EINVAL with errors in F.
 */
int manifest_content_resources(struct template *t, struct json_object *manifest,
			       struct diagnostics *f);
int manifest_content_prompts(struct template *t, struct json_object *manifest,
			     struct diagnostics *f);

#endif
