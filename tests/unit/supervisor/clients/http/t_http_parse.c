/* SPDX-License-Identifier: Apache-2.0 */
/* t_http_parse.c - requests parsed from bytes in pieces of any size. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "supervisor/clients/http/http_field.h"
#include "supervisor/clients/http/http_parse.h"
#include "tests/unit/tap.h"

#define BODY_MAX 64

static char seen[8192];

static void note(const struct http_parse *p)
{
	const struct http_request *r;
	size_t at = strlen(seen);
	const char *errmsg;

	if (http_parse_step(p) == HTTP_BAD) {
		snprintf(seen + at, sizeof(seen) - at, "<%d>",
			 http_parse_fault(p, &errmsg));
		return;
	}
	r = http_parse_request(p);
	snprintf(seen + at, sizeof(seen) - at, "<%d %s%s%s %s%s%s%.*s>",
		 (int)r->method, r->path, r->query != NULL ? "?" : "",
		 r->query != NULL ? r->query : "", r->field[HTTP_HOST],
		 r->keep_alive ? " +" : " -", r->wants_continue ? "!" : "",
		 (int)buf_len(&r->body),
		 buf_len(&r->body) > 0 ? buf_data(&r->body) : "");
}

/* The requests parsed from BYTES in pieces of CUT bytes. */
static const char *read_all(const char *bytes, size_t n, size_t cut)
{
	struct http_parse *p = http_parse_new(BODY_MAX);

	seen[0] = '\0';
	for (size_t at = 0; at < n;) {
		size_t len = n - at < cut ? n - at : cut, used;

		used = http_parse_add(p, bytes + at, len);
		at += used;
		if (http_parse_step(p) == HTTP_WHOLE) {
			note(p);
			http_parse_next(p);
		} else if (http_parse_step(p) == HTTP_BAD) {
			note(p);
			break;
		} else if (used < len) {
			snprintf(seen, sizeof(seen), "stuck");
			break;
		}
	}
	http_parse_free(p);
	return seen;
}

#define H "Host: a\r\n"
#define BYTES(s) (s), sizeof(s) - 1

