/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.c - the only lexer and grammar of JSON, without recursion and
 * allocation: json_view.c, proto/json/ and the worker's Lua pull tokens. A fault
 * is returned with its place, and each caller words the fault.
 */
#include "base/text/json_scan.h"

#include <limits.h>
#include <string.h>

#include "base/text/hex.h"
#include "base/text/utf8.h"

/* ---- tokens ---- */

static enum json_event report_fault(struct json_scan *s, enum json_fault fault)
{
	s->fault = fault;
	return JSON_FAULT;
}

/* Return EVENT, the end of a value. */
static enum json_event valued(struct json_scan *s, enum json_event event)
{
	s->want = s->depth == 0		  ? JSON_WANT_END
		  : (s->objects & 1) != 0 ? JSON_WANT_MORE_MEMBERS
					  : JSON_WANT_MORE_ITEMS;
	return event;
}

static enum json_event enter_container(struct json_scan *s, bool object)
{
	if (s->depth == JSON_SCAN_DEPTH_MAX)
		return report_fault(s, JSON_FAULT_TOO_DEEP);
	s->p++;
	s->depth++;
	s->objects = s->objects << 1 | object;
	s->want = object ? JSON_WANT_FIRST_KEY : JSON_WANT_FIRST_ITEM;
	return object ? JSON_OBJECT : JSON_ARRAY;
}

static enum json_event leave_container(struct json_scan *s)
{
	s->p++;
	s->depth--;
	s->objects >>= 1;
	return valued(s, JSON_CLOSE);
}

/* Move s->p past the string whose quote is there. */
static enum json_fault read_string(struct json_scan *s)
{
	const char *at = s->p + 1;

	s->plain = true;
	for (; at < s->end && *at != '"'; at++) {
		if ((unsigned char)*at < ' ') {
			s->p = at;
			return JSON_FAULT_CONTROL;
		}
		if (*at == '\\') {
			s->plain = false;
			at++; /* an escaped quote does not close the string */
		}
	}
	s->p = at < s->end ? at + 1 : s->end;
	return at < s->end ? JSON_FAULT_NONE : JSON_FAULT_NO_END;
}

/* Return the place past the digits at P. */
static const char *digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* Move s->p past the number there. */
static enum json_fault read_number(struct json_scan *s)
{
	const char *end = s->end, *from = s->p + (*s->p == '-');
	const char *at = digits(from, end);

	s->integer = true;
	if (at - from > 1 && *from == '0') {
		s->p = from;
		return JSON_FAULT_LEADING_ZERO;
	}
	if (at > from && at < end && *at == '.') {
		s->integer = false;
		from = at + 1;
		at = digits(from, end);
	}
	if (at > from && at < end && (*at | 0x20) == 'e') {
		s->integer = false;
		from = at + 1;
		if (from < end && (*from == '+' || *from == '-'))
			from++;
		at = digits(from, end);
	}
	s->p = at;
	return at > from ? JSON_FAULT_NONE : JSON_FAULT_NO_DIGIT;
}

static enum json_event word(struct json_scan *s)
{
	static const struct {
		const char *text;
		size_t n;
		enum json_event event;
	} words[] = {{"true", 4, JSON_TRUE},
		     {"false", 5, JSON_FALSE},
		     {"null", 4, JSON_NULL}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = words[i].n;

		if ((size_t)(s->end - s->p) < n ||
		    memcmp(s->p, words[i].text, n) != 0)
			continue;
		s->p += n;
		return valued(s, words[i].event);
	}
	return report_fault(s, JSON_FAULT_UNWANTED);
}

/* ---- the grammar ---- */

static enum json_event value(struct json_scan *s)
{
	enum json_event event = JSON_NUMBER;
	enum json_fault wrong;

	switch (*s->p) {
	case '{':
		return enter_container(s, true);
	case '[':
		return enter_container(s, false);
	case '"':
		wrong = read_string(s);
		event = JSON_STRING;
		break;
	case '-':
	case '0' ... '9':
		wrong = read_number(s);
		break;
	default:
		return word(s);
	}
	return wrong != JSON_FAULT_NONE ? report_fault(s, wrong)
					: valued(s, event);
}

static enum json_event key(struct json_scan *s)
{
	enum json_fault wrong =
	    *s->p == '"' ? read_string(s) : JSON_FAULT_UNWANTED;

	if (wrong != JSON_FAULT_NONE)
		return report_fault(s, wrong);
	s->want = JSON_WANT_COLON;
	return JSON_KEY;
}

