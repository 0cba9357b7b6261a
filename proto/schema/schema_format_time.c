/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_format_time.c - dates, times and durations of RFC 3339, for the table
 * of schema_format.c and the annotations of content blocks. Pure functions of a
 * string; false is the only failure, worded by the caller.
 */
#include "proto/schema/schema_private.h"

#include <ctype.h>
#include <string.h>

#define DAY_MINUTES 1440

struct span {
	const char *p, *end;
};

static bool accept(struct span *s, const char *any)
{
	if (s->p == s->end || *s->p == '\0' || strchr(any, *s->p) == NULL)
		return false;
	s->p++;
	return true;
}

/* Take exactly N digits, within MIN and MAX. */
static bool parse_digits(struct span *s, int n, int min, int max, int *out)
{
	*out = 0;
	for (int i = 0; i < n; i++) {
		if (s->p == s->end || !isdigit((unsigned char)*s->p))
			return false;
		*out = *out * 10 + (*s->p++ - '0');
	}
	return *out >= min && *out <= max;
}

static int days_in(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30,
				   31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return month == 2 && leap ? 29 : days[month - 1];
}

static bool date(struct span *s)
{
	int year, month, day;

	return parse_digits(s, 4, 0, 9999, &year) && accept(s, "-") &&
	       parse_digits(s, 2, 1, 12, &month) && accept(s, "-") &&
	       parse_digits(s, 2, 1, days_in(year, month), &day);
}

static bool fraction(struct span *s)
{
	const char *start = s->p;

	if (!accept(s, "."))
		return true;
	while (accept(s, "0123456789"))
		;
	return s->p > start + 1;
}

/* Take an offset, in minutes east of UTC. */
static bool offset(struct span *s, int *minutes)
{
	int hour, minute, sign;

	*minutes = 0;
	if (accept(s, "zZ"))
		return true;
	sign = s->p < s->end && *s->p == '-' ? -1 : 1;
	if (!accept(s, "+-") || !parse_digits(s, 2, 0, 23, &hour) ||
	    !accept(s, ":") || !parse_digits(s, 2, 0, 59, &minute))
		return false;
	*minutes = sign * (hour * 60 + minute);
	return true;
}

/* Take a time; a leap second is only legal at the end of a day of UTC. */
static bool time_of_day(struct span *s)
{
	int hour, minute, second, east;

	if (!parse_digits(s, 2, 0, 23, &hour) || !accept(s, ":") ||
	    !parse_digits(s, 2, 0, 59, &minute) || !accept(s, ":") ||
	    !parse_digits(s, 2, 0, 60, &second) || !fraction(s) ||
	    !offset(s, &east))
		return false;
	return second < 60 ||
	       (hour * 60 + minute - east + 2 * DAY_MINUTES) % DAY_MINUTES ==
		   DAY_MINUTES - 1;
}

bool schema_is_date(const char *s, size_t len)
{
	struct span x = {s, s + len};

	return date(&x) && x.p == x.end;
}

bool schema_is_time(const char *s, size_t len)
{
	struct span x = {s, s + len};

	return time_of_day(&x) && x.p == x.end;
}

bool schema_is_date_time(const char *s, size_t len)
{
	struct span x = {s, s + len};

	return date(&x) && accept(&x, "tT") && time_of_day(&x) && x.p == x.end;
}

/* Take numbers with units in the order of LIST; no unit is skipped between. */
static bool units(struct span *s, const char *list)
{
	const char *at = NULL, *start = s->p;

	while (s->p < s->end && *s->p != 'T') {
		const char *digits = s->p, *unit;

		while (accept(s, "0123456789"))
			;
		if (s->p == digits || s->p == s->end || *s->p == '\0')
			return false;
		unit = strchr(list, *s->p++);
		if (unit == NULL || (at != NULL && unit != at + 1))
			return false;
		at = unit;
	}
	return s->p > start;
}

bool schema_is_duration(const char *s, size_t len)
{
	struct span x = {s, s + len};

	if (!accept(&x, "P"))
		return false;
	if (len > 0 && s[len - 1] == 'W')
		return units(&x, "W") && x.p == x.end;
	if (x.p < x.end && *x.p != 'T' && !units(&x, "YMD"))
		return false;
	if (!accept(&x, "T"))
		return len > 1 && x.p == x.end;
	return units(&x, "HMS") && x.p == x.end;
}
