/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.c - figures in messages, of the server and of the command. Cannot
 * fail: an unknown unit is shown as given.
 */
#include "base/text/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct scale {
	int64_t size;
	const char *name;
};

static const struct scale bytes[] = {{1LL << 40, "TiB"},
				     {1LL << 30, "GiB"},
				     {1LL << 20, "MiB"},
				     {1LL << 10, "KiB"}};
static const struct scale times[] = {
    {86400000, "days"}, {3600000, "h"}, {60000, "min"}};

/* Return the largest unit of S that divides N; NULL: no unit does. */
static const struct scale *even(const struct scale *s, size_t n_scales,
				int64_t n)
{
	for (size_t i = 0; i < n_scales; i++)
		if (n >= s[i].size && n % s[i].size == 0)
			return &s[i];
	return NULL;
}

const char *quantity(char out[QUANTITY_SIZE], int64_t n, const char *unit)
{
	static const struct scale second = {1000, "s"};
	const struct scale *s = NULL;
	int64_t tenth;

	if (strcmp(unit, "bytes") == 0)
		for (size_t i = 0; s == NULL && i < ARRAY_LEN(bytes); i++)
			s = n >= bytes[i].size ? &bytes[i] : NULL;
	else if (strcmp(unit, "ms") == 0 && n >= second.size)
		s = even(times, ARRAY_LEN(times), n);
	if (s == NULL && strcmp(unit, "ms") == 0 && n >= second.size)
		s = &second;
	tenth = s == NULL
		    ? 0
		    : (int64_t)((double)(n % s->size) * 10 / (double)s->size);
	if (s == NULL)
		snprintf(out, QUANTITY_SIZE, "%" PRId64 " %.32s", n, unit);
	else if (tenth == 0)
		snprintf(out, QUANTITY_SIZE, "%" PRId64 " %s", n / s->size,
			 s->name);
	else
		snprintf(out, QUANTITY_SIZE, "%" PRId64 ".%" PRId64 " %s",
			 n / s->size, tenth, s->name);
	return out;
}
