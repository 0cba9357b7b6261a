/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - reads one message of HTTP/1 at a time, a request or an answer, and keeps
 * what is needed to write the message anew: never a byte of a head goes on as it came.
 *
 * Stricter than HTTP: what proxies and servers are known to read differently is bad.
 */
#ifndef EGRESS_PARSE_MESSAGE_H
#define EGRESS_PARSE_MESSAGE_H

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define MESSAGE_HEAD_MAX 65536u	 /* bytes with first line and blank line */
#define MESSAGE_FIELDS_MAX 128u	 /* fields of a head */
#define MESSAGE_EXTRA_MAX 16384u /* bytes of chunk extensions and trailers */

enum message_step {
	MESSAGE_HEAD,  /* the blank line has not come */
	MESSAGE_BODY,  /* the head is there; the body is coming */
	MESSAGE_WHOLE, /* the end was read; no more is taken */
	MESSAGE_BAD
};

struct span { /* borrowed from the head */
	const char *p;
	size_t n;
};

struct field {
	struct span name, value; /* the value without blanks around */
};

struct message {
	llhttp_t parser;
	enum message_step step;
	bool answer;
	bool to_head; /* an answer to HEAD: no body follows */
	struct buf head;
	struct span target; /* of a request */
	struct field fields[MESSAGE_FIELDS_MAX];
	size_t n_fields;
	size_t extra;
	bool has_length, chunked;
	bool until_end;	 /* an answer whose body ends with the connection */
	bool keeps;	 /* the connection may be used again, says the head */
	uint64_t length; /* where there is one */
	/* gets the parts of the body */
	void (*body)(void *arg, const char *p, size_t n);
	void *arg;
};

/* Prepare for a message; BODY is called within message_add(). */
void message_init(struct message *m, bool answer,
		  void (*body)(void *arg, const char *p, size_t n), void *arg);
void message_next(struct message *m); /* drops the message, for the next */
void message_fini(struct message *m);

/*
 * Take bytes; returns how many were taken: up to the end of the head, so that the caller
 * can decide, later of the message; all when bad.
 */
size_t message_add(struct message *m, const char *p, size_t n);
void message_end(struct message *m); /* the connection has ended */

/* Return the method of a request, in capitals; "" before the head is whole. */
const char *message_method(const struct message *m);
unsigned message_status(const struct message *m);
bool message_is_1_0(const struct message *m);
/* The field NAME, in any case; NULL: none. Of several the first. */
const struct field *message_field(const struct message *m, const char *name);

bool span_is(struct span s, const char *text); /* ignoring case */
/* Is WORD in the list S, separated by commas, ignoring case? */
bool span_lists(struct span s, const char *p, size_t n);

#endif
