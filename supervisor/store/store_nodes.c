/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_nodes.c - facts that the store's thread and the caller's thread share when
 * several machines use a database: the id, lease and name of this node, and dead nodes.
 * The functions only copy the facts under a lock, without a query.
 */
#include "supervisor/store/store_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"

bool store_is_lost(struct store *s)
{
	bool lost;

	pthread_mutex_lock(&s->lock);
	lost = s->lost;
	pthread_mutex_unlock(&s->lock);
	return lost;
}

void store_rejoin(struct store *s, const char *instance)
{
	atomic_fetch_add(&s->epoch, 1);
	pthread_mutex_lock(&s->lock);
	free(s->rejoin);
	s->rejoin = xstrdup(instance);
	store_wake_thread(s);
	pthread_mutex_unlock(&s->lock);
}

int64_t store_lease_left_ms(const struct store *s)
{
	int64_t until = atomic_load(&s->lease_until_ms);

	return until == STORE_NO_LEASE ? until : until - clock_boot_ms();
}

int64_t store_silent_ms(const struct store *s)
{
	int64_t beaten = atomic_load(&s->beaten_ms);

	return beaten == 0 ? 0 : clock_boot_ms() - beaten;
}

bool store_is_silent(const struct store *s)
{
	return store_lease_left_ms(s) <= 0 ||
	       store_silent_ms(s) >= STORE_SILENT_MS;
}

bool store_is_shared(const struct store *s)
{
	return s->engine->beat != NULL;
}

void store_on_news(struct store *s, void (*on_news)(void *arg), void *arg)
{
	s->on_news = on_news;
	s->on_news_arg = arg;
}

void store_tell_death(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	s->death = true;
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->event_fd, 1);
}

void store_tell_lost(struct store *s)
{
	bool is_news;

	pthread_mutex_lock(&s->lock);
	is_news = !s->lost && s->rejoin == NULL;
	s->lost |= is_news;
	pthread_mutex_unlock(&s->lock);
	if (!is_news)
		return;
	log_error("store",
		  "msg=\"%s: another server has taken over what this "
		  "one had\"",
		  s->db_path);
	eventfd_write(s->event_fd, 1);
}

bool store_found_dead(struct store *s)
{
	bool death;

	pthread_mutex_lock(&s->lock);
	death = s->death;
	s->death = false;
	pthread_mutex_unlock(&s->lock);
	return death;
}

void store_set_node_name(struct store *s, const char *name)
{
	s->node_name = xstrdup(name);
}

const char *store_node_name(const struct store *s)
{
	return s->node_name != NULL ? s->node_name : "";
}

bool store_seal_key(struct store *s, unsigned char key[STORE_SEAL_BYTES])
{
	bool sealed;

	pthread_mutex_lock(&s->lock);
	sealed = s->sealed;
	memcpy(key, s->seal_key, STORE_SEAL_BYTES);
	pthread_mutex_unlock(&s->lock);
	return sealed;
}

void store_tell_load(struct store *s, const struct store_load *load)
{
	pthread_mutex_lock(&s->lock);
	s->load = *load;
	pthread_mutex_unlock(&s->lock);
}

struct store_load store_load(struct store *s)
{
	struct store_load load;

	pthread_mutex_lock(&s->lock);
	load = s->load;
	pthread_mutex_unlock(&s->lock);
	return load;
}
