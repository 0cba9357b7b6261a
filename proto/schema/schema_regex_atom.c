/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_regex_atom.c - translates characters, escapes and classes of ECMA-262
 * expressions for PCRE2; schema_regex.c calls it at each atom. A bad expression
 * is -EINVAL, with a clause for people.
 */
#include "proto/schema/schema_regex.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text/hex.h"

#define CODE_POINT_MAX 0x10FFFFu
#define SYNTAX "^$\\.*+?()[]{}|/" /* characters that ECMA-262 lets escape */

/* \s in a PCRE2 class; ECMA-262's \s has the BOM and all of Zs. */
#define SPACE                                                                  \
	"\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}"              \
	"\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define NOT_SPACE                                                              \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}"          \
	"\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"            \
	"\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"            \
	"\\x{ff00}-\\x{10ffff}"
#define ANY "[\\x{0}-\\x{10ffff}]"

static void put_point(struct regex *r, uint32_t cp)
{
	buf_printf(&r->out, "\\x{%x}", cp);
}

/* Take a character of valid UTF-8. */
uint32_t regex_take_char(struct regex *r)
{
	unsigned char c = (unsigned char)*r->p++;
	uint32_t cp = c;

	if (c >= 0xC0)
		cp = c & (c >= 0xF0 ? 0x07 : c >= 0xE0 ? 0x0F : 0x1F);
	while (!regex_at_end(r) && ((unsigned char)*r->p & 0xC0) == 0x80)
		cp = cp << 6 | ((unsigned char)*r->p++ & 0x3F);
	return cp;
}

/* Take exactly N hexadecimal digits. */
static bool take_hex(struct regex *r, int n, uint32_t *out)
{
	int v = r->end - r->p < n ? -1 : hex_read(r->p, (size_t)n);

	if (v < 0)
		return false;
	r->p += n;
	*out = (uint32_t)v;
	return true;
}

static bool take_braced_hex(struct regex *r, uint32_t *out)
{
	uint32_t v = 0;
	const char *start = r->p;

	while (!regex_at_end(r) && hex_value(*r->p) >= 0 && v <= CODE_POINT_MAX)
		v = v * 16 + (uint32_t)hex_value(*r->p++);
	*out = v;
	return r->p > start && v <= CODE_POINT_MAX && regex_accept(r, "}");
}

/* Take a code point, or a surrogate pair, after "\u". */
static bool take_unicode(struct regex *r, uint32_t *out)
{
	const char *start;
	uint32_t low;

	if (regex_accept(r, "{"))
		return take_braced_hex(r, out);
	if (!take_hex(r, 4, out))
		return false;
	start = r->p;
	if (*out >= 0xD800 && *out <= 0xDBFF && regex_accept(r, "\\u") &&
	    take_hex(r, 4, &low) && low >= 0xDC00 && low <= 0xDFFF)
		*out = 0x10000 + ((*out - 0xD800) << 10) + (low - 0xDC00);
	else
		r->p = start;
	return true;
}

/*
 * Take an escape for a character, after the backslash: 1 and *OUT, 0 for
 * another kind of escape, or -EINVAL.
 */
int regex_take_escape(struct regex *r, uint32_t *out)
{
	static const char controls[] = "t\tn\nv\vf\fr\r";
	char c = *r->p;
	const char *k = strchr(controls, c);

	if (c != '\0' && k != NULL && isalpha((unsigned char)c)) {
		r->p++;
		*out = (unsigned char)k[1];
		return 1;
	}
	if (c == '0' &&
	    (r->p + 1 == r->end || !isdigit((unsigned char)r->p[1]))) {
		r->p++;
		*out = 0;
		return 1;
	}
	if (c == 'c' && r->p + 1 < r->end && isalpha((unsigned char)r->p[1])) {
		*out = (unsigned char)r->p[1] % 32;
		r->p += 2;
		return 1;
	}
	if (regex_accept(r, "x"))
		return take_hex(r, 2, out)
			   ? 1
			   : regex_bad(r, "\\x needs two hexadecimal digits");
	if (regex_accept(r, "u"))
		return take_unicode(r, out)
			   ? 1
			   : regex_bad(r,
				       "\\u needs four hexadecimal digits, or "
				       "{digits}");
	if (ispunct((unsigned char)c) || c == ' ') {
		r->p++;
		*out = (unsigned char)c;
		if (strchr(r->in_class ? SYNTAX "-" : SYNTAX, c) == NULL)
			regex_spell(r, r->p - 2, r->p, (char[]){c, '\0'});
		return 1;
	}
	return 0;
}

