/* SPDX-License-Identifier: Apache-2.0 */
/* tap.c - what tests say to prove(1): a line each, the plan at the end. */
#include "tests/unit/tap.h"

int tap_count;
static int tap_failed;

bool tap_ok(bool pass, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", pass ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!pass)
		tap_failed++;
	fflush(stdout);
	return pass;
}

int tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed == 0 ? 0 : 1;
}
