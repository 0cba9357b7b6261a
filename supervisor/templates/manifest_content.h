/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_content.h - what a manifest offers to read: resources, prompts. */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_CONTENT_H
#define SUPERVISOR_TEMPLATES_MANIFEST_CONTENT_H

#include <json-c/json.h>

#include "supervisor/package/diagnostics.h"

/*
 * Check what the schema of the manifest, which MANIFEST fits there, cannot say
 * of its resources, or of its prompts. 0, or -EINVAL with errors of FILE in F.
 */
int manifest_content_resources(struct json_object *manifest, const char *file,
			       struct diagnostics *f);
int manifest_content_prompts(struct json_object *manifest, const char *file,
			     struct diagnostics *f);

#endif
