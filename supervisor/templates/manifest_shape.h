/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_shape.h - does a manifest fit the schema of manifests? */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_SHAPE_H
#define SUPERVISOR_TEMPLATES_MANIFEST_SHAPE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/schema/schema.h"
#include "supervisor/package/diagnostics.h"

/* The schema of the manifest, as text; it lives as long as the program. */
const char *manifest_schema_text(size_t *len);

/* Add each error that the schema has of M, any JSON, to F. */
void manifest_shape_check(struct json_object *m, struct diagnostics *f);

/* Must M have a member KEY that it lacks? After the above. */
bool manifest_shape_lacks(struct json_object *m, const char *key);

/* Add ERR, of what is at the JSON Pointer AT, to F as a sentence; -EINVAL. */
int manifest_shape_fail(struct diagnostics *f, const char *at,
			const struct schema_error *err);

#endif
