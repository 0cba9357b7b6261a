/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - names to addresses, by the host's own rules (getaddrinfo(3)), in
 * a separate process: resolver.h.
 *
 * A session may run RESOLVE_SESSION_RUNS lookups, and a requestor its share of
 * all; the queue is limited likewise. A cancelled lookup leaves at once.
 */
#ifndef BROWSER_NET_RESOLVE_H
#define BROWSER_NET_RESOLVE_H

#include <event2/event.h>
#include <stdbool.h>

#include "browser/net/resolver.h"

#define RESOLVE_QUEUE_MAX 256	 /* most waiting names */
#define RESOLVE_SESSION_RUNS 4	 /* lookups of a session at once */
#define RESOLVE_SESSION_QUEUE 64 /* waiting names of a session */

struct resolver; /* the loop's end of the process */
struct lookup;	 /* the lookup of a name */

struct resolve_for { /* the owner of a lookup, copied */
	const char *requestor;
	uint32_t proxy_ip; /* the session's proxy address */
};

/*
 * Result of a lookup: N addresses in LIST (lent); N 0: failed, with ERROR for
 * people.
 */
typedef void resolve_done(void *arg, const union resolver_address *list,
			  unsigned n, const char *error);

/*
 * Takes SOCK, from resolver_fork(). ALONE: one requestor may have all lookups.
 * LOST is called when the process has ended; nothing is answered after that.
 */
struct resolver *resolver_new(struct event_base *base, int sock, bool alone,
			      void (*lost)(void *arg), void *arg);
void resolver_free(struct resolver *r); /* no lookup may be left; NULL is
					   fine */

/*
 * Is HOST an address, which needs no lookup? Written to *ADDRESS without a
 * port.
 */
bool resolve_number(const char *host, union resolver_address *address);

/* DONE is called once, later, unless cancelled. NULL: too many wait. */
struct lookup *resolve(struct resolver *r, const struct resolve_for *who,
		       const char *host, resolve_done *done, void *arg);
void resolve_cancel(struct lookup *l); /* drops the lookup; NULL is fine */

#endif
