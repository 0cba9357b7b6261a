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

#define FINDINGS_MAX 100 /* are kept; of the rest it is known that there are */

/* An error keeps the package from being used, or its runs from succeeding. */
enum finding_level { FINDING_ERROR, FINDING_WARNING };

struct finding {
	enum finding_level level;
	char *file;    /* of the package; NULL: the package itself */
	char *pointer; /* JSON Pointer into file; NULL: it is no JSON */
	bool name;     /* meant is the member's name, not its value */
	size_t line, column; /* from 1, in characters; 0: not known */
	char *text;    /* one sentence for people */
};

/* All zeros is empty; findings_fini() leaves it so. */
struct findings {
	struct finding *all; /* owned */
	size_t n;
	bool more;
	struct finding *last; /* what was added just now; NULL: nothing was */
};

void findings_fini(struct findings *f);

/*
 * One more in FILE at POINTER (both copied, both may be NULL); what is there
 * already is not added again. The text may quote what nobody trusts:
 * errmsg.h cleans it. Returns -EINVAL, so that a check can end with it.
 */
int findings_add(struct findings *f, enum finding_level level,
		 const char *file, const char *pointer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* What was added just now is about the member's name; -EINVAL. */
int findings_of_name(struct findings *f);
/* What was added just now is there; -EINVAL. */
int findings_at(struct findings *f, size_t line, size_t column);

/* Find the places in FILE, whose TEXT (LEN bytes) is JSON by json_parse(). */
void findings_place(struct findings *f, const char *file, const char *text,
		    size_t len);

/* Errors first, then warnings, each as they stand in the files. */
void findings_sort(struct findings *f);
size_t findings_errors(const struct findings *f);

/*
 * The first error, and how many more there are, to WHY (SIZE bytes):
 * "template.json:3:7: what came, what would pass (/json/pointer)".
 */
void findings_first(const struct findings *f, char *why, size_t size);

/* [{severity, file?, line?, column?, pointer?, message}]: the caller's. */
struct json_object *findings_json(const struct findings *f);

#endif
