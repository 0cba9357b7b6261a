/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - the answers of a batch (MCP 2025-03-26 alone), sent as a single
 * array after the last. dispatch.c makes a batch for requests it begins,
 * request.c adds the answers. When the client is gone, the batch is freed with
 * its last request.
 */
#include "supervisor/session/batch.h"

#include <stdlib.h>

#include "base/mem.h"

struct batch {
	struct session *session;
	void *stream;
	bool wanted; /* a message of the batch gets an answer */
	size_t waiting;
	struct buf answers; /* "[a,b" of the answers so far */
};

struct batch *batch_new(struct session *s, void *stream, size_t n)
{
	struct batch *b = xcalloc(1, sizeof(*b));

	b->session = s;
	b->stream = stream;
	b->waiting = n;
	return b;
}

void batch_want(struct batch *b)
{
	b->wanted = true;
}

size_t batch_bytes(const struct batch *b, size_t each)
{
	return buf_len(&b->answers) + b->waiting * each;
}

void batch_skip(struct batch *b)
{
	if (--b->waiting > 0)
		return;
	if (b->session != NULL && b->wanted) {
		struct session *s = b->session;
		bool any = buf_len(&b->answers) > 0;

		buf_add_str(&b->answers, "]");
		s->ops->answer(
		    s->arg, b->stream, any ? buf_data(&b->answers) : NULL,
		    any ? buf_len(&b->answers) : 0, (struct reply_hint){0});
	}
	buf_fini(&b->answers);
	free(b);
}

void batch_add(struct batch *b, const struct buf *answer)
{
	buf_add_str(&b->answers, buf_len(&b->answers) > 0 ? "," : "[");
	buf_add(&b->answers, buf_data(answer), buf_len(answer));
}

void batch_gone(struct batch *b)
{
	b->session = NULL;
}