static const struct {
	const char *in;
	size_t n;
	const char *want, *name;
} cases[] = {
    {BYTES("GET /mcp HTTP/1.1\r\n" H "\r\n"), "<1 /mcp a +>", "a GET"},
    {BYTES("GET /mcp HTTP/1.0\r\n" H "\r\n"), "<1 /mcp a ->",
     "HTTP/1.0 closes"},
    {BYTES("GET / HTTP/1.0\r\n" H "Connection: keep-alive\r\n\r\n"),
     "<1 / a +>", "unless it is asked not to"},
    {BYTES("GET / HTTP/1.1\r\n" H "Connection: close\r\n\r\n"), "<1 / a ->",
     "Connection: close"},
    {BYTES("GET /a?b=c?d HTTP/1.1\r\n" H "\r\n"), "<1 /a?b=c?d a +>",
     "a query is apart"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 3\r\n\r\nabc"),
     "<2 / a +abc>", "a body of known length"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 0\r\n\r\n"), "<2 / a +>",
     "an empty body"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
     "<2 / a +abcde>", "a body in chunks"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: Chunked\r\n\r\n"
	   "3;x=y\r\nabc\r\n0\r\nHost: b\r\n\r\n"),
     "<2 / a +abc>", "extensions are let go, a trailer changes no field"},
    {BYTES("GET /1 HTTP/1.1\r\n" H "\r\nPOST /2 HTTP/1.1\r\n" H
	   "Content-Length: 1\r\n\r\nxGET /3 HTTP/1.1\r\n" H "\r\n"),
     "<1 /1 a +><2 /2 a +x><1 /3 a +>", "one after the other"},
    {BYTES("POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\n"
	   "Content-Length: 1\r\n\r\nx"),
     "<2 / a +!x>", "Expect is told"},
    {BYTES("POST / HTTP/1.1\r\n" H "Expect: tea\r\n\r\n"), "<417>",
     "another Expect is refused"},
    {BYTES("GET / HTTP/1.1\r\nhOsT:\t a \t\r\n\r\n"), "<1 / a +>",
     "names in any case, values trimmed"},
    {BYTES("GET http://A/x HTTP/1.1\r\n" H "\r\n"), "<1 /x a +>",
     "an absolute target of the same host"},
    {BYTES("GET http://b/x HTTP/1.1\r\n" H "\r\n"), "<400>",
     "an absolute target of another host"},
    {BYTES("GET / HTTP/1.1\r\n" H "Upgrade: h2c\r\nConnection: upgrade\r\n"
	   "\r\n"),
     "<1 / a +>", "no upgrade is done"},
    {BYTES("PATCH / HTTP/1.1\r\n" H "\r\n"), "<0 / a +>", "another method"},
    {BYTES("FOO / HTTP/1.1\r\n" H "\r\n"), "<501>", "no method of HTTP's"},
    {BYTES("OPTIONS * HTTP/1.1\r\n" H "\r\n"), "<4 * a +>", "OPTIONS *"},
    {BYTES("GET * HTTP/1.1\r\n" H "\r\n"), "<400>", "GET *"},
    {BYTES("CONNECT a:1 HTTP/1.1\r\n" H "\r\n"), "<0 a:1 a +>", "CONNECT"},

    /* requests which other servers accept */
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 4\r\n"
	   "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
	   "GET /smuggled HTTP/1.1\r\n" H "\r\n"),
     "<400>", "Content-Length with Transfer-Encoding"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n"
	   "Content-Length: 4\r\n\r\n0\r\n\r\n"),
     "<400>", "and in the other order"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 1\r\n"
	   "Content-Length: 2\r\n\r\nxy"),
     "<400>", "two Content-Lengths"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 1\r\n"
	   "Content-Length: 1\r\n\r\nx"),
     "<400>", "even the same"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 1, 1\r\n\r\nx"), "<400>",
     "a list of lengths"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: +2\r\n\r\nxy"), "<400>",
     "a length with a sign"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 0x2\r\n\r\nxy"), "<400>",
     "a length in hex"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: \r\n\r\n"), "<400>",
     "an empty length"},
    {BYTES("POST / HTTP/1.1\r\n" H
	   "Content-Length: 18446744073709551617\r\n\r\n"),
     "<400>", "a length beyond 64 bits"},
    {BYTES("POST / HTTP/1.1\r\nHost : a\r\n\r\n"), "<400>",
     "a space before the colon"},
    {BYTES("GET / HTTP/1.1\nHost: a\n\n"), "<400>", "bare newlines"},
    {BYTES("GET / HTTP/1.1\r\n" H "X: a\n\r\n"), "<400>", "one bare newline"},
    {BYTES("GET / HTTP/1.1\r\n" H "X: a\rb\r\n\r\n"), "<400>",
     "a bare carriage return"},
    {BYTES("GET / HTTP/1.1\r\n" H "X: a\0b\r\n\r\n"), "<400>", "a NUL"},
    {BYTES("GET / HTTP/1.1\r\n" H "X: a\1b\r\n\r\n"), "<400>",
     "a control character"},
    {BYTES("GET /\x7f HTTP/1.1\r\n" H "\r\n"), "<400>", "DEL"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n"),
     "<501>", "an unknown Transfer-Encoding"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n"),
     "<501>", "one before chunked"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n"
	   "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
     "<400>", "two Transfer-Encodings"},
    {BYTES("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "0\r\n\r\n"),
     "<400>", "chunks in HTTP/1.0"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "0x2\r\nab\r\n0\r\n\r\n"),
     "<400>", "a chunk's size with 0x"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "-1\r\nab\r\n0\r\n\r\n"),
     "<400>", "a chunk's size with a sign"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "1\r\nab\r\n0\r\n\r\n"),
     "<400>", "a chunk longer than it says"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "2\nab\n0\n\n"),
     "<400>", "chunks with bare newlines"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "11111111111111111\r\n"),
     "<400>", "a chunk beyond 64 bits"},
    {BYTES("GET / HTTP/1.1\r\n" H "X: a\r\n b\r\n\r\n"), "<400>",
     "a folded line"},
    {BYTES("GET / HTTP/1.1\r\n X: a\r\n" H "\r\n"), "<400>",
     "a blank before the first field"},
    {BYTES("GET / HTTP/1.1\r\n\r\n"), "<400>", "no Host"},
    {BYTES("GET / HTTP/1.0\r\n\r\n"), "<400>", "no Host in HTTP/1.0"},
    {BYTES("GET / HTTP/1.1\r\nHost:\r\n\r\n"), "<400>", "an empty Host"},
    {BYTES("GET / HTTP/1.1\r\n" H H "\r\n"), "<400>", "two Hosts"},
    {BYTES("GET /\r\n" H "\r\n"), "<400>", "HTTP/0.9"},
    {BYTES("GET / HTTP/0.9\r\n" H "\r\n"), "<400>", "HTTP/0.9 by name"},
    {BYTES("GET / HTTP/2.0\r\n" H "\r\n"), "<505>", "HTTP/2.0"},
    {BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "<505>", "HTTP/2 outright"},
    {BYTES("GET / HTTP/1.2\r\n" H "\r\n"), "<400>", "HTTP/1.2"},
    {BYTES("GET / http/1.1\r\n" H "\r\n"), "<400>", "http in small letters"},
    {BYTES("GET  / HTTP/1.1\r\n" H "\r\n"), "<400>", "two spaces"},
    {BYTES("GET / x HTTP/1.1\r\n" H "\r\n"), "<400>", "a space in a target"},
    {BYTES("GET x HTTP/1.1\r\n" H "\r\n"), "<400>", "no path"},
    {BYTES("get / HTTP/1.1\r\n" H "\r\n"), "<501>",
     "a method in small letters"},
    {BYTES("GET / HTTP/1.1\r\n" H "no colon\r\n\r\n"), "<400>",
     "a field without a colon"},
    {BYTES("GET / HTTP/1.1\r\n" H ": x\r\n\r\n"), "<400>",
     "a field without a name"},
    {BYTES("GET / HTTP/1.1\r\n" H "X y: z\r\n\r\n"), "<400>",
     "a space in a name"},
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Encoding: gzip\r\n\r\n"), "<415>",
     "a compressed body"},
    {BYTES("GET / HTTP/1.1\r\n" H "Mcp-Session-Id: a\r\nMcp-Session-Id: b\r\n"
	   "\r\n"),
     "<400>", "two session ids"},
    {BYTES("GET / HTTP/1.1\r\n" H "\r\ngarbage\r\n"), "<1 / a +><400>",
     "garbage after a request"},
    {BYTES("\r\nGET / HTTP/1.1\r\n" H "\r\n"), "<400>",
     "a blank line before the request"},
    {BYTES("\x16\x03\x01\x02"), "<400>", "TLS"},

    /* bounds */
    {BYTES("POST / HTTP/1.1\r\n" H "Content-Length: 65\r\n\r\n"), "<413>",
     "a body over the bound, announced"},
    {BYTES("POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"
	   "3f\r\n"
	   "123456789012345678901234567890123456789012345678901234567890123"
	   "\r\n2\r\nxy\r\n"),
     "<413>", "a body over the bound, in chunks"},
};

