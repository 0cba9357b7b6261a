/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_wake.c - wake-ups between machines that share a database: after a durable batch
 * the store's thread wakes the instances that wait for rows of the batch, and notes
 * wake-ups of this instance. The thread and the operations call the functions. A lost
 * wake-up is not repeated, since each instance also polls.
 */
#include "supervisor/store/store_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os/log.h"

/*
 * PostgreSQL signals each listening server process for every notification: about 25 us of
 * a core each. So a node wakes others the more rarely the more nodes there are, to keep
 * all nodes together below SIGNALS_PER_S. A burst becomes a single wake-up after the
 * pause; when the pause is longer than a poll interval, no wake-up is sent.
 */
#define SIGNALS_PER_S 10000

/* instances with room to wake: the last heartbeat may be out of date */
#define SOME_MIN 2
#define SOME_MAX 32

/* ---- wake-ups of other instances ---- */

/* Would a wake-up come so late that the other instances have polled already? */
static bool is_too_late(const struct store *s)
{
	return s->wakes.next_ms > clock_mono_ms() + STORE_POLL_WOKEN_MS;
}

/* Is NODE among the lines of B? Each line begins with a newline. */
static bool has_line(const struct buf *b, const char *node)
{
	size_t n = strlen(node);
	const char *at = buf_data(b), *end = at + buf_len(b);

	while (at < end) {
		const char *line = at + 1;

		at = memchr(line, '\n', (size_t)(end - line));
		if (at == NULL)
			at = end;
		if ((size_t)(at - line) == n && memcmp(line, node, n) == 0)
			return true;
	}
	return false;
}

void store_wake_node(struct store *s, const char *node)
{
	if (node[0] == '\0' || strcmp(node, s->instance) == 0 ||
	    is_too_late(s) || has_line(&s->wakes.nodes, node))
		return;
	buf_printf(&s->wakes.nodes, "\n%s", node);
}

/* A node alone on the database has no other node to wake, and needs no wake-ups. */
void store_wake_some(struct store *s, const char *run)
{
	if (s->about.nodes < 2 || is_too_late(s))
		return;
	snprintf(s->wakes.run, sizeof(s->wakes.run), "%s", run);
	s->wakes.runs++;
}

int64_t store_wake_due_ms(const struct store *s)
{
	return buf_len(&s->wakes.nodes) > 0 || s->wakes.runs > 0
		   ? s->wakes.next_ms
		   : INT64_MAX;
}

void store_wake_now(struct store *s)
{
	int64_t nodes = s->about.nodes, some = s->wakes.runs + SOME_MIN;
	struct store_cursor *st;
	char *lines;

	if (store_wake_due_ms(s) == INT64_MAX)
		return;
	buf_add(&s->wakes.nodes, "", 1);
	lines = buf_take(&s->wakes.nodes, NULL);
	if (some > SOME_MAX)
		some = SOME_MAX;
	if (s->engine->is_open(s)) {
		st =
		    store_query(s, STMT_WAKE,
				STORE_STR(lines[0] != '\0' ? lines + 1 : lines),
				STORE_STR(s->wakes.run), STORE_STR(s->instance),
				STORE_NUM(some));
		while (store_sql_step(s, st) == 1)
			;
		if (s->errmsg[0] != '\0')
			log_debug("store", "wake=failed msg=\"%s\"", s->errmsg);
		s->errmsg[0] = '\0';
		s->why_rc = 0;
	}
	free(lines);
	s->wakes.run[0] = '\0';
	s->wakes.runs = 0;
	s->wakes.next_ms =
	    clock_mono_ms() + nodes * nodes * 1000 / SIGNALS_PER_S;
}

/* ---- wake-ups of this instance ---- */

void store_tell_woken(struct store *s, unsigned what)
{
	pthread_mutex_lock(&s->lock);
	s->woken |= what;
	pthread_mutex_unlock(&s->lock);
	eventfd_write(s->event_fd, 1);
}

unsigned store_woken(struct store *s)
{
	unsigned what;

	pthread_mutex_lock(&s->lock);
	what = s->woken;
	s->woken = 0;
	pthread_mutex_unlock(&s->lock);
	return what;
}

/*
 * Set the poll interval. After a change in either direction something may have
 * been missed.
 */
void store_hears(struct store *s, int64_t ms)
{
	if (atomic_exchange(&s->poll_ms, ms) != ms)
		store_tell_woken(s, STORE_WOKEN_MAIL | STORE_WOKEN_QUEUE);
}

void store_wakes_lost(struct store *s)
{
	store_hears(s, STORE_POLL_MS);
}

int64_t store_poll_ms(const struct store *s)
{
	if (store_is_shared(s))
		return atomic_load(&s->poll_ms);
	return atomic_load(&s->nudged) ? STORE_POLL_WOKEN_MS : STORE_POLL_MS;
}
