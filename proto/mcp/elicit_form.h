/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elicit_form.h - what may be asked of a person: the requestedSchema of an
 * elicitation (MCP 2025-11-25, client/elicitation). A flat object of strings,
 * numbers, booleans and choices, and no secrets.
 */
#ifndef PROTO_MCP_ELICIT_FORM_H
#define PROTO_MCP_ELICIT_FORM_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/pointer_error.h"

/*
 * Is SCHEMA one that clients can show as a form? False: *F says where not.
 * A default has to be one that the property itself takes.
 */
bool elicit_form_check(struct json_object *schema, struct pointer_error *f);

/* Bounds: it is to be read and filled in by somebody. */
#define ELICIT_FORM_PROPERTIES_MAX 100
#define ELICIT_FORM_CHOICES_MAX 1000 /* of all properties together */
#define ELICIT_FORM_DEFAULTS_MAX 100 /* choices that are made already, of one */

/*
 * The first property of SCHEMA, which elicit_form_check() passed, whose kind clients
 * before 2025-11-25 do not know: titled or multiple choice. Borrowed, or NULL.
 */
const char *elicit_form_newer(struct json_object *schema);

#endif