TEST(cases)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool same = true;

		is_str(read_all(cases[i].in, cases[i].n, cases[i].n),
		       cases[i].want, "%s", cases[i].name);
		for (size_t cut = 1; same && cut < cases[i].n; cut++)
			same = strcmp(read_all(cases[i].in, cases[i].n, cut),
				      cases[i].want) == 0;
		ok(same, "%s: the same in pieces", cases[i].name);
		if (!same)
			printf("# in pieces: %s\n", seen);
	}
}

/* HEAD, then N times UNIT, then TAIL. */
static const char *repeated(const char *head, const char *unit, size_t n,
			    const char *tail)
{
	struct buf b = {0};
	const char *got;

	buf_add_str(&b, head);
	while (n-- > 0)
		buf_add_str(&b, unit);
	buf_add_str(&b, tail);
	got = read_all(buf_data(&b), buf_len(&b), 1000);
	buf_fini(&b);
	return got;
}

TEST(bounds)
{
	static const char chunked[] =
	    "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n";
	static const char get[] = "GET / HTTP/1.1\r\n" H;
	struct buf want = {0};

	is_str(repeated(get, "X: y\r\n", HTTP_FIELDS_MAX - 1, "\r\n"),
	       "<1 / a +>", "HTTP_FIELDS_MAX fields are taken");
	is_str(repeated(get, "X: y\r\n", HTTP_FIELDS_MAX, "\r\n"), "<431>",
	       "one field more");
	is_str(
	    repeated("GET /", "x", HTTP_TARGET_MAX, " HTTP/1.1\r\n" H "\r\n"),
	    "<414>", "a target over the bound");
	buf_add_str(&want, "<1 /");
	for (size_t i = 1; i < HTTP_TARGET_MAX; i++)
		buf_add_str(&want, "x");
	buf_add(&want, " a +>", 6);
	is_str(repeated("GET /", "x", HTTP_TARGET_MAX - 1,
			" HTTP/1.1\r\n" H "\r\n"),
	       buf_data(&want), "a target of the bound");
	buf_fini(&want);
	is_str(repeated("GET / HTTP/1.1\r\n" H "X: ", "y", HTTP_HEAD_MAX, ""),
	       "<431>", "a head over the bound, without its end");
	is_str(repeated("GET / HTTP/1.1\r\n" H "X:", " ", HTTP_HEAD_MAX, ""),
	       "<431>", "blanks count, too");
	is_str(repeated(chunked, "1;x=123456789012345678901234567890\r\na\r\n",
			60, "0\r\n\r\n"),
	       "<2 / a +aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	       "aaaaaa>",
	       "a short chunk extension is accepted");
	is_str(repeated(chunked,
			"1;x=12345678901234567890123456789012345678901"
			"23456789012345678901234567890\r\na\r\n",
			60, "0\r\n\r\n"),
	       "<400>", "long chunk extensions are refused");
	is_str(repeated(chunked, "", 0, "0\r\nX: y\r\n\r\n"), "<2 / a +>",
	       "a trailer is accepted");
	is_str(repeated("POST / HTTP/1.1\r\n" H
			"Transfer-Encoding: chunked\r\n\r\n0\r\n",
			"X: y\r\n", HTTP_FIELDS_MAX + 1, "\r\n"),
	       "<400>",
	       "a trailer with more than HTTP_FIELDS_MAX fields is refused");
	is_str(repeated("POST / HTTP/1.1\r\n" H
			"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ",
			"y", 3 * HTTP_EXTRA_MAX, "\r\n\r\n"),
	       "<400>", "a trailer that is too long");
}

