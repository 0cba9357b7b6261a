/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostics.h - lists the faults of a template package with their places: all
 * faults, not just the first.
 */
#ifndef SUPERVISOR_PACKAGE_DIAGNOSTICS_H
#define SUPERVISOR_PACKAGE_DIAGNOSTICS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "proto/json/json.h"

/* how many are kept; beyond that the list only says: more */
#define DIAGNOSTICS_MAX 100

/* An error keeps the package from being used, or its runs from succeeding. */
enum diagnostic_level { DIAGNOSTIC_ERROR, DIAGNOSTIC_WARNING };

struct diagnostic {
	enum diagnostic_level level;
	char *file;    /* a file of the package; NULL: the package itself */
	char *pointer; /* JSON Pointer into file; NULL: not JSON */
	bool name;     /* about the member's name, not its value */
	size_t line, column; /* place from 1, in characters; 0: unknown */
	char *text;	     /* a sentence for people */
};

/* An empty list is all zeros, as diagnostics_fini() leaves it. */
struct diagnostics {
	struct diagnostic *all; /* owned */
	size_t n;
	bool more;
	/* the diagnostic added just now; NULL: it was dropped */
	struct diagnostic *last;
};

void diagnostics_fini(struct diagnostics *f);

/*
 * Add a diagnostic in FILE at POINTER (both copied, both may be NULL), unless
 * the list has the same already. The text may quote untrusted text: errmsg.h
 * cleans it. Returns -EINVAL, so that a check can return the result.
 */
int diagnostics_add(struct diagnostics *f, enum diagnostic_level level,
		    const char *file, const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Mark the diagnostic added just now as about the member's name; -EINVAL. */
int diagnostics_of_name(struct diagnostics *f);
/* Set the place of the diagnostic added just now; -EINVAL. */
int diagnostics_at(struct diagnostics *f, size_t line, size_t column);

/* Add that FILE's TEXT (LEN bytes) is no JSON, by ERR; -EINVAL. */
int diagnostics_not_json(struct diagnostics *f, const char *file,
			 const char *text, size_t len,
			 const struct json_error *err);

/* Find the places in FILE, whose TEXT (LEN bytes) is JSON by json_parse(). */
void diagnostics_place(struct diagnostics *f, const char *file,
		       const char *text, size_t len);

/* Sort: errors before warnings, then in the order of the files. */
void diagnostics_sort(struct diagnostics *f);
size_t diagnostics_errors(const struct diagnostics *f);

/*
 * Write the first error, and how many errors follow, to ERRMSG (SIZE bytes):
 * "template.json:3:7: the value found, a value that would pass
 * (/json/pointer)".
 */
void diagnostics_first(const struct diagnostics *f, char *errmsg, size_t size);

/*
 * Return [{severity, file?, line?, column?, pointer?, message}]: the caller's.
 */
struct json_object *diagnostics_json(const struct diagnostics *f);

#endif
