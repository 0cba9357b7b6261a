/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grants_text.h - a template's requested and granted permissions, for people.
 */
#ifndef CLI_GRANTS_TEXT_H
#define CLI_GRANTS_TEXT_H

#include <json-c/json.h>
#include <stdbool.h>

/*
 * Print "Asks for:" and a line for each thing on stdout, from a template's
 * permissions as list_task_templates gives them; then the lines that would
 * grant missing permissions. Prints nothing for NULL: the template asks for
 * nothing.
 */
void grants_text_print(struct json_object *permissions);

/* Print the lines of TEXT. A line that cleaning changes becomes a remark. */
void grants_text_lines(const char *text);

/* Is a requested permission not granted? */
bool grants_text_is_missing(struct json_object *permissions);

#endif
