/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.c - the lines of bench/run that say which targets are met. Nothing
 * fails by a target: figures are for people, and machines differ. A file that
 * cannot be written ends the program.
 */
#include "bench/target.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"

static void say(bool met, double got, double limit, const char *bound,
		const char *what, va_list ap)
{
	const char *path = getenv("PADDOCK_TARGETS");
	FILE *f = path != NULL ? fopen(path, "ae") : stdout;

	if (f == NULL)
		die(path);
	fprintf(f, "%-8s %9.2f  %s %9.2f  ", met ? "met" : "NOT MET", got,
		bound, limit);
	vfprintf(f, what, ap);
	fputc('\n', f);
	if (path != NULL && fclose(f) != 0)
		die(path);
}

void target_most(double got, double limit, const char *what, ...)
{
	va_list ap;

	va_start(ap, what);
	say(got <= limit, got, limit, "at most ", what, ap);
	va_end(ap);
}

void target_least(double got, double limit, const char *what, ...)
{
	va_list ap;

	va_start(ap, what);
	say(got >= limit, got, limit, "at least", what, ap);
	va_end(ap);
}
