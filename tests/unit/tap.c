/* SPDX-License-Identifier: Apache-2.0 */
/* tap.c - what tests say to prove(1): a line each, the plan at the end. */
#include "tests/unit/tap.h"

#include <errno.h>

int tap_count;
static int tap_failed;
static struct tap_test *first, **end = &first;

bool tap_ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!pass) {
		tap_failed++;
		fprintf(stderr, "#   Failed test %d, ", tap_count);
		va_start(ap, fmt);
		vfprintf(stderr, fmt, ap);
		va_end(ap);
		fprintf(stderr, "\n#   of %s\n", program_invocation_name);
	}
	fflush(stdout);
	return pass;
}

int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed == 0 ? 0 : 1;
}

void tap_add(struct tap_test *t)
{
	*end = t;
	end = &t->next;
}

void tap_run(void)
{
	for (struct tap_test *t = first; t != NULL; t = t->next)
		t->run();
}

__attribute__((weak)) int main(void)
{
	tap_run();
	return tap_done();
}
