/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_about.c - describes the database server of a store: the running store
 * reports the last observation of the store's thread, and a start queries the
 * server. health.c asks on a thread of health.c. An unknown value is 0; a
 * failure is reported like the failure of any request.
 */
#include "supervisor/store/store_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

char *store_url_name(const char *url)
{
	const char *host = strstr(url, "://") + strlen("://");
	const char *at = strchr(host, '@');
	size_t len = strcspn(host, "?");

	if (at != NULL && at < host + len) {
		len -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	return xasprintf("postgresql://%.*s", (int)len, host);
}

void store_note_about(struct store *s)
{
	struct store_database about = {.reachable = s->engine->is_open(s)};
	const struct store_req *r;

	if (s->engine->about == NULL)
		return;
	s->engine->about(s, &about);
	STAILQ_FOREACH(r, &s->retry_queue, link)
		about.waiting++;
	pthread_mutex_lock(&s->lock);
	s->about = about;
	pthread_mutex_unlock(&s->lock);
}

/*
 * Mark the database as reachable right after a successful request, without
 * waiting for the next heartbeat.
 */
void store_note_reached(struct store *s)
{
	if (s->engine->about != NULL && !s->about.reachable &&
	    s->engine->is_open(s))
		store_note_about(s);
}

bool store_about(struct store *s, struct store_database *about)
{
	if (s->engine->about == NULL)
		return false;
	pthread_mutex_lock(&s->lock);
	*about = s->about;
	if ((s->failing[0] != '\0' && s->failing_rc == -ENOTCONN) ||
	    store_is_silent(s))
		about->reachable = false;
	pthread_mutex_unlock(&s->lock);
	snprintf(about->name, sizeof(about->name), "%s", s->db_path);
	return true;
}

int store_look_database(const char *url, struct store_database *about,
			char *errmsg, size_t size)
{
	struct store s = {.url = xstrdup(url), .db_path = store_url_name(url)};
	int rc;

	pthread_mutex_init(&s.lock, NULL);
	*about = (struct store_database){0};
	snprintf(about->name, sizeof(about->name), "%s", s.db_path);
	rc = store_postgres_look(&s, about);
	if (rc != 0)
		snprintf(errmsg, size, "%s", s.errmsg);
	pthread_mutex_destroy(&s.lock);
	free(s.db);
	free(s.db_path);
	free(s.url);
	return rc;
}
