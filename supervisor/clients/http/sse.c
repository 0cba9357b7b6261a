/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.c - the events of a stream, as kept and as written, and the ids of
 * events. http_exchange.c, http_stream.c and http_conn_reply.c call these
 * functions. Above a bound the oldest events are dropped;
 * sse_read_id() returns false for an id that paddockd never gives.
 */
#include "supervisor/clients/http/sse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ID "%s%" PRIu64 "-%" PRIu64 "%s%s"
#define UNRELATED "g" /* marks the ids of a GET stream */

void sse_init(struct sse *s, uint64_t number)
{
	*s = (struct sse){.number = number};
	TAILQ_INIT(&s->events);
}

static void drop_event(struct sse *s, struct sse_event *e)
{
	TAILQ_REMOVE(&s->events, e, link);
	s->bytes -= e->len;
	s->of[e->kind] -= e->len;
	free(e->text);
	free(e);
}

void sse_fini(struct sse *s)
{
	struct sse_event *e, *next;

	for (e = TAILQ_FIRST(&s->events); e != NULL; e = next) {
		next = TAILQ_NEXT(e, link);
		free(e->text);
		free(e);
	}
	sse_init(s, s->number);
}

static void bound(struct sse *s, enum sse_kind kind, size_t most)
{
	struct sse_event *e, *next;

	for (e = TAILQ_FIRST(&s->events); e != NULL && s->of[kind] > most;
	     e = next) {
		next = TAILQ_NEXT(e, link);
		if (e->kind == kind)
			drop_event(s, e);
	}
}

/* Add an event. *Takes* TEXT. */
static void add_event(struct sse *s, char *text, size_t len, enum sse_kind kind)
{
	static const size_t most[] = {[SSE_PASSING] = SSE_PASSING_MAX,
				      [SSE_ASKED] = SSE_ASKED_MAX,
				      [SSE_LARGE] = SIZE_MAX,
				      [SSE_LAST] = SIZE_MAX};
	struct sse_event *e = xcalloc(1, sizeof(*e));

	e->seq = ++s->last;
	e->kind = kind;
	e->len = len;
	e->text = text;
	TAILQ_INSERT_TAIL(&s->events, e, link);
	s->bytes += len;
	s->of[kind] += len;
	bound(s, kind, most[kind]);
}

void sse_add(struct sse *s, const char *text, size_t len, enum sse_kind kind)
{
	add_event(s, xstrndup(text, len), len, kind);
}

void sse_add_taken(struct sse *s, struct buf *text, enum sse_kind kind)
{
	size_t len;
	char *taken = buf_take(text, &len);

	add_event(s, taken, len, kind);
}

void sse_drop(struct sse *s)
{
	drop_event(s, TAILQ_FIRST(&s->events));
}

void sse_trim(struct sse *s, size_t bytes)
{
	struct sse_event *e, *next;

	for (e = TAILQ_FIRST(&s->events); e != NULL && s->bytes > bytes;
	     e = next) {
		next = TAILQ_NEXT(e, link);
		if (next != NULL)
			drop_event(s, e);
	}
}

size_t sse_bytes_after(const struct sse *s, uint64_t seq)
{
	const struct sse_event *e = TAILQ_FIRST(&s->events);
	size_t bytes = 0;

	if (e == NULL || e->seq > seq)
		return s->bytes;
	TAILQ_FOREACH_REVERSE(e, &s->events, sse_events, link) {
		if (e->seq <= seq)
			break;
		bytes += e->len;
	}
	return bytes;
}

const struct sse_event *sse_after(const struct sse *s, uint64_t seq)
{
	const struct sse_event *e = TAILQ_FIRST(&s->events), *found = NULL;

	if (e == NULL || e->seq > seq)
		return e;
	TAILQ_FOREACH_REVERSE(e, &s->events, sse_events, link) {
		if (e->seq <= seq)
			break;
		found = e;
	}
	return found;
}

static const char *mark(const struct sse *s)
{
	return s->push ? UNRELATED : "";
}

static const char *event_prefix(const struct sse *s)
{
	return s->instance != NULL ? s->instance : "";
}

void sse_put_priming(struct buf *out, const struct sse *s, int retry_ms)
{
	buf_printf(out, "id: " ID "\nretry: %d\ndata: \n\n", mark(s), s->number,
		   s->last, *event_prefix(s) != '\0' ? "-" : "",
		   event_prefix(s), retry_ms);
}

void sse_put_head(struct buf *out, const struct sse *s,
		  const struct sse_event *e)
{
	if (s->number != 0)
		buf_printf(out, "id: " ID "\n", mark(s), s->number, e->seq,
			   *event_prefix(s) != '\0' ? "-" : "",
			   event_prefix(s));
	buf_add_str(out, "data: ");
}

/*
 * Read the digits at *S and set *S to the first byte after them. strtoull(3)
 * alone would accept signs and blanks.
 */
static bool read_number(const char **s, uint64_t *out)
{
	char *stop;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	*out = strtoull(*s, &stop, 10);
	*s = stop;
	return errno == 0;
}

bool sse_read_id(const char *text, struct sse_id *id)
{
	id->instance[0] = '\0';
	id->push = text[0] == UNRELATED[0];
	text += id->push;
	if (!read_number(&text, &id->number) || *text++ != '-' ||
	    !read_number(&text, &id->seq))
		return false;
	if (*text == '\0')
		return true;
	if (*text++ != '-' || !id_ok(text, "inst"))
		return false;
	snprintf(id->instance, sizeof(id->instance), "%s", text);
	return true;
}
