/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - the limits of a run, by the table limits.def. */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum limit {
#define LIMIT(id, ...) LIMIT_##id,
#include "base/limits.def"
	LIMITS
};

/* The limits that a program's sandbox applies, beside time and memory. */
struct program_limits {
#define OF_RUN(field)
#define OF_PROGRAM(field) uint64_t field;
#define LIMIT(id, field, max, name, unit, manifest, of, ...) OF_##of(field)
#include "base/limits.def"
#undef OF_RUN
#undef OF_PROGRAM
};

struct limit_info {
	const char *name, *unit;	   /* the name and unit in an error's
					      details */
	const char *manifest;		   /* the key in a manifest's limits */
	const char *max_key, *default_key; /* the keys in [limits] of
					      paddock.conf */
	bool of_programs;		   /* Lua has no such limit */
	const char *noun, *what;	   /* the words for people:
					      limits.def */
};

extern const struct limit_info limit_info[LIMITS];

/* Return the limit called NAME, or NULL. */
const struct limit_info *limit_find(const char *name);

#endif
