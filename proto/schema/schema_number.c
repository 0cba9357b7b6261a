/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_number.c - compares numbers, first by their doubles: rounding keeps
 * the order, so different doubles decide. Only equal doubles need the decimal
 * text.
 */
#include "proto/schema/schema_private.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXPONENT_MAX 100000000L /* larger exponents count as this */
#define DIVISOR_DIGITS 36u	/* ten times a divisor fits 128 bits */
#define SQUARE_DIGITS 18u	/* a divisor's square fits 128 bits */
#define ZEROS_MAX 1000		/* zeros appended in a loop */

__extension__ typedef unsigned __int128 u128;

/* A number's digits, without zeros at either end. */
struct decimal {
	const char *first, *end; /* the text may have a point in it */
	size_t digits;		 /* count of digits; 0: the number is zero */
	long top;		 /* power of ten of the first digit */
	bool neg;
	char own[32]; /* the text of a number without one */
};

static void integer_of(struct schema_num *n, struct json_object *v)
{
	int64_t i = json_object_get_int64(v);

	n->integer = true;
	n->neg = i < 0;
	n->mag = i < 0 ? -(uint64_t)i : json_object_get_uint64(v);
	n->d = n->neg ? -(double)n->mag : (double)n->mag;
}

void schema_num_of(struct schema_num *n, struct json_object *v)
{
	const char *text;

	n->text = NULL;
	n->buf[0] = '\0';
	if (json_object_get_type(v) == json_type_int) {
		integer_of(n, v);
		return;
	}
	n->integer = false;
	n->d = json_object_get_double(v);
	/*
	 * A parsed double keeps its text in userdata; a double made by code
	 * does not.
	 */
	text = json_object_get_userdata(v);
	if (text != NULL && (text[0] == '-' || isdigit((unsigned char)text[0])))
		n->text = text;
}

static const char *write_number(const struct schema_num *n, char *p,
				size_t size)
{
	if (n->integer)
		(void)snprintf(p, size, "%s%" PRIu64, n->neg ? "-" : "",
			       n->mag);
	else
		(void)snprintf(p, size, "%.17g", n->d);
	return p;
}

const char *schema_num_text(struct schema_num *n)
{
	if (n->text != NULL)
		return n->text;
	return n->buf[0] != '\0' ? n->buf
				 : write_number(n, n->buf, sizeof(n->buf));
}

size_t schema_num_steps(const struct schema_num *n)
{
	return n->text == NULL ? 1 : 1 + strlen(n->text) / DIGITS_COMPARED;
}

static long exponent_of(const char *p)
{
	bool neg = *p == '-';
	long e = 0;

	if (*p == '-' || *p == '+')
		p++;
	for (; isdigit((unsigned char)*p); p++)
		if (e < EXPONENT_MAX)
			e = e * 10 + (*p - '0');
	if (e > EXPONENT_MAX)
		e = EXPONENT_MAX;
	return neg ? -e : e;
}

static void decimal_of(struct decimal *d, const struct schema_num *n)
{
	const char *p = n->text;
	long at = 0, point = -1, first_at = 0, last_at = 0;

	*d = (struct decimal){0};
	if (p == NULL)
		p = n->buf[0] != '\0' ? n->buf
				      : write_number(n, d->own, sizeof(d->own));
	d->neg = *p == '-';
	if (*p == '-')
		p++;
	for (; isdigit((unsigned char)*p) || *p == '.'; p++) {
		if (*p == '.') {
			point = at;
			continue;
		}
		if (*p != '0') {
			if (d->first == NULL) {
				d->first = p;
				first_at = at;
			}
			d->end = p + 1;
			last_at = at;
		}
		at++;
	}
	if (d->first == NULL)
		return;
	if (point < 0)
		point = at;
	d->digits = (size_t)(last_at - first_at) + 1;
	d->top = point - 1 - first_at;
	if (*p == 'e' || *p == 'E')
		d->top += exponent_of(p + 1);
}

/* Return the next digit of D at *P, which moves on; 0 past the end. */
static int digit(const struct decimal *d, const char **p)
{
	if (*p < d->end && **p == '.')
		(*p)++;
	return *p < d->end ? *(*p)++ - '0' : 0;
}

