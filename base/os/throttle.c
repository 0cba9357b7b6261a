/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.c - counts lines by kind and account, for base/os/log.c and the
 * audit log, before each line. Nothing fails; with too many accounts, new
 * accounts share a counter.
 */
#include "base/os/throttle.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/mem.h"

#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12's analyzer loses uthash's tables */
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

struct throttle_key {
	const void *kind;
	char who[THROTTLE_WHO_MAX]; /* the account's name, padded with NULs */
};

struct throttled {
	struct throttle_key key;
	int64_t since_ms; /* time of the minute's first line */
	unsigned written; /* lines written in the minute */
	uint64_t held;
	UT_hash_handle hh; /* the link in throttle.by_key */
};

static struct throttle_key make_throttle_key(const void *kind, const char *who,
					     size_t n)
{
	struct throttle_key key;

	memset(&key, 0, sizeof(key)); /* keys are compared as bytes */
	key.kind = kind;
	memcpy(key.who, who, n < sizeof(key.who) ? n : sizeof(key.who) - 1);
	return key;
}

static struct throttled *find_throttled(struct throttle *t,
					const struct throttle_key *key)
{
	struct throttled *e;

	HASH_FIND(hh, t->by_key, key, sizeof(*key), e);
	return e;
}

static bool minute_is_over(const struct throttled *e, int64_t now_ms)
{
	return now_ms - e->since_ms >= THROTTLE_MS;
}

bool throttle_pass(struct throttle *t, const void *kind, const char *who,
		   size_t n, unsigned most, int64_t now_ms, uint64_t *held)
{
	struct throttle_key key = make_throttle_key(kind, who, n);
	struct throttled *e = find_throttled(t, &key);

	if (e == NULL && HASH_COUNT(t->by_key) >= THROTTLE_KEYS_MAX) {
		key = make_throttle_key(kind, "", 0);
		e = find_throttled(t, &key);
	}
	if (e == NULL) {
		e = xcalloc(1, sizeof(*e));
		e->key = key;
		HASH_ADD(hh, t->by_key, key, sizeof(e->key), e);
	}
	*held = 0;
	if (e->written == 0 || minute_is_over(e, now_ms)) {
		*held = e->held;
		e->since_ms = now_ms;
		e->written = 0;
		e->held = 0;
	}
	if (e->written < most) {
		e->written++;
		return true;
	}
	e->held++;
	return false;
}

void throttle_tell(struct throttle *t, int64_t now_ms, bool final,
		   void (*tell)(void *arg, const void *kind, const char *who,
				uint64_t held),
		   void *arg)
{
	struct throttled *e, *next;

	HASH_ITER(hh, t->by_key, e, next) {
		if (!final && !minute_is_over(e, now_ms))
			continue;
		if (e->held > 0)
			tell(arg, e->key.kind, e->key.who, e->held);
		/* NOLINTNEXTLINE(clang-analyzer-*): uthash's links are whole */
		HASH_DEL(t->by_key, e);
		free(e);
	}
}
