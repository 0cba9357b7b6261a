/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_answer.c - the parser of answers, for host_exchange.c: a table of steps, each of
 * which takes some bytes. The first fault is the last step.
 */
#include "worker/lua/http/http_answer.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define DIGITS_MAX 15 /* of a length or a size: no number overflows */

void http_answer_begin(struct http_answer *a, bool to_head)
{
	a->step = HTTP_HEAD;
	a->to_head = to_head;
	a->status = a->interim = a->trailers = 0;
	a->left = 0;
	a->head_len = a->line_len = 0;
	a->refused[0] = '\0';
}

bool http_is(struct str s, const char *text)
{
	return strlen(text) == s.n && strncasecmp(s.p, text, s.n) == 0;
}

static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool http_is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_token_char(s.p[i]))
			return false;
	return s.n > 0;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* Read S, a number to BASE and nothing else. */
static bool read_number(struct str s, int base, uint64_t *number)
{
	*number = 0;
	for (size_t i = 0; i < s.n; i++) {
		int digit = digit_of(s.p[i]);

		if (digit >= base)
			return false;
		*number = *number * (uint64_t)base + (uint64_t)digit;
	}
	return s.n > 0 && s.n <= DIGITS_MAX;
}

/* Split LINE, "NAME: VALUE", into parts without blanks around. */
static bool split_field(struct str line, struct str *name, struct str *value)
{
	const char *colon = memchr(line.p, ':', line.n), *end = line.p + line.n;

	if (colon == NULL)
		return false;
	*name = (struct str){line.p, (size_t)(colon - line.p)};
	for (colon++; colon < end && (*colon == ' ' || *colon == '\t');)
		colon++;
	while (end > colon && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*value = (struct str){colon, (size_t)(end - colon)};
	return http_is_token(*name);
}

/* Return the line of the head from *AT on, without CR LF; *AT is behind. */
static struct str next_line(const struct http_answer *a, size_t *at)
{
	const char *p = a->head + *at;
	const char *end = memchr(p, '\r', a->head_len - *at);
	size_t n = (size_t)(end - p);

	*at += n + 2;
	return (struct str){p, n};
}

bool http_answer_field(const struct http_answer *a, size_t *at,
		       struct str *name, struct str *value)
{
	struct str line;

	if (a->step == HTTP_HEAD || a->step == HTTP_BAD)
		return false;
	if (*at == 0)
		(void)next_line(a, at);
	line = next_line(a, at);
	return line.n > 0 && split_field(line, name, value);
}

/* ---- the head ---- */

static void set_refused(struct http_answer *a, struct str code)
{
	size_t n = code.n < sizeof(a->refused) ? code.n : 0;

	memcpy(a->refused, code.p, n);
	a->refused[n] = '\0';
}

/* "HTTP/1.1 200", perhaps with a reason behind a space. */
static bool read_status(struct http_answer *a, struct str line)
{
	static const char version[] = "HTTP/1.1 ";
	const size_t n = sizeof(version) - 1;
	uint64_t status;

	if (line.n < n + 3 || memcmp(line.p, version, n) != 0 ||
	    (line.n > n + 3 && line.p[n + 3] != ' ') ||
	    !read_number((struct str){line.p + n, 3}, 10, &status))
		return false;
	a->status = (unsigned)status;
	return status >= 100 && status <= 999 && status != 101;
}

struct framing {
	unsigned lengths, codings;
	bool good;
};

static void read_field(struct http_answer *a, struct framing *f,
		       struct str name, struct str value)
{
	if (http_is(name, "Content-Length")) {
		f->lengths++;
		f->good = f->good && read_number(value, 10, &a->left);
	} else if (http_is(name, "Transfer-Encoding")) {
		f->codings++;
		f->good = f->good && http_is(value, "chunked");
	} else if (http_is(name, HTTP_REFUSED)) {
		set_refused(a, value);
	}
}

/* Return the step behind the head, whose fields are F. */
static enum http_step after_head(struct http_answer *a, const struct framing *f)
{
	if (!f->good || f->lengths + f->codings > 1)
		return HTTP_BAD;
	if (a->status < 200) {
		a->head_len = 0;
		return ++a->interim > HTTP_INTERIM_MAX ? HTTP_BAD : HTTP_HEAD;
	}
	if (a->to_head || a->status == 204 || a->status == 304)
		return HTTP_WHOLE;
	if (f->codings > 0)
		return HTTP_SIZE;
	if (f->lengths == 0)
		return HTTP_BAD;
	return a->left > 0 ? HTTP_BODY : HTTP_WHOLE;
}

static enum http_step read_head(struct http_answer *a)
{
	struct framing f = {.good = true};
	struct str line, name, value;
	size_t at = 0, fields = 0;

	if (!read_status(a, next_line(a, &at)))
		return HTTP_BAD;
	while ((line = next_line(a, &at)).n > 0) {
		if (++fields > HTTP_FIELDS_MAX ||
		    !split_field(line, &name, &value))
			return HTTP_BAD;
		read_field(a, &f, name, value);
	}
	return after_head(a, &f);
}

/* May C follow the byte BEFORE in a line? A line ends with CR LF alone. */
static bool may_follow(char before, char c)
{
	if (before == '\r' || c == '\n')
		return before == '\r' && c == '\n';
	return c == '\t' || c == '\r' || (unsigned char)c >= ' ';
}

static size_t add_head(struct http_answer *a, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char before = a->head_len > 0 ? a->head[a->head_len - 1] : '\n';

		if (a->head_len == HTTP_HEAD_MAX || !may_follow(before, p[i])) {
			a->step = HTTP_BAD;
			return i + 1;
		}
		a->head[a->head_len++] = p[i];
		if (a->head_len >= 4 &&
		    memcmp(a->head + a->head_len - 4, "\r\n\r\n", 4) == 0) {
			a->step = read_head(a);
			return i + 1;
		}
	}
	return n;
}

