/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id.c - makes the ids of runs, artifacts, sessions, tabs and instances, and
 * checks the shape of ids from clients. Without getrandom(2) the process
 * aborts: a guessable id is worse than no id.
 */
#include "base/id.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

#define ID_CHARS 26   /* characters of 5 bits each: 130 bits */
#define TIME_CHARS 10 /* characters of the time: the first 50 bits */
/* a quarter of a millisecond: 48 bits of ms and 2 more */
#define TICK_US 250L
#define WAITED_US 1000000L /* a clock set back by less is waited for */
#define MS_END (UINT64_C(1) << 48)
#define RANDOM_BYTES 10 /* bytes of the other 16 characters: 80 bits */

/* In ASCII order, so strcmp(3) orders ids as their numbers. */
static const char alphabet[] = "234567abcdefghijklmnopqrstuvwxyz";

static _Atomic uint64_t last;

/*
 * Return the time in quarters of a millisecond. The result never decreases in
 * this process: while the clock is behind the last result, each call adds 1. (A
 * process that follows another clock often learns a slightly earlier time.)
 */
static uint64_t tick(void)
{
	uint64_t now = (uint64_t)clock_wall_us() / TICK_US,
		 seen = atomic_load(&last), next;

	do
		next = seen > now ? seen + 1 : now;
	while (!atomic_compare_exchange_weak(&last, &seen, next));
	return next;
}

/* Write the lowest N * 5 bits of V, highest first; return the end. */
static char *put_bits(char *out, uint64_t v, int n)
{
	while (n-- > 0)
		*out++ = alphabet[v >> (5 * n) & 31];
	return out;
}

/* Write PREFIX_ and the time; return the end. */
static char *put_time(char *out, const char *prefix, uint64_t ticks)
{
	size_t len = strnlen(prefix, ID_SIZE - ID_CHARS - 2);

	out = mempcpy(out, prefix, len);
	*out++ = '_';
	return put_bits(out, ticks, TIME_CHARS);
}

void id_clock_was_set(void)
{
	uint64_t now = (uint64_t)clock_wall_us() / TICK_US;

	if (atomic_load(&last) > now + WAITED_US / TICK_US)
		atomic_store(&last, 0);
}

void id_since(char out[ID_SIZE], const char *prefix, int64_t wall_ms)
{
	uint64_t ms = wall_ms > 0 ? (uint64_t)wall_ms : 0;
	char *p = put_time(out, prefix,
			   (ms < MS_END ? ms : MS_END - 1) * (1000 / TICK_US));

	for (int i = TIME_CHARS; i < ID_CHARS; i++)
		*p++ = alphabet[0];
	*p = '\0';
}

void id_new(char out[ID_SIZE], const char *prefix)
{
	unsigned char r[RANDOM_BYTES];
	char *p = put_time(out, prefix, tick());
	uint64_t v;

	for (size_t n = 0; n < sizeof(r);) {
		ssize_t got = getrandom(r + n, sizeof(r) - n, 0);

		if (got < 0 && errno != EINTR)
			abort(); /* a guessable id is worse than no id */
		n += got > 0 ? (size_t)got : 0;
	}
	for (size_t i = 0; i < sizeof(r); i += 5) {
		v = (uint64_t)r[i] << 32 | (uint64_t)r[i + 1] << 24 |
		    (uint64_t)r[i + 2] << 16 | (uint64_t)r[i + 3] << 8 |
		    r[i + 4];
		p = put_bits(p, v, 8);
	}
	*p = '\0';
}

bool id_ok(const char *s, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(s, prefix, len) != 0 || s[len] != '_')
		return false;
	s += len + 1;
	return strspn(s, alphabet) == ID_CHARS && s[ID_CHARS] == '\0';
}
