/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnostics.h - what is wrong with a template package, and where: all of it,
 * not just the first.
 */
#ifndef SUPERVISOR_PACKAGE_DIAGNOSTICS_H
#define SUPERVISOR_PACKAGE_DIAGNOSTICS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "proto/json/json.h"

/* are kept; of the rest it is known that there are */
#define DIAGNOSTICS_MAX 100

/* An error keeps the package from being used, or its runs from succeeding. */
enum diagnostic_level { DIAGNOSTIC_ERROR, DIAGNOSTIC_WARNING };

struct diagnostic {
	enum diagnostic_level level;
	char *file;	     /* of the package; NULL: the package itself */
	char *pointer;	     /* JSON Pointer into file; NULL: it is no JSON */
	bool name;	     /* meant is the member's name, not its value */
	size_t line, column; /* from 1, in characters; 0: not known */
	char *text;	     /* one sentence for people */
};

/* All zeros is empty; diagnostics_fini() leaves it so. */
struct diagnostics {
	struct diagnostic *all; /* owned */
	size_t n;
	bool more;
	/* what was added just now; NULL: nothing was */
	struct diagnostic *last;
};

void diagnostics_fini(struct diagnostics *f);

/*
 * One more in FILE at POINTER (both copied, both may be NULL); what is there
 * already is not added again. The text may quote what nobody trusts:
 * errmsg.h cleans it. Returns -EINVAL, so that a check can end with it.
 */
int diagnostics_add(struct diagnostics *f, enum diagnostic_level level,
		    const char *file, const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* What was added just now is about the member's name; -EINVAL. */
int diagnostics_of_name(struct diagnostics *f);
/* What was added just now is there; -EINVAL. */
int diagnostics_at(struct diagnostics *f, size_t line, size_t column);

/* FILE's TEXT (LEN bytes) is no JSON, as ERR says; -EINVAL. */
int diagnostics_not_json(struct diagnostics *f, const char *file,
			 const char *text, size_t len,
			 const struct json_error *err);

/* Find the places in FILE, whose TEXT (LEN bytes) is JSON by json_parse(). */
void diagnostics_place(struct diagnostics *f, const char *file,
		       const char *text, size_t len);

/* Errors first, then warnings, each as they stand in the files. */
void diagnostics_sort(struct diagnostics *f);
size_t diagnostics_errors(const struct diagnostics *f);

/*
 * The first error, and how many more there are, to ERRMSG (SIZE bytes):
 * "template.json:3:7: what came, what would pass (/json/pointer)".
 */
void diagnostics_first(const struct diagnostics *f, char *errmsg, size_t size);

/* [{severity, file?, line?, column?, pointer?, message}]: the caller's. */
struct json_object *diagnostics_json(const struct diagnostics *f);

#endif
