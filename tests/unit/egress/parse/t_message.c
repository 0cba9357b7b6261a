/* SPDX-License-Identifier: Apache-2.0 */
/*
 * t_message.c - requests and answers give the same result in parts of any size; malformed
 * messages are bad in parts of any size.
 */
#include "egress/parse/message.h"

#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define GET "GET http://a/ HTTP/1.1\r\nHost: a\r\n"
#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
	const char *text, *body;
	bool answer, head;	/* HEAD: an answer to HEAD */
	enum message_step step; /* after the text */
	bool until_end;
} cases[] = {
    {GET "\r\n", "", false, false, MESSAGE_WHOLE, false},
    {GET "Content-Length: 3\r\n\r\nabc", "abc", false, false, MESSAGE_WHOLE,
     false},
    {GET "Content-Length: 4\r\n\r\nabc", "abc", false, false, MESSAGE_BODY,
     false},
    {GET "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", "abc",
     false, false, MESSAGE_WHOLE, false},
    {GET
     "transfer-encoding: Chunked\r\n\r\n1;x=\"y\"\r\na\r\n0\r\nT: v\r\n\r\n",
     "a", false, false, MESSAGE_WHOLE, false},
    {GET "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", NULL, false,
     false, MESSAGE_BAD, false},
    {GET "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", NULL,
     false, false, MESSAGE_BAD, false},
    {GET "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n", NULL, false, false,
     MESSAGE_BAD, false},
    {GET "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n", NULL, false, false,
     MESSAGE_BAD, false},
    {GET "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", NULL,
     false, false, MESSAGE_BAD, false},
    {GET "Content-Length: 99999999999999999999\r\n\r\n", NULL, false, false,
     MESSAGE_BAD, false},
    {GET "X : y\r\n\r\n", NULL, false, false, MESSAGE_BAD, false},
    {GET "X: y\r\n z\r\n\r\n", NULL, false, false, MESSAGE_BAD, false},
    {GET "X: y\n\r\n", NULL, false, false, MESSAGE_BAD, false},
    {GET "X\r\n\r\n", NULL, false, false, MESSAGE_BAD, false},
    {"\r\n" GET "\r\n", NULL, false, false, MESSAGE_BAD, false},
    {OK "Content-Length: 2\r\n\r\nok", "ok", true, false, MESSAGE_WHOLE, false},
    {OK "Content-Length: 2\r\n\r\n", "", true, true, MESSAGE_WHOLE, false},
    {OK "\r\nall", "all", true, false, MESSAGE_BODY, true},
    {"HTTP/1.1 204 \r\n\r\n", "", true, false, MESSAGE_WHOLE, false},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", true, false,
     MESSAGE_WHOLE, false},
    {"HTTP/1.0 200 OK\r\n\r\nx", "x", true, false, MESSAGE_BODY, true},
    {"HTTP/1.1 2000 OK\r\n\r\n", NULL, true, false, MESSAGE_BAD, false},
    {"HTTP/1.1 20x OK\r\n\r\n", NULL, true, false, MESSAGE_BAD, false},
    {"ICY 200 OK\r\n\r\n", NULL, true, false, MESSAGE_BAD, false},
};

static void take(void *arg, const char *p, size_t n)
{
	buf_add(arg, p, n);
}

/* Parse case I in parts of SIZE bytes. */
static bool same_in_parts(size_t i, size_t size)
{
	struct message m;
	struct buf body = {0};
	const char *p = cases[i].text;
	size_t n = strlen(p);
	bool same;

	message_init(&m, cases[i].answer, take, &body);
	m.to_head = cases[i].head;
	while (n > 0 && m.step != MESSAGE_WHOLE && m.step != MESSAGE_BAD) {
		size_t used = message_add(&m, p, n < size ? n : size);

		p += used;
		n -= used;
	}
	same = m.step == cases[i].step && m.until_end == cases[i].until_end &&
	       (cases[i].body == NULL ||
		(buf_len(&body) == strlen(cases[i].body) &&
		 (buf_len(&body) == 0 || memcmp(buf_data(&body), cases[i].body,
						buf_len(&body)) == 0)));
	buf_fini(&body);
	message_fini(&m);
	return same;
}

TEST(parts)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		size_t size = 1;

		while (size < 80 && same_in_parts(i, size))
			size++;
		is_int(size, 80, "case %zu in parts of all sizes", i);
	}
}

TEST(lists)
{
	const struct span s = {"a , B,,c ", 9};

	ok(span_lists(s, "b", 1) && span_lists(s, "A", 1) &&
	       span_lists(s, "c", 1),
	   "words of a list are found in any case");
	ok(!span_lists(s, "a ", 2) && !span_lists(s, "d", 1),
	   "other words are not");
}
