/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_keys.h - keys of the manifest that its schema does not know. */
#ifndef SUPERVISOR_MANIFEST_KEYS_H
#define SUPERVISOR_MANIFEST_KEYS_H

#include <json-c/json.h>
#include <stddef.h>

/*
 * Walk VALUE beside SCHEMA (its properties, items and additionalProperties).
 * 0, or -EINVAL for the first member where SCHEMA closes its object to others,
 * with WHY: "template.json#/pointer: unknown key; did you mean …".
 */
int manifest_keys_check(struct json_object *schema, struct json_object *value,
			char *why, size_t size);

#endif
