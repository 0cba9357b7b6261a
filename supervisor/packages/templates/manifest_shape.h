/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_shape.h - does a manifest fit the schema of manifests? */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_SHAPE_H
#define SUPERVISOR_TEMPLATES_MANIFEST_SHAPE_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/schema/schema.h"
#include "supervisor/packages/package/diagnostics.h"

/* Return the schema of the manifest, as text; lives as long as the program. */
const char *manifest_schema_text(size_t *len);

/* Add each error of M, any JSON, against the schema to F. */
void manifest_shape_check(struct json_object *m, struct diagnostics *f);

/*
 * Is the required member KEY missing in M? Call after manifest_shape_check().
 */
bool manifest_shape_lacks(struct json_object *m, const char *key);

/* Add ERR, of the value at the JSON Pointer AT, to F as a sentence; -EINVAL. */
int manifest_shape_fail(struct diagnostics *f, const char *at,
			const struct schema_error *err);

#endif
