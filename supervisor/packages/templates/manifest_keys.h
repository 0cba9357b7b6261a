/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_keys.h - finds keys of the manifest unknown to the schema. */
#ifndef SUPERVISOR_TEMPLATES_MANIFEST_KEYS_H
#define SUPERVISOR_TEMPLATES_MANIFEST_KEYS_H

#include <json-c/json.h>

#include "supervisor/packages/package/diagnostics.h"

/*
 * Walk VALUE beside SCHEMA (its properties, items and additionalProperties). 0,
 * or -EINVAL with an error of FILE in F for each member where SCHEMA allows no
 * additional members: "unknown key "limitz"; did you mean "limits"?".
 */
int manifest_keys_check(struct json_object *schema, struct json_object *value,
			const char *file, struct diagnostics *f);

#endif
