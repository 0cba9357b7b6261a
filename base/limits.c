/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - the rows of limits.def as a table, found by a limit's number or
 * name: the server asks for its error details, the command to explain a limit.
 * An unknown name is not an error here.
 */
#include "base/limits.h"

#include <stddef.h>
#include <string.h>

const struct limit_info limit_info[LIMITS] = {
#define OF_RUN false
#define OF_PROGRAM true
#define LIMIT(id, field, max, name, unit, manifest, of, raised_by, type,       \
	      least, most, usual, allowed, help, noun, what)                   \
	{name,	  unit, manifest, "max_" #max, "default_" #field,              \
	 OF_##of, noun, what},
#include "base/limits.def"
};

const struct limit_info *limit_find(const char *name)
{
	for (size_t i = 0; name != NULL && i < LIMITS; i++)
		if (strcmp(limit_info[i].name, name) == 0)
			return &limit_info[i];
	return NULL;
}
