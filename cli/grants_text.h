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
void grants_text_print(struct json_object *permissions);

/* The lines that would grant what is missing; nothing when nothing is. */
void grants_text_print_missing(struct json_object *permissions);

/* Is anything that it asks for not granted? */
bool grants_text_is_missing(struct json_object *permissions);

#endif
