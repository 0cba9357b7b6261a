/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy.h - hints in terms of this command's flags and of keys of files. The
 * caller frees each text of a remedy_ function.
 */
#ifndef CLI_REMEDY_H
#define CLI_REMEDY_H

#include <json-c/json.h>

/*
 * Return "it needed 3 artifacts and may have 2", for the DETAILS of an error
 * about a limit; NULL: another error. A run is ended at its limit of memory, so
 * for memory the text is "it reached 8.5 MiB of memory and may have 8 MiB".
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
	const char *key; /* raises the limit for a template; NULL: no limit */
};

/*
 * Return the meaning of the first known complaint in TEXT, the end of a
 * program's standard error; or NULL.
 */
const struct cage_hints *cage_hints(const char *text);

#endif
