/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.h - writes a request or an answer anew, from what was read: fields of one
 * connection (RFC 9110, section 7.6.1) stay behind, and the body's end is said in one
 * way.
 */
#ifndef EGRESS_PARSE_FORWARD_H
#define EGRESS_PARSE_FORWARD_H

#include "base/buf.h"
#include "egress/parse/message.h"

/* Changes of the fields of a head; a NULL member changes nothing. */
struct changes {
	bool (*drops)(void *arg, const struct field *f);
	/* writes another value; false: the value stays */
	bool (*writes)(void *arg, const struct field *f, struct buf *to);
	const struct buf *more; /* whole fields, each with CR LF */
	void *arg;
};

/*
 * Write M's head for HOST; PATH is of the target, with a query, or empty. CHANGES may be
 * NULL.
 */
void forward_request(struct buf *to, const struct message *m, const char *host,
		     struct span path, const struct changes *changes);
/*
 * Write M's head for a client of HTTP/1.1, or of 1.0 where OLD. CLOSES: the connection
 * ends with the answer. RECHUNKS: the body follows in chunks.
 */
void forward_answer(struct buf *to, const struct message *m, bool old,
		    bool closes, bool rechunks, const struct changes *changes);

/* Write a part of a body, as a chunk where CHUNKED; N may be 0: nothing is written. */
void forward_part(struct buf *to, const char *p, size_t n, bool chunked);
void forward_end(struct buf *to, bool chunked); /* the body is whole */
/* The body, in chunks, is cut for the reason CODE. */
void forward_cut(struct buf *to, const char *code);

#define FORWARD_ERROR "Paddock-Error" /* field of refusals; never a host's */
/* field of a worker's request: how long an answer may take */
#define FORWARD_TIMEOUT "Paddock-Timeout-Ms"

#endif
