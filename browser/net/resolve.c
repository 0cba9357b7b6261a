/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c - the queue of names to resolve, in paddock-browser's loop, for
 * proxy.c. Counts are made anew from two short lists each time; the requestor
 * with the fewest running lookups is next. A name without room in the queue is
 * refused to its page.
 */
#include "browser/net/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/fair_share.h"
#include "ipc/host_pattern.h"

TAILQ_HEAD(lookups, lookup);

struct lookup {
	struct resolver *of;
	uint32_t id; /* number of the running lookup; 0: waiting */
	char *requestor;
	uint32_t proxy_ip;
	char host[URL_HOST_MAX];
	resolve_done *done; /* the callback; NULL: cancelled while running */
	void *arg;
	TAILQ_ENTRY(lookup) link; /* the link in waiting or running */
};

struct resolver {
	int sock;
	struct event *readable;
	bool alone;
	void (*lost)(void *arg);
	void *arg;
	uint32_t ids;
	struct lookups waiting, running;
};

struct use { /* the counts of a list of lookups */
	int64_t session, requestor, all;
};

static struct use count_lookups(const struct lookups *list,
				const char *requestor, uint32_t proxy_ip)
{
	const struct lookup *l;
	struct use u = {0};

	TAILQ_FOREACH(l, list, link) {
		bool same = strcmp(l->requestor, requestor) == 0;

		u.all++;
		u.requestor += same;
		u.session += same && l->proxy_ip == proxy_ip;
	}
	return u;
}

/* May the owner of U have one more, of MOST in all? */
static bool has_lookup_room(const struct resolver *r, const struct use *u,
			    int64_t most, int64_t session)
{
	int64_t theirs = u->all - u->requestor;

	return u->session < session &&
	       u->requestor <
		   (r->alone ? most - theirs : fair_share(most, theirs));
}

static void lookup_free(struct lookups *list, struct lookup *l)
{
	TAILQ_REMOVE(list, l, link);
	free(l->requestor);
	free(l);
}

/* ---- the next lookup ---- */

static struct lookup *next_of(struct resolver *r)
{
	struct lookup *l, *best = NULL;
	struct use least = {0};

	TAILQ_FOREACH(l, &r->waiting, link) {
		struct use u =
		    count_lookups(&r->running, l->requestor, l->proxy_ip);

		if (!has_lookup_room(r, &u, RESOLVER_AT_ONCE,
				     RESOLVE_SESSION_RUNS) ||
		    (best != NULL && (u.requestor > least.requestor ||
				      (u.requestor == least.requestor &&
				       u.session >= least.session))))
			continue;
		best = l;
		least = u;
	}
	return best;
}

static int send_request(struct resolver *r, const struct lookup *l,
			bool look_up)
{
	struct resolver_order o = {.id = l->id, .look_up = look_up};

	snprintf(o.host, sizeof(o.host), "%s", l->host);
	return send(r->sock, &o, sizeof(o), MSG_NOSIGNAL) == sizeof(o) ? 0
								       : -errno;
}

static void begin_some(struct resolver *r)
{
	struct lookup *l;

	while ((l = next_of(r)) != NULL) {
		r->ids += r->ids == UINT32_MAX ? 2 : 1; /* 0 means no id */
		l->id = r->ids;
		if (send_request(r, l, true) < 0) {
			/* on_answer() will find that the process ended */
			l->id = 0;
			return;
		}
		TAILQ_REMOVE(&r->waiting, l, link);
		TAILQ_INSERT_TAIL(&r->running, l, link);
	}
}

/* ---- answers ---- */

static void take_answer_of(struct resolver *r, const struct resolver_answer *a)
{
	struct lookup *l;

	TAILQ_FOREACH(l, &r->running, link)
		if (l->id == a->id)
			break;
	if (l == NULL)
		return;
	if (l->done != NULL) {
		bool good =
		    a->error == 0 && a->n > 0 && a->n <= RESOLVER_ADDRESSES;
		const char *error =
		    good ? NULL
		    : a->error == EAI_AGAIN
			? "its name servers do not answer in time"
		    : a->error != 0 ? gai_strerror(a->error)
				    : "it has no address";

		l->done(l->arg, good ? a->all : NULL, good ? a->n : 0, error);
	}
	lookup_free(&r->running, l);
}

static void on_answer(evutil_socket_t sock, short what, void *arg)
{
	struct resolver *r = arg;
	struct resolver_answer a;
	ssize_t n = recv(sock, &a, sizeof(a), MSG_DONTWAIT);

	(void)what;
	if (n == sizeof(a)) {
		take_answer_of(r, &a);
		begin_some(r);
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	event_del(r->readable);
	r->lost(r->arg);
}

/* ---- asking ---- */

bool resolve_number(const char *host, union resolver_address *address)
{
	struct sockaddr_storage found;
	bool is_address = host_is_address(host, &found);

	memcpy(address, &found, sizeof(*address));
	return is_address;
}

struct lookup *resolve(struct resolver *r, const struct resolve_for *who,
		       const char *host, resolve_done *done, void *arg)
{
	struct use u =
	    count_lookups(&r->waiting, who->requestor, who->proxy_ip);
	struct lookup *l;

	if (strlen(host) >= sizeof(l->host) ||
	    !has_lookup_room(r, &u, RESOLVE_QUEUE_MAX, RESOLVE_SESSION_QUEUE))
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->of = r;
	l->requestor = xstrdup(who->requestor);
	l->proxy_ip = who->proxy_ip;
	memcpy(l->host, host, strlen(host) + 1);
	l->done = done;
	l->arg = arg;
	TAILQ_INSERT_TAIL(&r->waiting, l, link);
	begin_some(r);
	return l;
}

void resolve_cancel(struct lookup *l)
{
	if (l == NULL)
		return;
	l->done = NULL;
	if (l->id == 0)
		lookup_free(&l->of->waiting, l);
	else
		/* otherwise the lookup would end by itself, later */
		(void)send_request(l->of, l, false);
}

struct resolver *resolver_new(struct event_base *base, int sock, bool alone,
			      void (*lost)(void *arg), void *arg)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	r->sock = sock;
	r->alone = alone;
	r->lost = lost;
	r->arg = arg;
	TAILQ_INIT(&r->waiting);
	TAILQ_INIT(&r->running);
	r->readable = event_new(base, sock, EV_READ | EV_PERSIST, on_answer, r);
	event_add(r->readable, NULL);
	return r;
}

void resolver_free(struct resolver *r)
{
	struct lookup *l;

	if (r == NULL)
		return;
	while ((l = TAILQ_FIRST(&r->running)) != NULL)
		/*
		 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc): lookup_free()
		 * unlinks
		 */
		lookup_free(&r->running, l);
	while ((l = TAILQ_FIRST(&r->waiting)) != NULL)
		/*
		 * NOLINTNEXTLINE(clang-analyzer-unix.Malloc): lookup_free()
		 * unlinks
		 */
		lookup_free(&r->waiting, l);
	event_free(r->readable);
	close(r->sock);
	free(r);
}
