/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse.h - the events of one stream, kept so that a client that lost its
 * connection can have them again; and how they are written
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html). Pure.
 */
#ifndef SUPERVISOR_HTTP_SSE_H
#define SUPERVISOR_HTTP_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"

#define SSE_PASSING_MAX 262144	 /* bytes of notifications that are kept */
#define SSE_ASKED_MAX (8u << 20) /* and of requests of ours */

enum sse_kind {
	SSE_PASSING, /* a notification */
	SSE_ASKED, /* a request of ours: who was asked long ago has answered */
	SSE_LARGE, /* a notification that waited until others were read: kept */
	SSE_LAST,  /* the answer: always kept */
	SSE_KINDS
};

struct sse_event {
	TAILQ_ENTRY(sse_event) link; /* in sse.events */
	uint64_t seq;
	enum sse_kind kind;
	size_t len;
	char text[];
};

struct sse {
	uint64_t number;      /* of the stream, in its session; 0: it has none,
				 and its events no ids */
	bool push;	      /* it is of no request: its ids say so */
	uint64_t last;	      /* the newest event's; 0: none yet */
	size_t bytes;	      /* kept */
	size_t of[SSE_KINDS]; /* of these, of each kind */
	TAILQ_HEAD(sse_events, sse_event) events; /* oldest first */
};

void sse_init(struct sse *s, uint64_t number);
void sse_fini(struct sse *s);

/*
 * Copies one message, without a newline, as the next event. Over the bound of
 * its kind the oldest of that kind go.
 */
void sse_add(struct sse *s, const char *text, size_t len, enum sse_kind kind);
/* Let go of the oldest event that is kept. */
void sse_drop(struct sse *s);
/* Let the oldest go down to BYTES in all; the newest stays. */
void sse_trim(struct sse *s, size_t bytes);
/* The first that is kept after SEQ; NULL: none. Lent. */
const struct sse_event *sse_after(const struct sse *s, uint64_t seq);

/* Bytes of the events that are kept after SEQ. */
size_t sse_bytes_after(const struct sse *s, uint64_t seq);

/* What goes first: an id to come back with, and when (RETRY_MS). No data. */
void sse_put_priming(struct buf *out, const struct sse *s, int retry_ms);
void sse_put_event(struct buf *out, const struct sse *s,
		   const struct sse_event *e);
/* One message as an event without an id. */
void sse_put_text(struct buf *out, const char *text, size_t len);

/* An id of ours, taken apart. False: it is none. */
struct sse_id {
	uint64_t number, seq;
	bool push;
};
bool sse_read_id(const char *text, struct sse_id *id);

#endif
