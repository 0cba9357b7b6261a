/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - accounts for the server's memory filled by clients: the bytes of
 * each requestor's requests, sessions, streams, lines and questions, against
 * one bound for all requestors.
 *
 * A requestor may keep as many bytes as are still free. So a requestor alone
 * gets half of the bound, two requestors at full use get a third each, and of
 * many the largest are refused first; a new requestor finds room. The bytes
 * counted are the real cost: of a tree the nodes and not the text.
 *
 * All functions but memory_of() may be called on any thread.
 */
#ifndef SUPERVISOR_REQUESTOR_MEMORY_H
#define SUPERVISOR_REQUESTOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_RETRY_MS 1000 /* when a refused client may try again */
/* The message for a refused requestor. */
#define MEMORY_NO_ROOM                                                         \
	"this server keeps as much for you as it has room for now; await "     \
	"answers, and try again (who can raise that is the operator: "         \
	"server_memory in [limits])"

/* The accounts of the whole server. All-zero: counted, and without a bound. */
struct memory {
	_Atomic int64_t held; /* bytes held by all accounts */
	/* bytes that all accounts may hold together; 0: no bound */
	_Atomic int64_t most;
	_Atomic uint64_t refused; /* requests of all accounts */
};

/*
 * The account of one requestor. All-zero: counted alone, and without a bound.
 */
struct memory_account {
	struct memory *all; /* borrowed */
	_Atomic int64_t held;
	_Atomic uint64_t refused;
	uint64_t told;	 /* refusals that the log has told of */
	int64_t told_ms; /* monotonic: when; 0: never */
};

/*
 * How much one requestor's connections hold of the bounds shared by all requestors;
 * http_conn.h counts, and tells the consequences. Zero: none.
 */
struct http_usage {
	size_t bodies; /* bytes of requests not yet answered */
	size_t unread; /* bytes of answers not yet read by clients */
	/* an account that counts both sums, too; or NULL */
	struct memory_account *memory;
};

/*
 * Return how many of SERVER bytes, the bound of the process, all accounts may
 * hold, and how many the trees of templates' results. The rest is the program's
 * own, with the holes of the allocator.
 */
int64_t memory_of(int64_t server);
int64_t memory_of_results(int64_t server);

/*
 * Count BYTES more for A. False: over the bound, and the bytes are not counted.
 */
bool memory_take(struct memory_account *a, size_t bytes);
/* The same, for bytes without which A is served as well: no refusal is counted. */
bool memory_take_spare(struct memory_account *a, size_t bytes);
/*
 * Count BYTES more for A, which cannot be refused any more: the next request is
 * refused instead. NULL: no account.
 */
void memory_add(struct memory_account *a, size_t bytes);
/* Stop counting BYTES for A. */
void memory_give(struct memory_account *a, size_t bytes);
/*
 * Count NOW bytes in place of the WAS bytes counted before: as memory_add() or
 * memory_give().
 */
void memory_change(struct memory_account *a, size_t was, size_t now);

/* Count that something of A's was refused for want of room. */
void memory_refuse(struct memory_account *a);

/* Return how many bytes more A may take now. */
int64_t memory_room(const struct memory_account *a);
/* Does A keep more than allowed? Then nothing is made for A that can wait. */
bool memory_is_over(const struct memory_account *a);
/* Is there no room for any requestor? */
bool memory_is_full(const struct memory_account *a);

#endif
