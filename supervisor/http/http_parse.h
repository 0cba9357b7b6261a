/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_parse.h - one HTTP/1 request at a time out of a stream of bytes.
 *
 * Pure: no descriptors, no clock; the same bytes give the same requests
 * however they are cut. Stricter than it must be where proxies and servers
 * are known to read the same bytes differently: such a request is refused.
 */
#ifndef SUPERVISOR_HTTP_HTTP_PARSE_H
#define SUPERVISOR_HTTP_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define HTTP_HEAD_MAX 16384  /* bytes, request line and empty line too */
#define HTTP_FIELDS_MAX 100  /* header fields, and as many trailers */
#define HTTP_TARGET_MAX 4096 /* bytes */
#define HTTP_EXTRA_MAX 4096  /* bytes of chunk extensions and of trailers */

enum http_method {
	HTTP_OTHER, /* known to HTTP, not to us */
	HTTP_IS_GET,
	HTTP_IS_POST,
	HTTP_IS_DELETE,
	HTTP_IS_OPTIONS,
	HTTP_IS_HEAD,
	HTTP_IS_PUT, /* its body may be of any length: somebody else bounds it */
};

/* The fields that somebody here asks for; all others are checked and let go. */
enum http_field {
	HTTP_HOST,
	HTTP_ORIGIN,
	HTTP_ACCEPT, /* several are joined by ", " */
	HTTP_CONTENT_TYPE,
	HTTP_AUTHORIZATION,
	HTTP_SESSION,
	HTTP_REVISION,
	HTTP_LAST_EVENT,
	HTTP_DIGEST, /* Content-Digest; several are joined by ", " */
	HTTP_CONTENT_RANGE,
	HTTP_RANGE,
	HTTP_IF_RANGE,
	HTTP_MCP_METHOD,
	HTTP_MCP_NAME,
	HTTP_WANTS_METHOD, /* Access-Control-Request-Method */
	HTTP_WANTS_FIELDS, /* …-Headers; several are joined by ", " */
	HTTP_FIELDS
};

/* A field whose name begins with this has a name of its client's choice. */
#define HTTP_PARAM "Mcp-Param-"

struct http_param {
	char *name; /* as it came: in any case */
	char *value;
};

/* What is lent here lives until http_parse_next(). */
struct http_request {
	enum http_method method;
	const char *path;		/* of the target, without its query */
	const char *query;		/* after the '?'; NULL without one */
	const char *field[HTTP_FIELDS]; /* trimmed; NULL: absent */
	const struct http_param *params;
	size_t n_params;
	bool http_1_0;
	bool keep_alive;     /* the connection may be used again */
	bool wants_continue; /* Expect: 100-continue */
	bool chunked;	     /* its body ends by itself… */
	bool has_length;     /* …or has so many bytes */
	uint64_t length;
	struct buf body;
};

enum http_step {
	HTTP_IN_HEAD, /* the blank line has not come yet */
	HTTP_IN_BODY, /* all but the body is there */
	HTTP_WHOLE,   /* the request is complete; no more is taken */
	HTTP_BAD,     /* refused: answer with its status, and close */
};

struct http_parse;

/* Bodies have at most BODY_MAX bytes. */
struct http_parse *http_parse_new(size_t body_max);
/* The body of a request that is whole, NUL-ended, as the caller's. */
char *http_parse_take_body(struct http_parse *p, size_t *len);
void http_parse_free(struct http_parse *p); /* NULL is fine */

/*
 * At HTTP_IN_BODY or HTTP_WHOLE: the body of this request is not kept, but given to
 * BYTES as it comes, what has come already at once.
 */
void http_parse_sink(struct http_parse *p,
		     void (*bytes)(void *arg, const char *data, size_t n),
		     void *arg);

/* N bytes came; how many were taken: all, but at HTTP_WHOLE and HTTP_BAD. */
size_t http_parse_add(struct http_parse *p, const char *data, size_t n);
enum http_step http_parse_step(const struct http_parse *p);
/* Has a byte of the next request come? */
bool http_parse_begun(const struct http_parse *p);
/* Good from HTTP_IN_BODY on. */
const struct http_request *http_parse_request(const struct http_parse *p);

/* At HTTP_BAD: a status of 4xx or 5xx, and what came and would pass. */
int http_parse_fault(const struct http_parse *p, const char **errmsg);

/* Forget the request, for the next one. */
void http_parse_next(struct http_parse *p);

#endif
