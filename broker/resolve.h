/*
 * resolve.h - names to addresses, by the host's own rules (getaddrinfo(3)),
 * which block; so a few threads do it.
 */
#ifndef BROKER_RESOLVE_H
#define BROKER_RESOLVE_H

#include <event2/event.h>
#include <netdb.h>

#define RESOLVE_THREADS 4
#define RESOLVE_QUEUE_MAX 256 /* names that wait */

struct resolver;
struct lookup; /* one name */

/* LIST, which it lends, or NULL and ERROR, for people. */
typedef void resolve_done(void *arg, const struct addrinfo *list,
			  const char *error);

struct resolver *resolver_new(struct event_base *base); /* for good */

/*
 * DONE is called once, later, unless cancelled. Copies HOST. NULL: too many
 * wait.
 */
struct lookup *resolve(struct resolver *r, const char *host, unsigned port,
		       resolve_done *done, void *arg);
void resolve_cancel(struct lookup *l); /* NULL is fine */

#endif
