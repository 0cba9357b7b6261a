/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - names to addresses, by the host's own rules (getaddrinfo(3)), in
 * a process of their own: resolver.h.
 *
 * A session may run RESOLVE_SESSION_RUNS lookups, and a requestor its share of
 * all; the queue is limited likewise. A lookup that is cancelled leaves at
 * once.
 */
#ifndef BROWSER_NET_RESOLVE_H
#define BROWSER_NET_RESOLVE_H

#include <event2/event.h>
#include <stdbool.h>

#include "browser/net/resolver.h"

#define RESOLVE_QUEUE_MAX 256	 /* names that wait */
#define RESOLVE_SESSION_RUNS 4	 /* lookups of one session at once */
#define RESOLVE_SESSION_QUEUE 64 /* and of its names that wait */

struct resolver; /* the loop's end of the process */
struct lookup;	 /* one name */

struct resolve_for { /* copied */
	const char *requestor;
	uint32_t proxy_ip; /* a session's */
};

/* LIST, lent, of N addresses; 0: none, and ERROR, for people. */
typedef void resolve_done(void *arg, const union resolver_address *list,
			  unsigned n, const char *error);

/*
 * Takes SOCK, which resolver_fork() gave. ALONE: one requestor may have all.
 * LOST is called when the process has ended; nothing is answered after that.
 */
struct resolver *resolver_new(struct event_base *base, int sock, bool alone,
			      void (*lost)(void *arg), void *arg);
void resolver_free(struct resolver *r); /* no lookup is left; NULL is fine */

/* Is HOST an address, which needs no lookup? In *ADDRESS, without a port. */
bool resolve_number(const char *host, union resolver_address *address);

/* DONE is called once, later, unless cancelled. NULL: too many wait. */
struct lookup *resolve(struct resolver *r, const struct resolve_for *who,
		       const char *host, resolve_done *done, void *arg);
void resolve_cancel(struct lookup *l); /* NULL is fine */

#endif