/* Ambiguous lines are refused in trailers as in the head. */
TEST(trailers)
{
#define CHUNKS                                                                 \
	"POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n\r\n"           \
	"1\r\na\r\n0\r\n"
	is_str(repeated(CHUNKS, "X: y\r\n", 2, "\r\n"), "<2 / a +a>",
	       "two trailers are accepted");
	is_str(repeated(CHUNKS, "", 0, "\n"), "<400>",
	       "a bare newline ends no request");
	is_str(repeated(CHUNKS, "X: y\n", 1, "\r\n"), "<400>",
	       "a bare newline ends no trailer");
	is_str(repeated(CHUNKS, "X: y\r\n z\r\n", 1, "\r\n"), "<400>",
	       "a folded trailer");
	is_str(repeated(CHUNKS, " X: y\r\n", 1, "\r\n"), "<400>",
	       "a folded one that is the first");
	is_str(repeated(CHUNKS, "X: y\x01\r\n", 1, "\r\n"), "<400>",
	       "a trailer with a control character");
	is_str(repeated(CHUNKS, "X: y\rz\r\n", 1, "\r\n"), "<400>",
	       "a trailer with a carriage return within it");
	is_str(repeated(CHUNKS, "X\r\n", 1, "\r\n"), "<400>",
	       "a trailer without a value");
	is_str(
	    repeated(CHUNKS, "X: y\r\n", 1, "\r\nGET /2 HTTP/1.1\r\n" H "\r\n"),
	    "<2 / a +a><1 /2 a +>",
	    "the bytes after trailers are the next request");
}

TEST(types)
{
	static const char both[] = "application/json, text/event-stream";

	ok(http_accepts(both, "application/json") &&
	       http_accepts(both, "text/event-stream"),
	   "a list of both types accepts both");
	ok(http_accepts("*/*", "text/event-stream"),
	   "the range */* accepts text/event-stream");
	ok(http_accepts("text/html;q=0.8,Text/*;q=0.1", "text/event-stream"),
	   "a range, with a parameter");
	ok(!http_accepts("text/html, application/jsonx", "application/json"),
	   "a type with a longer name is not accepted");
	ok(!http_accepts("application/*x", "application/json") &&
	       !http_accepts("*json", "application/json") &&
	       !http_accepts("", "application/json") &&
	       !http_accepts(NULL, "application/json"),
	   "an empty or missing Accept accepts nothing");
	ok(http_is_type("Application/JSON; charset=utf-8", "application/json"),
	   "a type with a parameter");
	ok(!http_is_type("application/json, text/plain", "application/json") &&
	       !http_is_type("text/plain", "application/json") &&
	       !http_is_type(NULL, "application/json"),
	   "two are none");
}

/* Fields with a name chosen by the client. */
TEST(params)
{
	static const char text[] =
	    "POST / HTTP/1.1\r\n" H "Mcp-Param-Region:  eu west \t\r\n"
	    "MCP-PARAM-TIER: 7\r\n"
	    "Mcp-Param-: x\r\nMcp-Params: y\r\n"
	    "Mcp-Name: n\r\n\r\n";
	struct http_parse *p = http_parse_new(BODY_MAX);
	const struct http_request *r;

	http_parse_add(p, text, sizeof(text) - 1);
	r = http_parse_request(p);
	is_str(http_param(r, "Mcp-Param-Region"), "eu west",
	       "MCP26 12: a field of its own name, trimmed");
	is_str(http_param(r, "mcp-param-tier"), "7",
	       "MCP26 12: fields are found in any case");
	is_str(http_param(r, "Mcp-Param-Regio"), NULL,
	       "a part of a name does not find the field");
	is_int((long long)r->n_params, 2,
	       "fields with a similar name are not kept");
	is_str(r->field[HTTP_MCP_NAME], "n", "Mcp-Name is apart");
	http_parse_next(p);
	http_parse_add(p, "GET / HTTP/1.1\r\n" H "\r\n", 29);
	is_int((long long)http_parse_request(p)->n_params, 0,
	       "the next request has none of them");
	http_parse_free(p);
	is_str(read_all(BYTES("GET / HTTP/1.1\r\n" H "Mcp-Param-A: 1\r\n"
			      "mcp-param-a: 1\r\n\r\n"),
			7),
	       "<400>", "MCP26 12: one of them comes once");
}
