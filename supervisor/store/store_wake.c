/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_wake.c - wake-ups between machines that share a database: after a
 * durable batch the store's thread wakes the instances that wait for its rows,
 * and notes wake-ups of this instance. The thread and its operations call it. A
 * lost wake-up is not repeated, since the other instance also polls.
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
 * PostgreSQL signals each server process that listens, whichever it is for: some 25 us
 * of a core. So a node wakes others seldom as they are many, for all of them to cost no
 * more than so many of these a second. A burst is one wake after that time; where it
 * is longer than a poll takes, none.
 */
#define SIGNALS_PER_S 10000

#define SOME_MIN                                                               \
	2 /* of those that have room: the heartbeat that says so is old */
#define SOME_MAX 32

/* ---- others ---- */

/* Those that are to be woken so late have looked by then. */
static bool is_too_late(const struct store *s)
{
	return s->wakes.next_ms > clock_mono_ms() + STORE_POLL_WOKEN_MS;
}

/* Is NODE among the lines of B? Each begins with a newline. */
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

/* Alone on its database a node has nobody to wake, and asks for nobody. */
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

static int some(int runs)
{
	return runs < SOME_MAX - SOME_MIN ? runs + SOME_MIN : SOME_MAX;
}

void store_wake_now(struct store *s)
{
	int64_t nodes = s->about.nodes;
	struct store_cursor *st;
	char *lines;

	if (store_wake_due_ms(s) == INT64_MAX)
		return;
	buf_add(&s->wakes.nodes, "", 1);
	lines = buf_take(&s->wakes.nodes, NULL);
	if (s->engine->is_open(s)) {
		st =
		    store_query(s, STMT_WAKE,
				STORE_STR(lines[0] != '\0' ? lines + 1 : lines),
				STORE_STR(s->wakes.run), STORE_STR(s->instance),
				STORE_NUM(some(s->wakes.runs)));
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

/* ---- ourselves ---- */

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

/* Either way something may have been missed until now. */
void store_hears(struct store *s, int64_t ms)
{
	if (atomic_exchange(&s->poll_ms, ms) != ms)
		store_tell_woken(s, STORE_WOKEN_MAIL | STORE_WOKEN_QUEUE);
}

void store_is_deaf(struct store *s)
{
	store_hears(s, STORE_POLL_MS);
}

int64_t store_poll_ms(const struct store *s)
{
	if (store_is_shared(s))
		return atomic_load(&s->poll_ms);
	return atomic_load(&s->nudged) ? STORE_POLL_WOKEN_MS : STORE_POLL_MS;
}
