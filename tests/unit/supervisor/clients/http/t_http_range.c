/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_range.c - which part of a file Range wants. */
#include <errno.h>
#include <inttypes.h>

#include "base/mem.h"
#include "supervisor/clients/http/http_field.h"
#include "tests/unit/tap.h"

#define MOST "9223372036854775807"
#define HUGE "99999999999999999999999"

static const struct {
	const char *field;
	int64_t size;
	int rc;
	int64_t at, n;
} cases[] = {
    {"bytes=0-0", 10, 0, 0, 1},
    {"bytes=0-9", 10, 0, 0, 10},
    {"bytes=3-5", 10, 0, 3, 3},
    {"bytes=3-", 10, 0, 3, 7},
    {"bytes=9-", 10, 0, 9, 1},
    {"bytes=3-99", 10, 0, 3, 7},
    {"bytes=3-" HUGE, 10, 0, 3, 7},
    {"bytes=-1", 10, 0, 9, 1},
    {"bytes=-10", 10, 0, 0, 10},
    {"bytes=-" HUGE, 10, 0, 0, 10},
    {"BYTES=3-5", 10, 0, 3, 3},
    {"bytes= 3-5\t", 10, 0, 3, 3},
    {"bytes=0-", INT64_MAX, 0, 0, INT64_MAX},
    {"bytes=0-" MOST, INT64_MAX, 0, 0, INT64_MAX},
    {"bytes=10-", 10, -ERANGE, 0, 0},
    {"bytes=10-11", 10, -ERANGE, 0, 0},
    {"bytes=" HUGE "-", 10, -ERANGE, 0, 0},
    {"bytes=" HUGE "-" HUGE, INT64_MAX, -ERANGE, 0, 0},
    {"bytes=-0", 10, -ERANGE, 0, 0},
    {"bytes=0-", 0, -ERANGE, 0, 0},
    {"bytes=-0", 0, -ERANGE, 0, 0},
    {"bytes=-5", 0, -ENOENT, 0, 0},
    {"bytes=5-3", 10, -ENOENT, 0, 0},
    {"bytes=0-1,4-5", 10, -ENOENT, 0, 0},
    {"bytes=0-1,", 10, -ENOENT, 0, 0},
    {"bytes=-", 10, -ENOENT, 0, 0},
    {"bytes=", 10, -ENOENT, 0, 0},
    {"bytes", 10, -ENOENT, 0, 0},
    {"", 10, -ENOENT, 0, 0},
    {"bytes=1", 10, -ENOENT, 0, 0},
    {"bytes=--1", 10, -ENOENT, 0, 0},
    {"bytes=+1-2", 10, -ENOENT, 0, 0},
    {"bytes=0x1-2", 10, -ENOENT, 0, 0},
    {"bytes=1-2x", 10, -ENOENT, 0, 0},
    {"bytes =1-2", 10, -ENOENT, 0, 0},
    {"items=1-2", 10, -ENOENT, 0, 0},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t at = 0, n = 0;
		int rc = http_range(cases[i].field, cases[i].size, &at, &n);

		ok(rc == cases[i].rc && at == cases[i].at && n == cases[i].n,
		   "\"%s\" of %" PRId64 ": %d, %" PRId64 " from %" PRId64,
		   cases[i].field, cases[i].size, rc, n, at);
	}
	return tap_done();
}
