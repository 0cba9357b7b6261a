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

void target(double got, enum target_bound bound, double limit, const char *what,
	    ...)
{
	const char *path = getenv("PADDOCK_TARGETS");
	FILE *f = path != NULL ? fopen(path, "ae") : stdout;
	bool met = bound == AT_MOST ? got <= limit : got >= limit;
	va_list ap;

	if (f == NULL) {
		perror(path);
		exit(1);
	}
	fprintf(f, "%-8s %9.2f  at %-5s %9.2f  ", met ? "met" : "NOT MET", got,
		bound == AT_MOST ? "most" : "least", limit);
	va_start(ap, what);
	vfprintf(f, what, ap);
	va_end(ap);
	fputc('\n', f);
	if (path != NULL && fclose(f) != 0)
		die(path);
}
