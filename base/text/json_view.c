/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_view.c - reads strict JSON in place, without allocation: for
 * the lines from a program to the shim (worker/program/shim_lines.c), and
 * for proto/json/json_span.c. Other text is refused with a static reason and the
 * offset.
 */
#include "base/text/json_view.h"

#include <string.h>

#include "base/text/json_scan.h"
#include "base/text/utf8.h"

#define INT_MAX_EXACT (UINT64_C(1) << 53)

/* Return the reason of the fault of S. */
static const char *fault_reason(const struct json_scan *s)
{
	static const char *const unwanted[JSON_WANTS] = {
	    [JSON_WANT_MORE_ITEMS] = "a comma or the end is missing",
	    [JSON_WANT_FIRST_KEY] = "a string is missing",
	    [JSON_WANT_KEY] = "a string is missing",
	    [JSON_WANT_COLON] = "a colon is missing",
	    [JSON_WANT_MORE_MEMBERS] = "a comma or the end is missing",
	    [JSON_WANT_END] = "something follows the value"};
	static const char *const faults[JSON_FAULTS] = {
	    [JSON_FAULT_TOO_DEEP] = "it is nested too deeply",
	    [JSON_FAULT_NO_DIGIT] = "a digit is missing",
	    [JSON_FAULT_LEADING_ZERO] = "a number has a leading zero",
	    [JSON_FAULT_CONTROL] = "a string has a control character",
	    [JSON_FAULT_NO_END] = "a string does not end",
	    [JSON_FAULT_NO_ESCAPE] = "there is no such escape",
	    [JSON_FAULT_NO_HEX] = "an escape is no character, or NUL",
	    [JSON_FAULT_LONE_SURROGATE] = "an escape is no character, or NUL"};

	if (s->fault != JSON_FAULT_UNWANTED)
		return faults[s->fault];
	if (unwanted[s->want] != NULL)
		return unwanted[s->want];
	return s->p == s->end || strchr("]},", *s->p) != NULL
		   ? "a value is missing"
		   : "no value is written like this";
}

/* Are the escapes of the string of S good, without a NUL? */
static bool has_good_escapes(struct json_scan *s)
{
	const char *at = s->token + 1, *end = s->p - 1;

	while (!s->plain && at < end) {
		uint32_t c = 0;
		int len = *at == '\\' ? json_scan_escape(at, end, &c) : 1;

		if (*at == '\\' && (len < 0 || c == 0)) {
			s->fault = len < 0 ? (enum json_fault) - len
					   : JSON_FAULT_NO_HEX;
			s->p = at + 1; /* the letter */
			return false;
		}
		at += len;
	}
	return true;
}

bool json_view_check(struct json_view t, struct json_view *value,
		     const char **errmsg, size_t *at)
{
	struct json_scan s = {.p = t.p, .end = t.p + t.n};
	size_t good = utf8_valid_len(t.p, t.n);
	const char *end = t.p;
	enum json_event e;
	bool fine = true;

	if (good < t.n) {
		*errmsg = "it is not UTF-8";
		*at = good;
		return false;
	}
	while (fine && (e = json_scan_next(&s)) != JSON_END) {
		fine =
		    e != JSON_FAULT && ((e != JSON_STRING && e != JSON_KEY) ||
					has_good_escapes(&s));
		end = s.p;
	}
	value->p = json_scan_space(t.p, s.end);
	value->n = (size_t)(end - value->p);
	if (fine)
		return true;
	*errmsg = fault_reason(&s);
	*at = (size_t)(s.p - t.p) + (s.fault == JSON_FAULT_TOO_DEEP);
	return false;
}

bool json_view_next(struct json_view object, size_t *at, struct json_view *key,
		    struct json_view *value)
{
	const char *end = object.p + object.n;
	const char *p = json_scan_space(object.p + (*at == 0 ? 1 : *at), end);

	if (*at != 0 && (p == end || *p++ != ','))
		return false;
	p = json_scan_space(p, end);
	if (p == end || *p != '"')
		return false; /* the object is empty */
	key->p = p;
	p = json_scan_skip(p, end);
	key->n = (size_t)(p - key->p);
	p = json_scan_space(p, end);
	p += p < end && *p == ':';
	value->p = json_scan_space(p, end);
	p = json_scan_skip(value->p, end);
	value->n = (size_t)(p - value->p);
	*at = (size_t)(p - object.p);
	return true;
}

bool json_view_equal(struct json_view v, const char *name)
{
	size_t n = strlen(name);

	return v.n == n + 2 && memcmp(v.p + 1, name, n) == 0;
}

bool json_view_member(struct json_view object, const char *name,
		      struct json_view *value)
{
	struct json_view key;
	size_t at = 0;

	while (json_view_next(object, &at, &key, value))
		if (json_view_equal(key, name))
			return true;
	return false;
}

size_t json_view_unquote(struct json_view v, char *out)
{
	const char *p = v.p + 1;
	size_t n;

	(void)json_scan_unescape(out, &n, &p, v.p + v.n - 1);
	return n;
}

bool json_view_uint(struct json_view v, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < v.n; i++)
		if (v.p[i] < '0' || v.p[i] > '9')
			return false;
	return v.n > 0 && json_scan_integer(v.p, v.p + v.n, out) &&
	       *out <= INT_MAX_EXACT;
}
