/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semver.c - reads versions and ranges by Semantic Versioning 2.0.0, for the
 * manifest, and for the version that a call asks for (catalogue.c). Pure
 * functions of a text; false: not a version, or not in the range.
 */
#include "supervisor/packages/templates/semver.h"

#include <ctype.h>
#include <string.h>

/* Return how many identifier bytes are at S. */
static size_t ident_len(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '-')
		n++;
	return n;
}

static bool all_digits(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return true;
}

/* Read a number without leading zeros at *S, and move *S past the number. */
static bool parse_version_number(uint64_t *out, const char **s)
{
	const char *p = *s;
	uint64_t v = 0;

	if (!isdigit((unsigned char)*p) ||
	    (*p == '0' && isdigit((unsigned char)p[1])))
		return false;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	*out = v;
	*s = p;
	return true;
}

/*
 * Read identifiers with dots between at *S, and move *S past them. ZEROS:
 * numbers may have leading zeros.
 */
static bool idents(const char **s, bool zeros)
{
	for (;;) {
		size_t n = ident_len(*s);

		if (n == 0 ||
		    (!zeros && n > 1 && **s == '0' && all_digits(*s, n)))
			return false;
		*s += n;
		if (**s != '.')
			return true;
		(*s)++;
	}
}

bool semver_parse(struct semver *out, const char *text)
{
	const char *s = text;

	if (!parse_version_number(&out->major, &s) || *s++ != '.' ||
	    !parse_version_number(&out->minor, &s) || *s++ != '.' ||
	    !parse_version_number(&out->patch, &s))
		return false;
	/* the rest: "-pre", "+build", or the end */
	out->pre = NULL;
	if (*s == '-') {
		out->pre = ++s;
		if (!idents(&s, false))
			return false;
	}
	if (*s == '+') {
		s++;
		if (!idents(&s, true))
			return false;
	}
	return *s == '\0';
}

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Compare two identifiers: numbers go before words, and by value. */
static int ident_cmp(const char *a, size_t na, const char *b, size_t nb)
{
	bool da = all_digits(a, na), db = all_digits(b, nb);
	int rc;

	if (da != db)
		return da ? -1 : 1;
	if (da && na != nb)
		return order(na, nb); /* no leading zeros: longer is larger */
	rc = memcmp(a, b, na < nb ? na : nb);
	return rc != 0 ? rc : order(na, nb);
}

static int pre_cmp(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return (a == NULL) - (b == NULL); /* a release is the larger */
	for (;;) {
		size_t na = ident_len(a), nb = ident_len(b);
		int rc = ident_cmp(a, na, b, nb);

		if (rc != 0)
			return rc;
		a += na;
		b += nb;
		if (*a != '.' || *b != '.')
			return (*a == '.') - (*b == '.');
		a++;
		b++;
	}
}

int semver_cmp(const struct semver *a, const struct semver *b)
{
	int rc = order(a->major, b->major);

	if (rc == 0)
		rc = order(a->minor, b->minor);
	if (rc == 0)
		rc = order(a->patch, b->patch);
	return rc != 0 ? rc : pre_cmp(a->pre, b->pre);
}

struct caret {
	struct semver from;
	int parts; /* how many numbers were given: 1 to 3 */
};

/* Read "^1", "^1.2", "^1.2.3" or "^1.2.3-pre". */
static bool caret_parse(struct caret *c, const char *range)
{
	const char *s = range + 1;

	*c = (struct caret){.parts = 3};
	if (*range != '^')
		return false;
	if (semver_parse(&c->from, s))
		return true;
	c->from = (struct semver){0};
	c->parts = 1;
	if (!parse_version_number(&c->from.major, &s))
		return false;
	if (*s == '\0')
		return true;
	c->parts = 2;
	return *s++ == '.' && parse_version_number(&c->from.minor, &s) &&
	       *s == '\0';
}

/* Does V agree with FROM up to the leftmost given number that is not zero? */
static bool caret_holds(const struct caret *c, const struct semver *v)
{
	const struct semver *from = &c->from;

	if (v->major != from->major)
		return false;
	if (from->major > 0 || c->parts == 1)
		return true;
	if (v->minor != from->minor)
		return false;
	return from->minor > 0 || c->parts == 2 || v->patch == from->patch;
}

bool semver_in(const struct semver *v, const char *range)
{
	struct semver exact;
	struct caret c;

	if (semver_parse(&exact, range))
		return semver_cmp(v, &exact) == 0;
	if (!caret_parse(&c, range) || !caret_holds(&c, v) ||
	    semver_cmp(v, &c.from) < 0)
		return false;
	/* only a range that names a pre-release of the same version means one */
	return v->pre == NULL ||
	       (c.from.pre != NULL && v->major == c.from.major &&
		v->minor == c.from.minor && v->patch == c.from.patch);
}
