/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_parse.h - parses one HTTP/1 request at a time out of a stream of bytes.
 *
 * Pure: no descriptors, no clock; the same bytes give the same requests however
 * they are cut. The parser is stricter than HTTP demands: a request that
 * proxies and servers are known to read differently is refused.
 */
#ifndef SUPERVISOR_HTTP_HTTP_PARSE_H
#define SUPERVISOR_HTTP_HTTP_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define HTTP_HEAD_MAX 16384  /* bytes, with request line and empty line */
#define HTTP_FIELDS_MAX 100  /* header fields, and as many trailers */
#define HTTP_TARGET_MAX 4096 /* bytes of a request's target */
#define HTTP_EXTRA_MAX 4096  /* bytes of chunk extensions and trailers */

enum http_method {
	HTTP_OTHER, /* a method of HTTP that paddock does not serve */
	HTTP_IS_GET,
	HTTP_IS_POST,
	HTTP_IS_DELETE,
	HTTP_IS_OPTIONS,
	HTTP_IS_HEAD,
	HTTP_IS_PUT, /* its body may have any length: the caller bounds it */
};

/* The fields that paddock uses; all other fields are checked and dropped. */
enum http_field {
	HTTP_HOST,
	HTTP_ORIGIN,
	HTTP_ACCEPT, /* values of several fields are joined by ", " */
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
	/* Access-Control-Request-Headers; several are joined by ", " */
	HTTP_WANTS_FIELDS,
	HTTP_FIELDS
};

/* The client chooses the rest of a field name that begins with HTTP_PARAM. */
#define HTTP_PARAM "Mcp-Param-"

struct http_param {
	char *name; /* as it came, in any case */
	char *value;
};

/* Pointers in here are *lent* until http_parse_next(). */
struct http_request {
	enum http_method method;
	const char *path;  /* of the target, without the query */
	const char *query; /* after the '?'; NULL: no query */
	/* value without blanks around; NULL: absent */
	const char *field[HTTP_FIELDS];
	const struct http_param *params;
	size_t n_params;
	bool http_1_0;
	bool keep_alive;     /* the connection may be used again */
	bool wants_continue; /* Expect: 100-continue */
	bool chunked;	     /* the body is in chunks */
	bool has_length;     /* the body has LENGTH bytes */
	uint64_t length;
	struct buf body;
};

enum http_step {
	HTTP_IN_HEAD, /* the blank line has not come yet */
	HTTP_IN_BODY, /* the head is complete, the body is coming */
	HTTP_WHOLE,   /* the request is complete; no more is taken */
	HTTP_BAD,     /* refused: answer with http_parse_fault(), and close */
};

struct http_parse;

/* Make a parser for bodies of at most BODY_MAX bytes. */
struct http_parse *http_parse_new(size_t body_max);
/* Return the body of a whole request, NUL-ended, which the caller owns. */
char *http_parse_take_body(struct http_parse *p, size_t *len);
void http_parse_free(struct http_parse *p); /* NULL is fine */

/*
 * Call this at HTTP_IN_BODY or HTTP_WHOLE: the body of this request goes to
 * BYTES as it comes and is not kept; the part that has come already goes there
 * at once.
 */
void http_parse_sink(struct http_parse *p,
		     void (*bytes)(void *arg, const char *data, size_t n),
		     void *arg);

/*
 * Parse N bytes. Returns how many were taken: all N, except at HTTP_WHOLE and
 * HTTP_BAD.
 */
size_t http_parse_add(struct http_parse *p, const char *data, size_t n);
enum http_step http_parse_step(const struct http_parse *p);
/* Has a byte of the next request come? */
bool http_parse_begun(const struct http_parse *p);
/* Return the request; valid from HTTP_IN_BODY on. */
const struct http_request *http_parse_request(const struct http_parse *p);

/*
 * At HTTP_BAD: return a status of 4xx or 5xx, and in *ERRMSG what came and what
 * would pass.
 */
int http_parse_fault(const struct http_parse *p, const char **errmsg);

/* Drop the request and prepare for the next. */
void http_parse_next(struct http_parse *p);

#endif