static int magnitude_cmp(const struct decimal *a, const struct decimal *b)
{
	const char *p = a->first, *q = b->first;
	size_t n = a->digits > b->digits ? a->digits : b->digits;

	if (a->top != b->top)
		return a->top < b->top ? -1 : 1;
	for (size_t i = 0; i < n; i++) {
		int x = digit(a, &p), y = digit(b, &q);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int decimal_cmp(const struct schema_num *x, const struct schema_num *y)
{
	struct decimal a, b;
	int sign_a, sign_b;

	decimal_of(&a, x);
	decimal_of(&b, y);
	sign_a = a.digits == 0 ? 0 : a.neg ? -1 : 1;
	sign_b = b.digits == 0 ? 0 : b.neg ? -1 : 1;
	if (sign_a != sign_b)
		return sign_a < sign_b ? -1 : 1;
	if (sign_a == 0)
		return 0;
	return sign_a * magnitude_cmp(&a, &b);
}

int schema_num_cmp(const struct schema_num *a, const struct schema_num *b)
{
	if (a->d < b->d)
		return -1;
	if (a->d > b->d)
		return 1;
	if (a->integer && b->integer && a->neg == b->neg) {
		if (a->mag == b->mag)
			return 0;
		return (a->mag < b->mag) != a->neg ? -1 : 1;
	}
	return decimal_cmp(a, b);
}

bool schema_num_is_integer(const struct schema_num *n)
{
	struct decimal d;

	if (n->integer)
		return true;
	if (floor(n->d) != n->d)
		return false;
	decimal_of(&d, n);
	return d.digits == 0 || d.top + 1 >= (long)d.digits;
}

static u128 power_mod(unsigned long exp, u128 mod)
{
	u128 base = 10 % mod, r = 1 % mod;

	for (; exp > 0; exp >>= 1) {
		if (exp & 1)
			r = r * base % mod;
		base = base * base % mod;
	}
	return r;
}

static u128 digits_mod(const struct decimal *d, u128 mod)
{
	const char *p = d->first;
	u128 r = 0;

	for (size_t i = 0; i < d->digits; i++)
		r = (r * 10 + (u128)digit(d, &p)) % mod;
	return r;
}

/* Return R with SHIFT zeros appended, modulo MOD; R is below MOD. */
static u128 zeros_mod(u128 r, long shift, u128 mod, size_t mod_digits)
{
	if (mod_digits <= SQUARE_DIGITS)
		return r * power_mod((unsigned long)shift, mod) % mod;
	for (; shift > 0; shift--)
		r = r * 10 % mod;
	return r;
}

/* Is A a multiple of B, with all digits? Neither is zero. */
static bool decimal_multiple(const struct decimal *a, const struct decimal *b)
{
	long shift = (a->top - (long)a->digits) - (b->top - (long)b->digits);
	const char *p = b->first;
	u128 mod = 0;

	for (size_t i = 0; i < b->digits; i++)
		mod = mod * 10 + (u128)digit(b, &p);
	if (mod == 0)
		return false; /* 0 is no divisor */
	if (shift >= 0)
		return zeros_mod(digits_mod(a, mod), shift, mod, b->digits) ==
		       0;
	for (; shift < 0; shift++)
		mod *= 10;
	return digits_mod(a, mod) == 0;
}

bool schema_num_multiple(const struct schema_num *n,
			 const struct schema_num *of)
{
	struct decimal a, b;
	long shift;

	if (n->integer && of->integer)
		return n->mag % of->mag == 0;
	decimal_of(&a, n);
	decimal_of(&b, of);
	if (a.digits == 0)
		return true;
	shift = (a.top - (long)a.digits) - (b.top - (long)b.digits);
	if (shift >= 0 ? b.digits <= SQUARE_DIGITS ||
			     (b.digits <= DIVISOR_DIGITS && shift <= ZEROS_MAX)
		       : b.digits + (unsigned long)-shift <= DIVISOR_DIGITS)
		return decimal_multiple(&a, &b);
	/* The divisor, made whole, has more digits than the dividend. */
	if (shift < 0 && a.digits < b.digits + (unsigned long)-shift)
		return false;
	return fmod(n->d, of->d) == 0;
}