/* The bracket, token or mark that may come, and what may follow the mark. */
static const struct {
	char close, mark;
	enum json_want then;
	enum json_event (*read)(struct json_scan *s);
} wants[JSON_WANTS] = {
    [JSON_WANT_VALUE] = {.read = value},
    [JSON_WANT_FIRST_ITEM] = {.close = ']', .read = value},
    [JSON_WANT_MORE_ITEMS] = {']', ',', JSON_WANT_VALUE, NULL},
    [JSON_WANT_FIRST_KEY] = {.close = '}', .read = key},
    [JSON_WANT_KEY] = {.read = key},
    [JSON_WANT_COLON] = {.mark = ':', .then = JSON_WANT_VALUE},
    [JSON_WANT_MORE_MEMBERS] = {'}', ',', JSON_WANT_KEY, NULL},
};

enum json_event json_scan_next(struct json_scan *s)
{
	for (;;) {
		enum json_want want = s->want;
		char c;

		s->token = s->p = json_scan_space(s->p, s->end);
		if (s->p == s->end)
			return want == JSON_WANT_END
				   ? JSON_END
				   : report_fault(s, JSON_FAULT_UNWANTED);
		c = *s->p;
		if (c != '\0' && c == wants[want].close)
			return leave_container(s);
		if (wants[want].read != NULL)
			return wants[want].read(s);
		if (c == '\0' || c != wants[want].mark)
			return report_fault(s, JSON_FAULT_UNWANTED);
		s->want = wants[want].then;
		s->p++;
	}
}

const char *json_scan_skip(const char *p, const char *end)
{
	static const bool ends[UCHAR_MAX + 1] = {
	    [','] = true,  [']'] = true,  ['}'] = true, [' '] = true,
	    ['\t'] = true, ['\r'] = true, ['\n'] = true};
	size_t depth = 0;

	if (p < end && *p != '"' && *p != '{' && *p != '[') {
		while (p < end && !ends[(unsigned char)*p])
			p++;
		return p;
	}
	while (p < end) {
		char c = *p++;

		if (c == '"') {
			for (; p < end && *p != '"'; p++)
				p += *p == '\\';
			p = p < end ? p + 1 : end;
		}
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth > 0)
			depth--;
		if (depth == 0)
			break;
	}
	return p;
}

/* ---- contents of tokens ---- */

/*
 * Read the \u escape at P into *C. Return its length, with the second half of a
 * pair, or -FAULT.
 */
static int unicode(const char *p, const char *end, uint32_t *c)
{
	int high = end - p < 6 ? -1 : hex_read(p + 2, 4), low = -1;

	if (high < 0)
		return -JSON_FAULT_NO_HEX;
	*c = (uint32_t)high;
	if (high < 0xD800 || high > 0xDFFF)
		return 6;
	if (high < 0xDC00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u')
		low = hex_read(p + 8, 4);
	if (low < 0xDC00 || low > 0xDFFF)
		return -JSON_FAULT_LONE_SURROGATE;
	*c = 0x10000 + ((uint32_t)(high - 0xD800) << 10) +
	     (uint32_t)(low - 0xDC00);
	return 12;
}

/* Characters by the letter after the backslash, except \u. */
static const char escapes[UCHAR_MAX + 1] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',	 ['r'] = '\r', ['t'] = '\t',
};

int json_scan_escape(const char *p, const char *end, uint32_t *c)
{
	unsigned char e = end - p > 1 ? (unsigned char)p[1] : 0;

	if (e == 'u')
		return unicode(p, end, c);
	*c = (unsigned char)escapes[e];
	return *c != 0 ? 2 : -JSON_FAULT_NO_ESCAPE;
}

enum json_fault json_scan_unescape(char *out, size_t *n, const char **p,
				   const char *end)
{
	char *to = out; /* no escape is shorter than its character's bytes */
	const char *at = *p;
	int len = 1;

	while (at < end && len > 0) {
		uint32_t c;

		if (*at != '\\') {
			*to++ = *at++;
			continue;
		}
		len = json_scan_escape(at, end, &c);
		if (len == 2)
			*to++ = (char)c;
		else if (len > 0)
			to += utf8_put(to, c);
		at += len > 0 ? len : 0;
	}
	*n = (size_t)(to - out);
	*p = at;
	return len > 0 ? JSON_FAULT_NONE : (enum json_fault) - len;
}

bool json_scan_integer(const char *p, const char *end, uint64_t *out)
{
	*out = 0;
	for (p += *p == '-'; p < end; p++)
		if (__builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, (uint64_t)(*p - '0'), out))
			return false;
	return true;
}
