/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy.h - hints in terms of this command's flags and of keys of files. The
 * caller frees each text of a remedy_ function.
 */
#ifndef CLI_REMEDY_H
#define CLI_REMEDY_H

#include <json-c/json.h>

/*
 * Return "it needed 8.5 MiB of memory and may have 7.6 MiB", for the DETAILS of
 * an error about a limit; NULL: another error.
 */
char *remedy_limit(struct json_object *details);
/* Return "the operator can raise it: max_cpu_ms in [limits]"; or NULL. */
char *remedy_who(struct json_object *details);

/*
 * Return advice to the user of this command on the error CODE, or NULL if no
 * hint is known. ABOUT is the template or run in question, or NULL.
 */
char *remedy_hint(const char *code, struct json_object *details,
		  const char *about);

struct cage_hints {
	const char *errmsg, *help; /* sentences; static */
};

/*
 * Return the meaning of the first known complaint in TEXT, the end of a
 * program's standard error; or NULL.
 */
const struct cage_hints *cage_hints(const char *text);

#endif
