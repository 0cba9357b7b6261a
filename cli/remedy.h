/* SPDX-License-Identifier: Apache-2.0 */
/* remedy.h - what would help, in flags of this command and keys of files. */
#ifndef CLI_REMEDY_H
#define CLI_REMEDY_H

#include <json-c/json.h>

/*
 * "it needed 8.5 MiB of memory and may have 7.6 MiB", from the DETAILS of a
 * limit; NULL: they are of none. The caller's, as all of these are.
 */
char *remedy_limit(struct json_object *details);
/* "the operator can raise it: max_cpu_ms in [limits]"; NULL: nobody is named. */
char *remedy_who(struct json_object *details);

/*
 * What the user of this command can do about CODE. ABOUT is the template or
 * the run that it was of; NULL: neither is known. NULL: nothing is known.
 */
char *remedy_hint(const char *code, struct json_object *details,
		  const char *about);

struct cage_hints {
	const char *errmsg, *help; /* sentences; static */
};

/* The first meaning of TEXT, the end of a program's standard error; or NULL. */
const struct cage_hints *cage_hints(const char *text);

#endif
