/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay_fixture.c - see relay_fixture.h. A request ends with PostgreSQL's message Sync,
 * and an answer with ReadyForQuery:
 * https://www.postgresql.org/docs/15/protocol-message-formats.html
 */
#include "tests/unit/supervisor/store/relay_fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

#define PAIRS 32
#define BYTES 65536
#define STEP_MS 20
#define SOCKET ".s.PGSQL.5432"
#define BEAT "paddock_beat"
#define WRITE "paddock_write" /* begins a writing transaction */

struct pair {
	int client, server; /* -1: closed */
	char *held;
	size_t n_held;
	bool deaf;	   /* messages on the connection are dropped */
	int slow_ms;	   /* delay of each answer */
	bool beats;	   /* a heartbeat was sent and not answered */
	char *beat_answer; /* the kept answer to a heartbeat */
	size_t n_beat_answer;
};

struct relay {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char *path, *url, *target;
	int listener;
	enum { PASSES, LOSES, LOSES_ALL, HOLDS, BLOCKS, REFUSES, CUTS } mode;
	bool stops, holds_beats;
	int slow_ms; /* of pairs to come */
	size_t requests;
	struct relay_cut cut;
	/* for CUTS: the transaction is lost; and the next connection */
	bool is_lost;
	struct pair *counted;
	unsigned n_counted;
	struct pair pairs[PAIRS];
	size_t n;
};

