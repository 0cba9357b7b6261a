/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - counts the memory that the server keeps for clients: requests
 * (threads/rpc_async.c), sessions, streams and lines. The caller answers a
 * refusal. Threads that read large messages count here, too, so all counters
 * are atomic; of two threads that ask at the same instant both may be refused
 * where one would fit.
 */
#include "supervisor/requestor/memory.h"

#define OWN_LEAST ((int64_t)48 << 20)
#define OWN_PART 8     /* the program's own part is an eighth, or OWN_LEAST */
#define RESULTS_PART 4 /* a quarter of the rest is for results */

static int64_t shared(int64_t server)
{
	int64_t own = server / OWN_PART;

	return server - (own > OWN_LEAST ? own : OWN_LEAST);
}

int64_t memory_of(int64_t server)
{
	return server == 0 ? 0 : shared(server) - memory_of_results(server);
}

int64_t memory_of_results(int64_t server)
{
	return server == 0 ? INT64_MAX : shared(server) / RESULTS_PART;
}

/*
 * Return how many more bytes A may have, without BYTES, which are counted
 * already.
 */
static int64_t account_room(const struct memory_account *a, int64_t bytes)
{
	int64_t most = a->all != NULL ? a->all->most : 0;
	int64_t held;

	if (most == 0)
		return INT64_MAX;
	/* bytes of all requestors, without BYTES */
	held = a->all->held - bytes;
	return most - held - (a->held - bytes);
}

static void count_bytes_held(struct memory_account *a, int64_t bytes)
{
	a->held += bytes;
	if (a->all != NULL)
		a->all->held += bytes;
}

bool memory_take_spare(struct memory_account *a, size_t bytes)
{
	if (a == NULL)
		return true;
	count_bytes_held(a, (int64_t)bytes);
	if (account_room(a, (int64_t)bytes) >= (int64_t)bytes)
		return true;
	count_bytes_held(a, -(int64_t)bytes);
	return false;
}

bool memory_take(struct memory_account *a, size_t bytes)
{
	if (memory_take_spare(a, bytes))
		return true;
	memory_refuse(a);
	return false;
}

void memory_refuse(struct memory_account *a)
{
	if (a == NULL)
		return;
	a->refused++;
	if (a->all != NULL)
		a->all->refused++;
}

void memory_add(struct memory_account *a, size_t bytes)
{
	if (a != NULL)
		count_bytes_held(a, (int64_t)bytes);
}

void memory_give(struct memory_account *a, size_t bytes)
{
	if (a != NULL)
		count_bytes_held(a, -(int64_t)bytes);
}

void memory_change(struct memory_account *a, size_t was, size_t now)
{
	if (a != NULL && was != now)
		count_bytes_held(a, (int64_t)now - (int64_t)was);
}

int64_t memory_room(const struct memory_account *a)
{
	int64_t left = a != NULL ? account_room(a, 0) : INT64_MAX;

	return left > 0 ? left : 0;
}

bool memory_is_over(const struct memory_account *a)
{
	return a != NULL && a->held > 0 && account_room(a, 0) < 0;
}

bool memory_is_full(const struct memory_account *a)
{
	return a != NULL && a->all != NULL && a->all->most > 0 &&
	       a->all->held >= a->all->most;
}
