/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_postgres_listen.c - receives wake-ups of other nodes by NOTIFY, on a channel
 * named by the instance's id. store_postgres_open.c makes each connection listen; the
 * store's thread waits here when idle, and else checks after each batch. A node whose
 * connection ends or may not listen polls as often as without wake-ups.
 */
#include "supervisor/store/postgres/store_postgres_private.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Tests set a longer interval in the URL, -cpaddock.poll_ms=MS, to detect wake-ups. */
#define POLL_MS                                                                \
	"SELECT coalesce(nullif(current_setting('paddock.poll_ms', true),"     \
	" '')::bigint, " STORE_TEXT(STORE_POLL_WOKEN_MS) ")"

int store_postgres_listen(struct store *s)
{
	struct postgres *p = postgres_of(s);
	char sql[ID_SIZE + 16], ms[NUMBER_SIZE];
	int rc;

	snprintf(sql, sizeof(sql), "LISTEN \"%s\"", s->instance);
	rc = pq_link_send_sql(&p->link, sql);
	if (rc == 0)
		rc = store_postgres_ask(p, POLL_MS, 0, NULL, ms, sizeof(ms));
	if (rc == 0)
		store_hears(s, strtoll(ms, NULL, 10));
	return p->link.broken ? rc : 0;
}

/* Did a notification arrive? */
static bool was_woken(struct store *s, struct postgres *p)
{
	char text[16];
	unsigned what = 0;

	while (pq_link_notified(&p->link, text, sizeof(text)))
		what |= strcmp(text, "queue") == 0 ? STORE_WOKEN_QUEUE
						   : STORE_WOKEN_MAIL;
	if (what != 0)
		store_tell_woken(s, what);
	return what != 0;
}

void store_postgres_hear(struct store *s)
{
	if (store_postgres_is_open(s))
		was_woken(s, postgres_of(s));
	else
		store_wakes_lost(s);
}

void store_postgres_rest(struct store *s, int wake_fd, int64_t until_ms)
{
	struct postgres *p = postgres_of(s);
	bool is_open = store_postgres_is_open(s);
	struct pollfd fds[] = {{.fd = wake_fd, .events = POLLIN},
			       {.fd = -1, .events = POLLIN}};
	int64_t ms;

	if (is_open) {
		if (was_woken(s, p)) /* a notification arrived with an answer */
			return;
		fds[1].fd = p->link.pq->socket(p->link.conn);
	} else {
		store_wakes_lost(s);
	}
	ms = until_ms == INT64_MAX ? -1 : until_ms - clock_mono_ms();
	if (until_ms != INT64_MAX && ms < 0)
		ms = 0;
	poll(fds, ARRAY_LEN(fds), ms > INT_MAX ? INT_MAX : (int)ms);
	if (fds[1].revents == 0)
		return;
	if (pq_link_read(&p->link) == 0)
		was_woken(s, p);
	else
		store_wakes_lost(s);
}
