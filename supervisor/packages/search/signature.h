/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.h - a JSON Schema as a short type in the manner of TypeScript, for
 * models: {text: string; limit?: integer}, with a line for each property.
 */
#ifndef SUPERVISOR_SEARCH_SIGNATURE_H
#define SUPERVISOR_SEARCH_SIGNATURE_H

#include <json-c/json.h>
#include <stddef.h>

/* bytes of a signature, which is made plainer to fit */
#define SIGNATURE_MAX ((size_t)2000)

/*
 * Return the signature of SCHEMA, which may be any JSON: at most SIGNATURE_MAX
 * bytes of UTF-8 without control characters but line ends. What has no room is
 * left out, first comments, then the inner objects, then the last properties;
 * an ellipsis stands in place of the properties. The caller frees the text.
 */
char *signature_of(struct json_object *schema);

#endif
