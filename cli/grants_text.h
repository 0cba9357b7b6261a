/* SPDX-License-Identifier: Apache-2.0 */
/* grants_text.h - what a template asks for and is granted, for people. */
#ifndef CLI_GRANTS_TEXT_H
#define CLI_GRANTS_TEXT_H

#include <json-c/json.h>
#include <stdbool.h>

/*
 * "Asks for:" and a line for each thing, on stdout, of a template's
 * permissions as list_task_templates has them; and what would grant what is
 * missing. NULL is fine: it asks for nothing.
 */
void grant_show(struct json_object *permissions);

/* The lines that would grant what is missing; nothing when nothing is. */
void grant_show_missing(struct json_object *permissions);

/* Is anything that it asks for not granted? */
bool grant_is_missing(struct json_object *permissions);

#endif
