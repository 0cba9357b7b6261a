/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_answer.h - reads an answer of HTTP/1.1 as paddock-egress writes answers to a Lua
 * worker. The bytes are not trusted: what has a form of another kind, or is too long, is
 * bad, and so is all that follows.
 */
#ifndef WORKER_LUA_HTTP_HTTP_ANSWER_H
#define WORKER_LUA_HTTP_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/msg.h"

#define HTTP_HEAD_MAX 65536u /* bytes with first line and blank line */
#define HTTP_FIELDS_MAX 160u
#define HTTP_LINE_MAX 256u   /* bytes of the size of a chunk, or of a trailer */
#define HTTP_INTERIM_MAX 16u /* answers 1xx before the answer */
#define HTTP_REFUSED "Paddock-Error"

enum http_step {
	HTTP_HEAD,
	HTTP_BODY,	/* with a length */
	HTTP_SIZE,	/* the line before a chunk */
	HTTP_CHUNK,	/* the bytes of a chunk */
	HTTP_CHUNK_END, /* the end of the line behind a chunk */
	HTTP_TRAILER,
	HTTP_WHOLE,
	HTTP_BAD
};

struct http_answer {
	enum http_step step;
	bool to_head; /* the request was HEAD: no body follows */
	unsigned status, interim, trailers;
	uint64_t left; /* bytes of the body or the chunk */
	size_t head_len, line_len;
	char line[HTTP_LINE_MAX];
	char refused[64]; /* the code of a refusal or a cut; "": none */
	char head[HTTP_HEAD_MAX];
};

void http_answer_begin(struct http_answer *a, bool to_head);

/*
 * Take bytes of P; returns how many, at least 1 before the end. BODY is the part of the
 * body among the bytes, perhaps empty; borrowed from P.
 */
size_t http_answer_add(struct http_answer *a, const char *p, size_t n,
		       struct str *body);

/* Return the next field of the head, from *AT on, which starts at 0. False: no more. */
bool http_answer_field(const struct http_answer *a, size_t *at,
		       struct str *name, struct str *value);

bool http_is(struct str s, const char *text); /* ignoring case */

/* Is S a token of RFC 9110, section 5.6.2, such as a name of a field or a method? */
bool http_is_token(struct str s);

#endif
