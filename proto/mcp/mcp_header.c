/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_header.c - decodes header fields and compares them with the body, for the
 * HTTP transport (standard fields) and mcp_param_header.c (a tool's fields). A
 * client's fault becomes a sentence; nothing else can fail.
 */
#include "proto/mcp/mcp_header.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text/base64.h"
#include "base/text/errmsg.h"
#include "base/text/utf8.h"
#include "proto/json/json.h"

/* ---- words ---- */

#define WRAP_BEGIN "=?base64?"
#define WRAP_END "?="
#define WRAP_LEN (sizeof(WRAP_BEGIN) + sizeof(WRAP_END) - 2)

static bool is_visible(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] < ' ' && p[i] != '\t') || p[i] > '~')
			return false;
	return true;
}

static bool is_wrapped(const char *p, size_t n)
{
	return n >= WRAP_LEN &&
	       memcmp(p, WRAP_BEGIN, strlen(WRAP_BEGIN)) == 0 &&
	       memcmp(p + n - strlen(WRAP_END), WRAP_END, strlen(WRAP_END)) ==
		   0;
}

static char *unwrap(const char *p, size_t n, size_t *len, const char **fault)
{
	char *out = xcalloc(n + 1, 1);

	if (base64_decode(out, len, p + strlen(WRAP_BEGIN), n - WRAP_LEN) != 0)
		*fault = "is wrapped as Base64 and is none";
	else if (!utf8_ok(out, *len))
		*fault = "is Base64 of what is no UTF-8";
	else
		return out;
	free(out);
	return NULL;
}

/*
 * Return the decoded VALUE, which the caller owns; or NULL, with the end of a
 * sentence in *FAULT. PLAIN: the value is never Base64.
 */
static char *decode_value(const char *value, bool plain, size_t *len,
			  const char **fault)
{
	const char *p = value + strspn(value, " \t");
	char *out;

	/* without the blanks around it (RFC 9110, 5.5) */
	for (*len = strlen(p); *len > 0; (*len)--)
		if (p[*len - 1] != ' ' && p[*len - 1] != '\t')
			break;
	if (!is_visible(p, *len)) {
		*fault = "has characters that are no visible ASCII";
		return NULL;
	}
	if (!plain && is_wrapped(p, *len))
		return unwrap(p, *len, len, fault);
	out = xcalloc(*len + 1, 1);
	memcpy(out, p, *len);
	return out;
}

/* ---- numbers ---- */

/*
 * A number: digits, no zeros at either end, times 10 to the power of EXPONENT.
 */
struct decimal {
	bool negative;
	char *digits; /* the digits, owned; "" is zero */
	long exponent;
};

#define EXPONENT_DIGITS ((size_t)9) /* digits that a long can hold */

static size_t digits(const char *p)
{
	return strspn(p, "0123456789");
}

/*
 * Add the exponent at P to *EXPONENT and return its length: 0 when there is
 * none, -1 when it is malformed or too long.
 */
static int read_exponent(const char *p, long *exponent)
{
	size_t sign, n;

	if (*p != 'e' && *p != 'E')
		return 0;
	sign = p[1] == '-' || p[1] == '+';
	n = digits(p + 1 + sign);
	if (n == 0 || n > EXPONENT_DIGITS)
		return -1;
	*exponent += strtol(p + 1, NULL, 10);
	return (int)(1 + sign + n);
}

static void normalize(struct decimal *d)
{
	size_t zeros = strspn(d->digits, "0"), n = strlen(d->digits) - zeros;

	memmove(d->digits, d->digits + zeros, n + 1);
	for (; n > 0 && d->digits[n - 1] == '0'; n--, d->exponent++)
		d->digits[n - 1] = '\0';
	if (n == 0) {
		d->negative = false;
		d->exponent = 0;
	}
}

/*
 * Read TEXT, LEN bytes, as a JSON number. False: not a number, and D is empty.
 */
static bool decimal_read(struct decimal *d, const char *text, size_t len)
{
	const char *p = text;
	size_t whole, fraction = 0;
	int n;

	*d = (struct decimal){.negative = *p == '-'};
	p += d->negative;
	whole = digits(p);
	if (whole == 0 || (whole > 1 && *p == '0'))
		return false;
	if (p[whole] == '.') {
		fraction = digits(p + whole + 1);
		if (fraction == 0)
			return false;
	}
	d->exponent = -(long)fraction;
	n = read_exponent(p + whole + (fraction > 0 ? fraction + 1 : 0),
			  &d->exponent);
	if (n < 0 ||
	    p + whole + (fraction > 0 ? fraction + 1 : 0) + n != text + len)
		return false;
	d->digits = xcalloc(whole + fraction + 1, 1);
	memcpy(d->digits, p, whole);
	if (fraction > 0)
		memcpy(d->digits + whole, p + whole + 1, fraction);
	normalize(d);
	return true;
}

/* ---- a field and the body ---- */

static bool matches_value(const char *word, size_t len, struct json_object *v)
{
	struct decimal x = {0}, y = {0};
	size_t n;
	const char *text;
	bool same;

	if (json_object_is_type(v, json_type_string)) {
		n = (size_t)json_object_get_string_len(v);
		return n == len &&
		       memcmp(json_object_get_string(v), word, n) == 0;
	}
	text = json_text(v, &n);
	if (json_object_is_type(v, json_type_boolean))
		return n == len && memcmp(text, word, n) == 0;
	same = decimal_read(&x, word, len) && decimal_read(&y, text, n) &&
	       x.negative == y.negative && x.exponent == y.exponent &&
	       strcmp(x.digits, y.digits) == 0;
	free(x.digits);
	free(y.digits);
	return same;
}

static bool set_header_error(const struct mcp_header *h, const char *is,
			     char *errmsg, size_t size)
{
	errmsg_set(errmsg, size,
		   "the header %s %s; the client has to send what %s says in "
		   "the body",
		   h->name, is, h->where);
	return false;
}

bool mcp_header_check(const struct mcp_header *h, const char *value,
		      struct json_object *body, char *errmsg, size_t size)
{
	const char *fault = NULL;
	char *word;
	size_t len;
	bool same;

	/* a header field carries neither lists, objects nor null */
	if (body == NULL || json_object_is_type(body, json_type_object) ||
	    json_object_is_type(body, json_type_array)) {
		if (value == NULL)
			return true;
		errmsg_set(errmsg, size,
			   "the header %s came, and the body has no %s that it "
			   "could repeat; the client has to leave it out",
			   h->name, h->where);
		return false;
	}
	if (value == NULL)
		return set_header_error(h, "is missing", errmsg, size);
	word = decode_value(value, h->plain, &len, &fault);
	if (word == NULL)
		return set_header_error(h, fault, errmsg, size);
	same = matches_value(word, len, body);
	free(word);
	return same || set_header_error(h, "says something else", errmsg, size);
}