static int unix_socket(const char *path, struct sockaddr_un *at)
{
	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(at->sun_path, sizeof(at->sun_path), "%s", path);
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

_Noreturn static void bail(const char *what)
{
	printf("Bail out! relay: %s\n", what);
	exit(1);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void accept_one(struct relay *r)
{
	struct pair *p = &r->pairs[r->n];
	struct sockaddr_un at;

	if (r->n == PAIRS)
		bail("too many connections");
	*p = (struct pair){.client = accept(r->listener, NULL, NULL),
			   .slow_ms = r->slow_ms};
	if (r->is_lost && r->counted == NULL)
		r->counted = p;
	if (r->mode == REFUSES) {
		close_fd(&p->client);
		return;
	}
	p->server = unix_socket(r->target, &at);
	if (connect(p->server, (struct sockaddr *)&at, sizeof(at)) != 0)
		bail(r->target);
	r->n++;
}

static void put(int to, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t did = send(to, bytes, n, MSG_NOSIGNAL);

		if (did <= 0)
			/* the peer has gone: the reader of TO sees the end */
			return;
		bytes += did;
		n -= (size_t)did;
	}
}

/* Must BYTES from a client be kept? */
static bool is_kept(const struct relay *r, const struct pair *p,
		    const char *bytes, size_t n)
{
	bool holds = r->mode == HOLDS ||
		     (r->mode == CUTS && !r->is_lost && !r->cut.is_done);

	return p->n_held > 0 || r->mode == BLOCKS ||
	       (holds && memmem(bytes, n, WRITE, strlen(WRITE)));
}

/* Is this message on P (from the server if ANSWER) the end of the connection? */
static bool is_at_end(struct relay *r, const struct pair *p, bool answer)
{
	return r->mode == CUTS && p == r->counted &&
	       answer == r->cut.is_answer && r->n_counted++ == r->cut.at;
}

static void end_pair(struct pair *p)
{
	close_fd(&p->client);
	close_fd(&p->server);
}

/* Is a whole request there, up to the Sync? */
static bool is_whole(const struct pair *p)
{
	static const char sync[] = {'S', 0, 0, 0, 4};

	return p->n_held >= sizeof(sync) &&
	       memcmp(p->held + p->n_held - sizeof(sync), sync, sizeof(sync)) ==
		   0;
}

static void hold(struct pair *p, const char *bytes, size_t n)
{
	p->held = xrealloc(p->held, p->n_held + n);
	memcpy(p->held + p->n_held, bytes, n);
	p->n_held += n;
}

static void from_client(struct relay *r, struct pair *p)
{
	char bytes[BYTES];
	ssize_t n = read(p->client, bytes, sizeof(bytes));

	if (n > 0 && !memmem(bytes, (size_t)n, BEAT, strlen(BEAT)))
		r->requests++;
	if (n > 0 && r->holds_beats &&
	    memmem(bytes, (size_t)n, BEAT, strlen(BEAT)))
		p->beats = true;
	if (n <= 0) {
		close_fd(&p->client);
		if (p->n_held == 0)
			close_fd(&p->server);
	} else if (p->deaf) {
		return;
	} else if (is_at_end(r, p, false)) {
		end_pair(p);
		r->mode = PASSES;
	} else if (is_kept(r, p, bytes, (size_t)n)) {
		hold(p, bytes, (size_t)n);
		if (r->mode == CUTS && is_whole(p)) {
			end_pair(p);
			r->is_lost = true;
		}
	} else {
		put(p->server, bytes, (size_t)n);
	}
}

/* Do BYTES end with ReadyForQuery? */
static bool is_ready(const char *bytes, size_t n)
{
	static const char ready[] = {'Z', 0, 0, 0, 5};

	return n > sizeof(ready) &&
	       memcmp(bytes + n - sizeof(ready) - 1, ready, sizeof(ready)) == 0;
}

static bool is_commit(const char *bytes, size_t n)
{
	return is_ready(bytes, n) && memmem(bytes, n, "COMMIT", 7) != NULL;
}

static void from_server(struct relay *r, struct pair *p)
{
	char bytes[BYTES];
	ssize_t n = read(p->server, bytes, sizeof(bytes));

	if (p->slow_ms > 0)
		poll(NULL, 0, p->slow_ms);
	if (n <= 0) {
		end_pair(p);
	} else if (p->deaf) {
		return;
	} else if (p->beats) {
		p->beat_answer =
		    xrealloc(p->beat_answer, p->n_beat_answer + (size_t)n);
		memcpy(p->beat_answer + p->n_beat_answer, bytes, (size_t)n);
		p->n_beat_answer += (size_t)n;
	} else if (is_ready(bytes, (size_t)n) && is_at_end(r, p, true)) {
		end_pair(p);
		r->mode = PASSES;
	} else if (r->mode == CUTS && r->cut.is_done && !r->is_lost &&
		   is_commit(bytes, (size_t)n)) {
		end_pair(p);
		r->is_lost = true;
	} else if ((r->mode == LOSES || r->mode == LOSES_ALL) &&
		   is_commit(bytes, (size_t)n)) {
		end_pair(p);
		r->mode = r->mode == LOSES ? PASSES : REFUSES;
	} else if (p->client >= 0) {
		put(p->client, bytes, (size_t)n);
	} else if (is_ready(bytes, (size_t)n)) {
		close_fd(&p->server); /* the late request is done, or refused */
	}
}

static size_t watch(const struct relay *r, struct pollfd *fds)
{
	fds[0] = (struct pollfd){.fd = r->listener, .events = POLLIN};
	for (size_t i = 0; i < r->n; i++) {
		fds[1 + 2 * i] =
		    (struct pollfd){.fd = r->pairs[i].client, .events = POLLIN};
		fds[2 + 2 * i] =
		    (struct pollfd){.fd = r->pairs[i].server, .events = POLLIN};
	}
	return 1 + 2 * r->n;
}

static void *move(void *arg)
{
	struct relay *r = arg;
	struct pollfd fds[1 + 2 * PAIRS];

	pthread_mutex_lock(&r->lock);
	while (!r->stops) {
		size_t n = watch(r, fds), pairs = r->n;

		pthread_mutex_unlock(&r->lock);
		poll(fds, n, STEP_MS);
		pthread_mutex_lock(&r->lock);
		for (size_t i = 0; i < pairs; i++) {
			struct pair *p = &r->pairs[i];

			if (fds[1 + 2 * i].revents != 0 && p->client >= 0)
				from_client(r, p);
			if (fds[2 + 2 * i].revents != 0 && p->server >= 0)
				from_server(r, p);
		}
		if (fds[0].revents != 0)
			accept_one(r);
		pthread_cond_broadcast(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

struct relay *relay_start(const char *dir, const char *url)
{
	struct relay *r = xcalloc(1, sizeof(*r));
	const char *host = strstr(url, "host=") + 5;
	size_t len = strcspn(host, "&");
	struct sockaddr_un at;

	r->path = xasprintf("%s/" SOCKET, dir);
	r->target = xasprintf("%.*s/" SOCKET, (int)len, host);
	r->url = xasprintf("%.*s%s%s", (int)(host - url), url, dir, host + len);
	r->listener = unix_socket(r->path, &at);
	if (bind(r->listener, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(r->listener, PAIRS) != 0)
		bail(r->path);
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	if (pthread_create(&r->thread, NULL, move, r) != 0)
		bail("no thread");
	return r;
}

void relay_stop(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	r->stops = true;
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	for (size_t i = 0; i < r->n; i++) {
		close_fd(&r->pairs[i].client);
		close_fd(&r->pairs[i].server);
		free(r->pairs[i].held);
		free(r->pairs[i].beat_answer);
	}
	close_fd(&r->listener);
	unlink(r->path);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r->path);
	free(r->url);
	free(r->target);
	free(r);
}

char *relay_url(const struct relay *r)
{
	return xstrdup(r->url);
}

static void set_mode(struct relay *r, int mode)
{
	pthread_mutex_lock(&r->lock);
	r->mode = mode;
	pthread_mutex_unlock(&r->lock);
}

void relay_lose_answer(struct relay *r)
{
	set_mode(r, LOSES);
}

void relay_lose_all(struct relay *r)
{
	set_mode(r, LOSES_ALL);
}

/* A connection with a whole answer to a heartbeat. */
static struct pair *beaten(struct relay *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct pair *p = &r->pairs[i];

		if (p->beats && p->client >= 0 &&
		    is_ready(p->beat_answer, p->n_beat_answer))
			return p;
	}
	return NULL;
}

void relay_hold_beats(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	r->holds_beats = true;
	while (beaten(r) == NULL)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

void relay_release_beat(struct relay *r)
{
	struct pair *p;

	pthread_mutex_lock(&r->lock);
	p = beaten(r);
	if (p == NULL)
		bail("no heartbeat is kept");
	put(p->client, p->beat_answer, p->n_beat_answer);
	p->n_beat_answer = 0;
	p->beats = false;
	pthread_mutex_unlock(&r->lock);
}

void relay_deafen(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->n; i++)
		r->pairs[i].deaf = true;
	pthread_mutex_unlock(&r->lock);
}

size_t relay_slow(struct relay *r, int ms)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	r->slow_ms = ms;
	n = r->n;
	pthread_mutex_unlock(&r->lock);
	return n;
}

size_t relay_requests(struct relay *r)
{
	size_t n;

	pthread_mutex_lock(&r->lock);
	n = r->requests;
	pthread_mutex_unlock(&r->lock);
	return n;
}

void relay_cut(struct relay *r, struct relay_cut cut)
{
	pthread_mutex_lock(&r->lock);
	r->mode = CUTS;
	r->cut = cut;
	pthread_mutex_unlock(&r->lock);
}

bool relay_has_cut(struct relay *r)
{
	bool has;

	pthread_mutex_lock(&r->lock);
	has = r->mode != CUTS;
	pthread_mutex_unlock(&r->lock);
	return has;
}

void relay_hold(struct relay *r)
{
	set_mode(r, HOLDS);
}

void relay_pass(struct relay *r)
{
	set_mode(r, PASSES);
}

static struct pair *held(struct relay *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->pairs[i].server >= 0 && is_whole(&r->pairs[i]))
			return &r->pairs[i];
	return NULL;
}

void relay_cut_held(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	while (held(r) == NULL)
		pthread_cond_wait(&r->changed, &r->lock);
	close_fd(&held(r)->client);
	r->mode = BLOCKS;
	pthread_mutex_unlock(&r->lock);
}

void relay_release(struct relay *r)
{
	struct pair *p;

	pthread_mutex_lock(&r->lock);
	p = held(r);
	if (p == NULL)
		bail("nothing is held");
	put(p->server, p->held, p->n_held);
	while (p->server >= 0)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
}
