/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - names to addresses, by c-ares: /etc/hosts and the machine's own name
 * services are never asked, the servers of /etc/resolv.conf or of the operator are.
 */
#ifndef EGRESS_RUN_NAMES_H
#define EGRESS_RUN_NAMES_H

#include <event2/event.h>
#include <netinet/in.h>

#define NAMES_ADDRESSES 16 /* the most addresses of a name that are tried */
#define NAMES_TRY_MS 2000  /* for an answer of a server */
#define NAMES_TRIES 2

union names_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct names;	    /* a channel to the servers */
struct names_query; /* a name that is looked up */

/*
 * Open the channel while files are readable. RESOLVER: "ADDRESS[:PORT]", several with
 * spaces between, or NULL. NULL: the servers cannot be used.
 */
struct names *names_new(struct event_base *base, const char *resolver);

/*
 * Look HOST up. DONE gets N addresses with PORT, 0 for a failure, perhaps before this
 * returns (then NULL is returned), unless names_cancel() comes first.
 */
struct names_query *
names_ask(struct names *n, const char *host, unsigned port,
	  void (*done)(void *arg, const union names_address *list, size_t n),
	  void *arg);
void names_cancel(struct names_query *q); /* NULL is fine */

#endif
