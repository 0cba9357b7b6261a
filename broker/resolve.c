#include "broker/resolve.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/mem.h"

struct lookup {
	char *host;
	char port[8];
	resolve_done *done; /* NULL: cancelled; the loop's alone */
	void *arg;
	struct addrinfo *list;
	int rc;
	TAILQ_ENTRY(lookup) link; /* of waiting or ready */
};

TAILQ_HEAD(lookups, lookup);

struct resolver {
	struct event *woken;
	int bell;	      /* eventfd: something is ready */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t work;
	struct lookups waiting, ready;
	unsigned n_waiting, threads, idle;
};

static void look_up(struct lookup *l)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
				       .ai_socktype = SOCK_STREAM,
				       .ai_flags = AI_NUMERICSERV};

	l->rc = getaddrinfo(l->host, l->port, &hints, &l->list);
	if (l->rc != 0)
		l->list = NULL;
}

static void *work(void *arg)
{
	struct resolver *r = arg;
	const uint64_t one = 1;
	struct lookup *l;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		r->idle++;
		while ((l = TAILQ_FIRST(&r->waiting)) == NULL)
			pthread_cond_wait(&r->work, &r->lock);
		r->idle--;
		TAILQ_REMOVE(&r->waiting, l, link);
		r->n_waiting--;
		pthread_mutex_unlock(&r->lock);
		look_up(l);
		pthread_mutex_lock(&r->lock);
		TAILQ_INSERT_TAIL(&r->ready, l, link);
		(void)!write(r->bell, &one, sizeof(one));
	}
	return NULL;
}

static void lookup_free(struct lookup *l)
{
	if (l->list != NULL)
		freeaddrinfo(l->list);
	free(l->host);
	free(l);
}

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct lookups ready = TAILQ_HEAD_INITIALIZER(ready);
	struct resolver *r = arg;
	struct lookup *l;
	uint64_t count;

	(void)what;
	(void)!read(fd, &count, sizeof(count));
	pthread_mutex_lock(&r->lock);
	TAILQ_CONCAT(&ready, &r->ready, link);
	pthread_mutex_unlock(&r->lock);
	while ((l = TAILQ_FIRST(&ready)) != NULL) {
		TAILQ_REMOVE(&ready, l, link);
		if (l->done != NULL)
			l->done(l->arg, l->list,
				l->rc == 0 ? NULL : gai_strerror(l->rc));
		lookup_free(l);
	}
}

struct resolver *resolver_new(struct event_base *base)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	TAILQ_INIT(&r->waiting);
	TAILQ_INIT(&r->ready);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->work, NULL);
	r->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->bell < 0)
		abort(); /* as xcalloc() does */
	r->woken = event_new(base, r->bell, EV_READ | EV_PERSIST, on_ready, r);
	event_add(r->woken, NULL);
	return r;
}

/* A thread takes no signal: they are the loop's. */
static bool more_hands(struct resolver *r)
{
	sigset_t all, old;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, NULL, work, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		pthread_detach(thread);
	return rc == 0;
}

struct lookup *resolve(struct resolver *r, const char *host, unsigned port,
		       resolve_done *done, void *arg)
{
	struct lookup *l;
	bool full;

	pthread_mutex_lock(&r->lock);
	full = r->n_waiting >= RESOLVE_QUEUE_MAX;
	if (r->idle == 0 && r->threads < RESOLVE_THREADS && more_hands(r))
		r->threads++;
	full = full || r->threads == 0;
	if (full) {
		pthread_mutex_unlock(&r->lock);
		return NULL;
	}
	l = xcalloc(1, sizeof(*l));
	l->host = xstrdup(host);
	snprintf(l->port, sizeof(l->port), "%u", port);
	l->done = done;
	l->arg = arg;
	TAILQ_INSERT_TAIL(&r->waiting, l, link);
	r->n_waiting++;
	pthread_cond_signal(&r->work);
	pthread_mutex_unlock(&r->lock);
	return l;
}

void resolve_cancel(struct lookup *l)
{
	if (l != NULL)
		l->done = NULL;
}
