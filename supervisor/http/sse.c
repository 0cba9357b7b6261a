/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.c - the events of one stream as they are kept and written, and their ids.
 * http_stream.c, http_stream_get.c and http_call.c call it. Over a bound the oldest events
 * go; an id that is not ours is false.
 */
#include "supervisor/http/sse.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define ID "%s%" PRIu64 "-%" PRIu64
#define UNRELATED "g" /* of a GET */

void sse_init(struct sse *s, uint64_t number)
{
	*s = (struct sse){.number = number};
	TAILQ_INIT(&s->events);
}

static void let_go(struct sse *s, struct sse_event *e)
{
	TAILQ_REMOVE(&s->events, e, link);
	s->bytes -= e->len;
	s->of[e->kind] -= e->len;
	free(e);
}

void sse_fini(struct sse *s)
{
	struct sse_event *e, *next;

	for (e = TAILQ_FIRST(&s->events); e != NULL; e = next) {
		next = TAILQ_NEXT(e, link);
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
			let_go(s, e);
	}
}

void sse_add(struct sse *s, const char *text, size_t len, enum sse_kind kind)
{
	static const size_t most[] = {[SSE_PASSING] = SSE_PASSING_MAX,
				      [SSE_ASKED] = SSE_ASKED_MAX,
				      [SSE_LARGE] = SIZE_MAX,
				      [SSE_LAST] = SIZE_MAX};
	struct sse_event *e = xcalloc(1, sizeof(*e) + len);

	e->seq = ++s->last;
	e->kind = kind;
	e->len = len;
	memcpy(e->text, text, len);
	TAILQ_INSERT_TAIL(&s->events, e, link);
	s->bytes += len;
	s->of[kind] += len;
	bound(s, kind, most[kind]);
}

void sse_drop(struct sse *s)
{
	let_go(s, TAILQ_FIRST(&s->events));
}

void sse_trim(struct sse *s, size_t bytes)
{
	struct sse_event *e, *next;

	for (e = TAILQ_FIRST(&s->events); e != NULL && s->bytes > bytes;
	     e = next) {
		next = TAILQ_NEXT(e, link);
		if (next != NULL)
			let_go(s, e);
	}
}

size_t sse_bytes_after(const struct sse *s, uint64_t seq)
{
	const struct sse_event *e;
	size_t bytes = 0;

	TAILQ_FOREACH_REVERSE(e, &s->events, sse_events, link) {
		if (e->seq <= seq)
			break;
		bytes += e->len;
	}
	return bytes;
}

const struct sse_event *sse_after(const struct sse *s, uint64_t seq)
{
	const struct sse_event *e, *found = NULL;

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

void sse_put_priming(struct buf *out, const struct sse *s, int retry_ms)
{
	buf_printf(out, "id: " ID "\nretry: %d\ndata: \n\n", mark(s), s->number,
		   s->last, retry_ms);
}

void sse_put_event(struct buf *out, const struct sse *s,
		   const struct sse_event *e)
{
	if (s->number != 0)
		buf_printf(out, "id: " ID "\n", mark(s), s->number, e->seq);
	sse_put_text(out, e->text, e->len);
}

void sse_put_text(struct buf *out, const char *text, size_t len)
{
	buf_add_str(out, "data: ");
	buf_add(out, text, len);
	buf_add_str(out, "\n\n");
}

/* Digits up to END; strtoull(3) takes signs and blanks as well. */
static bool read_number(const char *s, char end, uint64_t *out,
			const char **after)
{
	char *stop;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*out = strtoull(s, &stop, 10);
	*after = stop + 1;
	return errno == 0 && *stop == end;
}

bool sse_read_id(const char *text, struct sse_id *id)
{
	const char *rest, *end;

	id->push = text[0] == UNRELATED[0];
	return read_number(text + id->push, '-', &id->number, &rest) &&
	       read_number(rest, '\0', &id->seq, &end);
}
