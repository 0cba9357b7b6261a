/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_format_uri.c - the syntax of URIs (RFC 3986), IRIs (3987) and URI
 * templates (6570), for the table of schema_format.c and for mcp_content.c.
 * Pure functions of a string; false is the only failure, worded by the caller.
 */
#include "proto/schema/schema_private.h"

#include <ctype.h>
#include <string.h>

#define UNRESERVED "-._~"
#define SUB_DELIMS "!$&'()*+,;="

static size_t until(const char *s, size_t len, const char *any)
{
	size_t n = 0;

	while (n < len && (s[n] == '\0' || strchr(any, s[n]) == NULL))
		n++;
	return n;
}

/*
 * Has S only letters, digits, EXTRA, %XX and, in an IRI, non-ASCII characters?
 */
static bool only(const char *s, size_t len, const char *extra, bool iri)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '%') {
			if (len - i < 3 || !isxdigit((unsigned char)s[i + 1]) ||
			    !isxdigit((unsigned char)s[i + 2]))
				return false;
			i += 2;
		} else if (c >= 0x80 ? !iri
				     : !isalnum(c) &&
					   (c == '\0' || !strchr(extra, c))) {
			return false;
		}
	}
	return true;
}

/*
 * Is S a literal in brackets: an IPv6 address, or "v", a version and an address
 * of the future?
 */
static bool is_literal(const char *s, size_t len)
{
	size_t dot;

	if (len < 2 || s[len - 1] != ']')
		return false;
	if (tolower((unsigned char)s[1]) != 'v')
		return schema_is_ipv6(s + 1, len - 2);
	dot = until(s, len, ".");
	if (dot < 3 || dot + 2 >= len)
		return false;
	for (size_t i = 2; i < dot; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return memchr(s, '%', len) == NULL &&
	       only(s + dot + 1, len - dot - 2, UNRESERVED SUB_DELIMS ":",
		    false);
}

static bool is_authority(const char *s, size_t len, bool iri)
{
	const char *at = memchr(s, '@', len);
	size_t host;

	if (at != NULL) {
		if (!only(s, (size_t)(at - s), UNRESERVED SUB_DELIMS ":", iri))
			return false;
		len -= (size_t)(at + 1 - s);
		s = at + 1;
	}
	if (len > 0 && s[0] == '[') {
		host = until(s, len, "]");
		host += host < len;
		if (!is_literal(s, host))
			return false;
	} else {
		host = until(s, len, ":");
		if (!only(s, host, UNRESERVED SUB_DELIMS, iri))
			return false;
	}
	if (host == len)
		return true;
	for (size_t i = host + 1; i < len; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return s[host] == ':';
}

static size_t scheme_len(const char *s, size_t len)
{
	size_t n = 0;

	if (len == 0 || !isalpha((unsigned char)s[0]))
		return 0;
	while (n < len && (isalnum((unsigned char)s[n]) ||
			   (s[n] != '\0' && strchr("+-.", s[n]) != NULL)))
		n++;
	return n < len && s[n] == ':' ? n : 0;
}

static bool is_reference(const char *s, size_t len, bool absolute, bool iri)
{
	size_t n = scheme_len(s, len), path;

	if (n > 0) {
		s += n + 1;
		len -= n + 1;
	} else if (absolute || until(s, len, ":") < until(s, len, "/?#")) {
		return false;
	}
	if (len >= 2 && s[0] == '/' && s[1] == '/') {
		n = until(s + 2, len - 2, "/?#");
		if (!is_authority(s + 2, n, iri))
			return false;
		s += n + 2;
		len -= n + 2;
	}
	path = until(s, len, "?#");
	if (!only(s, path, UNRESERVED SUB_DELIMS ":@/", iri))
		return false;
	n = path + until(s + path, len - path, "#");
	if (n > path && !only(s + path + 1, n - path - 1,
			      UNRESERVED SUB_DELIMS ":@/?", iri))
		return false;
	return n == len ||
	       only(s + n + 1, len - n - 1, UNRESERVED SUB_DELIMS ":@/?", iri);
}

bool schema_is_uri(const char *s, size_t len)
{
	return is_reference(s, len, true, false);
}

bool schema_is_uri_reference(const char *s, size_t len)
{
	return is_reference(s, len, false, false);
}

bool schema_is_iri(const char *s, size_t len)
{
	return is_reference(s, len, true, true);
}

bool schema_is_iri_reference(const char *s, size_t len)
{
	return is_reference(s, len, false, true);
}

/* Is S empty, "*", or ":" with a number of one to four digits? */
static bool is_modifier(const char *s, size_t len)
{
	if (len == 0 || (len == 1 && s[0] == '*'))
		return true;
	if (s[0] != ':' || len < 2 || len > 5 || s[1] == '0')
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return true;
}

static bool is_variable(const char *s, size_t len)
{
	size_t name = until(s, len, ":*");

	if (name == 0 || s[0] == '.' || s[name - 1] == '.')
		return false;
	for (size_t i = 1; i < name; i++)
		if (s[i] == '.' && s[i - 1] == '.')
			return false;
	return only(s, name, "_.", false) && is_modifier(s + name, len - name);
}

/* Is S, the text between braces, an optional operator and variables? */
static bool is_expression(const char *s, size_t len)
{
	if (len > 0 && s[0] != '\0' && strchr("+#./;?&=,!@|", s[0]) != NULL) {
		s++;
		len--;
	}
	for (;;) {
		size_t n = until(s, len, ",");

		if (!is_variable(s, n))
			return false;
		if (n == len)
			return true;
		s += n + 1;
		len -= n + 1;
	}
}

bool schema_is_uri_template(const char *s, size_t len)
{
	while (len > 0) {
		size_t n = until(s, len, "{");

		if (!only(s, n, UNRESERVED SUB_DELIMS ":/?#[]@", true))
			return false;
		s += n;
		len -= n;
		if (len == 0)
			break;
		n = until(s, len, "}");
		if (n == len || !is_expression(s + 1, n - 1))
			return false;
		s += n + 1;
		len -= n + 1;
	}
	return true;
}
