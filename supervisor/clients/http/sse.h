/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.h - the events of a stream, kept so that a client with a lost connection
 * can read the events again, and how events are written
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). Pure.
 */
#ifndef SUPERVISOR_HTTP_SSE_H
#define SUPERVISOR_HTTP_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/id.h"

#define SSE_PASSING_MAX 262144 /* bytes of notifications to keep */
/* bytes of the server's own requests to keep */
#define SSE_ASKED_MAX (8u << 20)

enum sse_kind {
	SSE_PASSING, /* a notification */
	/* a request of the server to the client */
	SSE_ASKED,
	SSE_LARGE, /* a large notification: always kept */
	SSE_LAST,  /* the answer of the request: always kept */
	SSE_KINDS
};

struct sse_event {
	TAILQ_ENTRY(sse_event) link; /* in sse.events */
	uint64_t seq;
	enum sse_kind kind;
	size_t len;
	char *text; /* owned */
};

struct sse {
	/* number of the stream in the session; 0: events have no ids */
	uint64_t number;
	bool push; /* the stream belongs to no request, as the ids say */
	/* borrowed: the instance of the stream, if ids name it, or NULL */
	const char *instance;
	uint64_t last;	      /* number of the newest event; 0: no event yet */
	size_t bytes;	      /* bytes of the events that are kept */
	size_t of[SSE_KINDS]; /* bytes of each kind */
	/* the events kept, oldest first */
	TAILQ_HEAD(sse_events, sse_event) events;
};

void sse_init(struct sse *s, uint64_t number);
void sse_fini(struct sse *s);

/*
 * Append a message, without a newline, as an event. *Copies* TEXT. If events of
 * KIND exceed the bound of KIND, the oldest of KIND are dropped.
 */
void sse_add(struct sse *s, const char *text, size_t len, enum sse_kind kind);
/*
 * Append TEXT as sse_add() does, but *take* the text and leave the buffer
 * empty: for a long text.
 */
void sse_add_taken(struct sse *s, struct buf *text, enum sse_kind kind);
/* Drop the oldest event. */
void sse_drop(struct sse *s);
/*
 * Drop the oldest events until at most BYTES are kept; the newest event stays.
 */
void sse_trim(struct sse *s, size_t bytes);
/* Return the first kept event after SEQ, *lent*, or NULL. */
const struct sse_event *sse_after(const struct sse *s, uint64_t seq);

/* Return the bytes of the kept events after SEQ. */
size_t sse_bytes_after(const struct sse *s, uint64_t seq);

/*
 * Put the first event of a stream: an id to resume with, and after how long
 * (RETRY_MS). No data.
 */
void sse_put_priming(struct buf *out, const struct sse *s, int retry_ms);
/* Put the beginning of an event; the text of the event and SSE_END follow. */
void sse_put_head(struct buf *out, const struct sse *s,
		  const struct sse_event *e);
#define SSE_END "\n\n"

/*
 * The parts of an id. sse_read_id() returns false for an id that paddockd never
 * gives.
 */
struct sse_id {
	uint64_t number, seq;
	bool push;
	char instance[ID_SIZE]; /* the instance of the stream, or "" */
};
bool sse_read_id(const char *text, struct sse_id *id);

#endif
