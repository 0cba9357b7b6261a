/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_pulse.c - sends the heartbeat on a separate thread and connection, so
 * that heartbeats go on while the store's connection waits. store_postgres_node.c starts
 * and ends the thread. A heartbeat without an answer in a quarter of the lease is given
 * up with the connection, which leaves time for two more tries; a failed heartbeat is
 * repeated, also after the end of this node's lease.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"

#define STACK_BYTES ((size_t)512 << 10)
#define PARTS 4		     /* of a lease: an answer is awaited for one part */
#define PATIENCE_MIN_MS 1000 /* and at least for so long */
#define RETRY_MIN_MS 50
#define RETRY_MAX_MS 1000

static bool pulse_is_wanted(void *arg)
{
	struct pulse *u = arg;

	return !atomic_load(&u->stops);
}

void store_postgres_pulse_init(struct pulse *u)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->wake, &attr);
	pthread_condattr_destroy(&attr);
	u->link.lives = pulse_is_wanted;
	u->link.arg = u;
}

/* LOCK is held at the call and the return, and released meanwhile. */
static int beat(struct store *s, struct pulse *u)
{
	int64_t patience_ms = u->lease_ms / PARTS;
	char instance[ID_SIZE];
	bool standby;
	int rc = 0;

	if (patience_ms < PATIENCE_MIN_MS)
		patience_ms = PATIENCE_MIN_MS;
	memcpy(instance, u->instance, sizeof(instance));
	u->link.until_ms = clock_mono_ms() + patience_ms;
	pthread_mutex_unlock(&u->lock);
	if (u->link.conn == NULL) {
		rc = pq_link_open(&u->link, s->url);
		/* the latest primary, which the other nodes watch: a heartbeat at
		 * a former primary would renew nothing */
		if (rc == 0)
			rc = store_postgres_check_writable(u, &u->link,
							   &standby);
		if (rc == 0) /* other nodes may have been cut off as well */
			store_postgres_forget_seen(u);
	}
	if (rc == 0)
		rc = store_postgres_beat_by(s, &u->link, instance);
	if (rc != 0 && rc != -EOWNERDEAD)
		pq_link_close(&u->link);
	pthread_mutex_lock(&u->lock);
	return rc;
}

static bool has_to(const struct pulse *u)
{
	return u->instance[0] != '\0' && !u->is_lost;
}

static void *pulse_main(void *arg)
{
	struct store *s = arg;
	struct pulse *u = &postgres_of(s)->pulse;
	int64_t due_ms = clock_mono_ms(), retry_ms = 0;

	pthread_mutex_lock(&u->lock);
	while (!atomic_load(&u->stops)) {
		int64_t now = clock_mono_ms();
		int rc;

		if (!has_to(u) || now < due_ms) {
			store_wait_until(&u->wake, &u->lock,
					 has_to(u) ? due_ms : STORE_FOREVER);
			continue;
		}
		rc = beat(s, u);
		if (u->is_lost)
			store_tell_lost(s);
		retry_ms =
		    rc == 0 ? 0
			    : backoff_ms(retry_ms, RETRY_MIN_MS, RETRY_MAX_MS);
		due_ms =
		    rc == 0 ? now + STORE_BEAT_MS : clock_mono_ms() + retry_ms;
	}
	pthread_mutex_unlock(&u->lock);
	pq_link_close(&u->link);
	return NULL;
}

int store_postgres_pulse_begin(struct store *s)
{
	struct pulse *u = &postgres_of(s)->pulse;
	pthread_attr_t attr;
	sigset_t all, before;
	int rc = 0;

	pthread_mutex_lock(&u->lock);
	pthread_cond_signal(&u->wake); /* a thread may wait for the row */
	pthread_mutex_unlock(&u->lock);
	if (u->is_begun)
		return 0;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&u->thread, &attr, pulse_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	u->is_begun = rc == 0;
	return -rc;
}

void store_postgres_pulse_rejoin(struct pulse *u)
{
	pthread_mutex_lock(&u->lock);
	u->instance[0] = '\0';
	u->is_lost = false;
	pthread_mutex_unlock(&u->lock);
}

bool store_postgres_pulse_is_lost(struct pulse *u)
{
	bool is_lost;

	pthread_mutex_lock(&u->lock);
	is_lost = u->is_lost;
	pthread_mutex_unlock(&u->lock);
	return is_lost;
}

void store_postgres_pulse_end(struct pulse *u)
{
	pthread_mutex_lock(&u->lock);
	atomic_store(&u->stops, true);
	pthread_cond_signal(&u->wake);
	pthread_mutex_unlock(&u->lock);
	if (u->is_begun)
		pthread_join(u->thread, NULL);
	u->is_begun = false;
	free(u->seen);
	u->seen = NULL;
	u->n_seen = 0;
}
