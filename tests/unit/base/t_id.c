/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

#define MANY 10000

static char many[MANY][ID_SIZE];

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

TEST(shape)
{
	static const char *const prefixes[] = {"run", "art", "sess", "inst"};
	static const char *const bad[] = {
	    "",
	    "run",
	    "run_",
	    "run_aaaaaaaaaaaaaaaaaaaaaaaaa",
	    "run_aaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "run_aaaaaaaaaaaaaaaaaaaaaaaaa1",
	    "run_aaaaaaaaaaaaaaaaaaaaaaaaaA",
	    "run_aaaaaaaaaaaaaaaaaaaaaaaa/a",
	    "run-aaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "art_aaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "xrun_aaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "run_aaaaaaaaaaaaaaaaaaaaaaaaaa/",
	    "run_aaaaaaaaaaaaaaaaaaaaaaaaaa ",
	};
	char id[ID_SIZE];

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		id_new(id, prefixes[i]);
		ok(id_ok(id, prefixes[i]), "%s is an id", id);
		is_int(strlen(id), strlen(prefixes[i]) + 27,
		       "of the prefix, '_' and 26 characters");
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ok(!id_ok(bad[i], "run"), "'%s' is none", bad[i]);
	ok(id_ok("run_234567abcdefghijklmnopqrst", "run"), "2 to 7, a to z");
}

/* 10 characters of time: wait for the clock to tick, never for a while. */
TEST(order)
{
	char first[ID_SIZE], next[ID_SIZE];

	id_new(first, "run");
	do {
		id_new(next, "run");
	} while (strncmp(first, next, 4 + 10) == 0);
	ok(strcmp(first, next) < 0, "a later id is greater, as text");
	ok(strcmp(first + 4, "b") < 0,
	   "the highest bits of the time are still zero");
}

TEST(unique)
{
	size_t same = 0, falling = 0;

	for (size_t i = 0; i < MANY; i++)
		id_new(many[i], "run");
	for (size_t i = 1; i < MANY; i++)
		falling += strncmp(many[i - 1], many[i], 4 + 10) > 0;
	is_int(falling, 0, "the time in %d ids never falls", MANY);
	qsort(many, MANY, ID_SIZE, by_text);
	for (size_t i = 1; i < MANY; i++)
		same += strcmp(many[i - 1], many[i]) == 0;
	is_int(same, 0, "no two ids are the same");
}

/* The 16 random characters of an id each take all of the 32 values. */
TEST(random)
{
	unsigned seen[16] = {0};
	size_t full = 0;

	for (size_t i = 0; i < MANY; i++)
		for (size_t k = 0; k < ARRAY_LEN(seen); k++) {
			char c = many[i][4 + 10 + k];

			seen[k] |= 1u << (c >= 'a' ? c - 'a' : c - '2' + 26);
		}
	for (size_t k = 0; k < ARRAY_LEN(seen); k++)
		full += seen[k] == UINT32_MAX;
	is_int(full, 16, "80 bits of an id take every value");
}

/*
 * An id is not less than id_since() of the same moment, and less than id_since() of a
 * later moment.
 */
TEST(since)
{
	int64_t before_ms = clock_wall_ms();
	char id[ID_SIZE], from[ID_SIZE], later[ID_SIZE];

	id_new(id, "run");
	id_since(from, "run", before_ms);
	id_since(later, "run", clock_wall_ms() + 1);
	ok(id_ok(from, "run"), "id_since() returns a valid id");
	ok(strcmp(from, id) <= 0, "an id is not before its time");
	ok(strcmp(id, later) < 0, "an id sorts before ids of a later moment");
	id_since(from, "run", -1);
	ok(strcmp(from, id) < 0, "a time before all times is before all");
	for (int bits = 48; bits < 63; bits++) {
		id_since(later, "run", INT64_C(1) << bits);
		ok(strcmp(id, later) < 0, "2^%d ms is after all", bits);
	}
}

/*
 * Servers with one database follow the database's clock, so the ids of all servers are
 * in order of one time.
 */
TEST(followed)
{
	int64_t hour_ago_ms = clock_wall_ms() - 3600000;
	char before[ID_SIZE], id[ID_SIZE], from[ID_SIZE], later[ID_SIZE];

	id_new(before, "run");
	ok(clock_follow(hour_ago_ms, clock_boot_ms(), 10),
	   "a clock one hour behind is followed");
	id_new(id, "run");
	ok(strncmp(before, id, 4 + 10) <= 0,
	   "no id is less than those before by itself");
	id_clock_was_set();
	id_since(from, "run", hour_ago_ms);
	id_new(id, "run");
	id_since(later, "run", clock_wall_ms() + 1);
	ok(strcmp(from, id) <= 0 && strcmp(id, later) < 0,
	   "an id has the time that is followed");
}

/*
 * A followed clock may be corrected backwards: newer ids still sort after older ids.
 */
TEST(set_back)
{
	char before[ID_SIZE], id[ID_SIZE];
	size_t falling = 0;
	int64_t ms;

	id_new(before, "run");
	ms = clock_wall_ms() - 200;
	ok(clock_follow(ms, clock_boot_ms(), 10),
	   "a clock that is 200 ms behind");
	id_clock_was_set();
	for (int i = 0; i < 100; i++) {
		id_new(id, "run");
		falling += strncmp(before, id, 4 + 10) >= 0;
		memcpy(before, id, ID_SIZE);
	}
	is_int(falling, 0, "ids go on rising, one by one");
}
