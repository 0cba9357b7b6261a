/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elicit_form.h - forms for a person: the requestedSchema of an elicitation
 * (MCP 2025-11-25, client/elicitation). A form is a flat object of strings,
 * numbers, booleans and choices, without secrets.
 */
#ifndef PROTO_MCP_ELICIT_FORM_H
#define PROTO_MCP_ELICIT_FORM_H

#include <json-c/json.h>
#include <stdbool.h>

#include "proto/mcp/pointer_error.h"

/*
 * Can clients show SCHEMA as a form? False: *F says where not. A default has to
 * be a value that the property takes.
 */
bool elicit_form_check(struct json_object *schema, struct pointer_error *f);

/* Bounds: a person reads the form and fills it in. */
#define ELICIT_FORM_PROPERTIES_MAX 100
#define ELICIT_FORM_CHOICES_MAX 1000 /* choices of all properties together */
/* choices in the default of one property */
#define ELICIT_FORM_DEFAULTS_MAX 100

/*
 * Return the first property of SCHEMA, which elicit_form_check() passed, of a
 * kind unknown to clients before 2025-11-25 (titled or multiple choice).
 * Borrowed, or NULL.
 */
const char *elicit_form_newer(struct json_object *schema);

#endif
