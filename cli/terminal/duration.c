/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.c - parses the durations of flags, and writes durations for people.
 * Commands and the progress bar call both. A text that is no duration gives a
 * negative errno value; the caller has the sentence.
 */
#include "cli/terminal/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct {
	const char *name;
	int64_t ms;
} units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

#define SECONDS 3 /* index of "s" in units[] */

/*
 * Read digits and perhaps a fraction ("1.5") at *AT into *OUT and step over
 * them. A sign, an exponent or hexadecimal is -EINVAL; more than 15 digits
 * before the point are -ERANGE.
 */
static int parse_amount(double *out, const char **at)
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

/*
 * Read a unit at *AT and return its index in units[], at least FIRST: a larger
 * unit than the last must not follow. Else -EINVAL.
 */
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
		rc = parse_amount(&n, &at);
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

void duration_text(char out[DURATION_SIZE], int64_t ms)
{
	int64_t s = ms / 1000;

	if (ms < 1000)
		snprintf(out, DURATION_SIZE, "%" PRId64 " ms", ms);
	else if (s < 60)
		snprintf(out, DURATION_SIZE, "%" PRId64 ".%" PRId64 " s", s,
			 ms / 100 % 10);
	else if (s < 3600)
		snprintf(out, DURATION_SIZE, "%" PRId64 " min %02" PRId64 " s",
			 s / 60, s % 60);
	else if (s < INT64_C(2) * 86400)
		snprintf(out, DURATION_SIZE, "%" PRId64 " h %02" PRId64 " min",
			 s / 3600, s / 60 % 60);
	else
		snprintf(out, DURATION_SIZE, "%" PRId64 " d %02" PRId64 " h",
			 s / 86400, s / 3600 % 24);
}