/* Translate \p{Name} or \P{Name}, after the "p". */
static int property(struct regex *r, bool negated)
{
	char name[64];
	struct schema_text t;
	const char *close;

	if (!regex_accept(r, "{"))
		return regex_bad(r, "\\p needs {a property}");
	close = memchr(r->p, '}', (size_t)(r->end - r->p));
	schema_text_init(&t, name, sizeof(name));
	if (close == NULL ||
	    !schema_regex_property(&t, r->p, (size_t)(close - r->p)))
		return regex_bad(
		    r, "\\p{…} names no Unicode property that is known");
	buf_printf(&r->out, "\\%c{%s}", negated ? 'P' : 'p', name);
	r->p = close + 1;
	return 1;
}

/* Take an escape for a set, in a class or not: 1, 0, -EINVAL. */
int regex_set_escape(struct regex *r, bool in_class)
{
	char c = *r->p;

	if (strchr("dDwWsSpP", c) == NULL || c == '\0')
		return 0;
	r->p++;
	switch (c) {
	case 's':
		regex_put(r, in_class ? SPACE : "[" SPACE "]");
		return 1;
	case 'S':
		regex_put(r, in_class ? NOT_SPACE : "[" NOT_SPACE "]");
		return 1;
	case 'p':
	case 'P':
		return property(r, c == 'P');
	default: /* without PCRE2_UCP: ASCII, as in ECMA-262 */
		buf_printf(&r->out, "\\%c", c);
		return 1;
	}
}

/* Report an unknown escape. */
int regex_bad_escape(struct regex *r)
{
	schema_putf(r->errmsg, "\\%c is no escape in ECMA-262", *r->p);
	if (*r->p == 'A' || *r->p == 'z' || *r->p == 'Z')
		schema_put(r->errmsg, *r->p == 'A' ? " (use ^)" : " (use $)");
	return -EINVAL;
}

/* Add a range without surrogates, which UTF-8 strings cannot have. */
static void put_range(struct regex *r, uint32_t lo, uint32_t hi)
{
	if (lo >= 0xD800 && lo <= 0xDFFF)
		lo = 0xE000;
	if (hi >= 0xD800 && hi <= 0xDFFF)
		hi = 0xD7FF;
	if (lo > hi)
		return;
	put_point(r, lo);
	if (hi > lo) {
		regex_put(r, "-");
		put_point(r, hi);
	}
}

/* Take an end of a range: 1 and *OUT; 0: a set, already added; -EINVAL. */
static int class_atom(struct regex *r, uint32_t *out)
{
	int rc;

	if (!regex_accept(r, "\\")) {
		*out = regex_take_char(r);
		return 1;
	}
	if (regex_at_end(r))
		return regex_bad(r, "it ends in a backslash");
	if (regex_accept(r, "b")) {
		*out = '\b';
		return 1;
	}
	rc = regex_set_escape(r, true);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = regex_take_escape(r, out);
	return rc != 0 ? rc : regex_bad_escape(r);
}

/* Add a hyphen outside a range; the strict spelling escapes it unless last. */
static void literal_hyphen(struct regex *r, const char *at)
{
	put_range(r, '-', '-');
	regex_spell(r, at, at + 1, "\\-");
}

static int class_range(struct regex *r)
{
	uint32_t lo = 0, hi = 0;
	int rc = class_atom(r, &lo);
	const char *hyphen = r->p;
	bool last =
	    !regex_next_is(r, "-") || r->p + 1 == r->end || r->p[1] == ']';

	if (rc < 0)
		return rc;
	if (rc == 0 && !last) { /* [\d-a] */
		r->p++;
		literal_hyphen(r, hyphen);
	}
	if (rc == 0)
		return 0;
	if (last) {
		put_range(r, lo, lo);
		return 0;
	}
	r->p++;
	rc = class_atom(r, &hi);
	if (rc < 0)
		return rc;
	if (rc == 0) { /* [a-\d] */
		put_range(r, lo, lo);
		literal_hyphen(r, hyphen);
		return 0;
	}
	if (lo > hi)
		return regex_bad(r, "a range in [ ] is the wrong way round");
	put_range(r, lo, hi);
	return 0;
}

/* Translate a class, after "[". */
int regex_class(struct regex *r)
{
	bool negated = regex_accept(r, "^");
	size_t start = r->out.len, body;
	int rc = 0;

	regex_item(r, true);
	regex_put(r, negated ? "[^" : "[");
	body = r->out.len;
	r->in_class = true;
	while (rc == 0 && !regex_at_end(r) && *r->p != ']')
		rc = class_range(r);
	r->in_class = false;
	if (rc != 0)
		return rc;
	if (!regex_accept(r, "]"))
		return regex_bad(r, "a [ is not closed");
	if (r->out.len == body) { /* [] matches nothing, [^] anything */
		r->out.len = start;
		regex_put(r, negated ? ANY : REGEX_NONE);
		return 0;
	}
	regex_put(r, "]");
	return 0;
}