/* ---- the body ---- */

static enum http_step end_size(struct http_answer *a, struct str line)
{
	if (!read_number(line, 16, &a->left))
		return HTTP_BAD;
	return a->left > 0 ? HTTP_CHUNK : HTTP_TRAILER;
}

static enum http_step end_trailer(struct http_answer *a, struct str line)
{
	struct str name, value;

	if (line.n == 0)
		return HTTP_WHOLE;
	if (++a->trailers > HTTP_FIELDS_MAX ||
	    !split_field(line, &name, &value))
		return HTTP_BAD;
	if (http_is(name, HTTP_REFUSED))
		set_refused(a, value);
	return HTTP_TRAILER;
}

static enum http_step end_chunk(struct http_answer *a, struct str line)
{
	(void)a;
	return line.n == 0 ? HTTP_SIZE : HTTP_BAD;
}

/* The meaning of a whole line, by the step. */
static enum http_step (*const lines[])(struct http_answer *, struct str) = {
    [HTTP_SIZE] = end_size,
    [HTTP_CHUNK_END] = end_chunk,
    [HTTP_TRAILER] = end_trailer,
};

static size_t add_line(struct http_answer *a, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char before = a->line_len > 0 ? a->line[a->line_len - 1] : ' ';

		if (a->line_len == HTTP_LINE_MAX || !may_follow(before, p[i])) {
			a->step = HTTP_BAD;
			return i + 1;
		}
		a->line[a->line_len++] = p[i];
		if (p[i] == '\n') {
			struct str line = {a->line, a->line_len - 2};

			a->line_len = 0;
			a->step = lines[a->step](a, line);
			return i + 1;
		}
	}
	return n;
}

static size_t add_body(struct http_answer *a, const char *p, size_t n,
		       struct str *body)
{
	if (n > a->left)
		n = (size_t)a->left;
	*body = (struct str){p, n};
	a->left -= n;
	if (a->left == 0)
		a->step = a->step == HTTP_BODY ? HTTP_WHOLE : HTTP_CHUNK_END;
	return n;
}

size_t http_answer_add(struct http_answer *a, const char *p, size_t n,
		       struct str *body)
{
	*body = (struct str){p, 0};
	switch (a->step) {
	case HTTP_HEAD:
		return add_head(a, p, n);
	case HTTP_BODY:
	case HTTP_CHUNK:
		return add_body(a, p, n, body);
	case HTTP_WHOLE:
	case HTTP_BAD:
		return 0;
	default:
		return add_line(a, p, n);
	}
}
