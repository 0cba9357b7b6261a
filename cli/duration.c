/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.c - durations as people write them, for "paddock run --timeout". A
 * pure function: -EINVAL for what is none, -ERANGE for nothing at all or more
 * than a year.
 */
#include "cli/duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *name;
	int64_t ms;
} units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

#define SECONDS 3 /* in units[] */

/* "1.5": digits and perhaps a fraction; no sign, exponent, hexadecimal. */
static int number(double *out, const char **at)
{
	size_t whole = strspn(*at, "0123456789"), n = whole;

	if (whole > 0 && (*at)[n] == '.') {
		size_t fraction = strspn(*at + n + 1, "0123456789");

		if (fraction == 0)
			return -EINVAL;
		n += 1 + fraction;
	}
	if (whole == 0 || whole > 15 || n > 32)
		return whole > 15 ? -ERANGE : -EINVAL;
	*out = strtod(*at, NULL);
	*at += n;
	return 0;
}

/* The index in units[]; FIRST: an earlier one has been used already. */
static int unit(const char **at, int first)
{
	size_t n = strspn(*at, "abcdefghijklmnopqrstuvwxyz");

	for (int i = first; i < (int)ARRAY_LEN(units); i++) {
		if (strlen(units[i].name) == n &&
		    memcmp(units[i].name, *at, n) == 0) {
			*at += n;
			return i;
		}
	}
	return -EINVAL;
}

int duration_parse(int64_t *ms, const char *text)
{
	double sum = 0, n;
	int first = 0, u, rc;

	if (*text == '\0')
		return -EINVAL;
	for (const char *at = text; *at != '\0'; first = u + 1) {
		rc = number(&n, &at);
		if (rc < 0)
			return rc;
		u = *at == '\0' && first == 0 ? SECONDS : unit(&at, first);
		if (u < 0)
			return -EINVAL;
		sum += n * (double)units[u].ms;
	}
	if (sum < 1 || sum > (double)DURATION_MAX_MS)
		return -ERANGE;
	*ms = (int64_t)(sum + 0.5);
	return 0;
}
