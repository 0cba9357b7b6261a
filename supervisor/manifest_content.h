/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_content.h - what a manifest offers to read: resources, prompts. */
#ifndef SUPERVISOR_MANIFEST_CONTENT_H
#define SUPERVISOR_MANIFEST_CONTENT_H

#include <json-c/json.h>
#include <stddef.h>

/*
 * Check what the schema of the manifest, which MANIFEST fits, cannot say of
 * its resources and prompts. 0, or -EINVAL with WHY (SIZE bytes).
 */
int manifest_content_check(struct json_object *manifest, char *why,
			   size_t size);

#endif
