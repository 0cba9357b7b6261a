/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_format_net.c - addresses and names of hosts (RFC 791, 1123, 4291) and
 * e-mail addresses, for the table of schema_format.c. Pure functions of a
 * string; false is the only failure, worded by the caller.
 */
#include "proto/schema/schema_private.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LABEL_MAX 63u
#define NAME_MAX_BYTES 253u
#define LOCAL_MAX 64u

/*
 * Is S an address? inet_pton() wants a C string; a longer text is no address.
 */
static bool is_address(int family, const char *s, size_t len)
{
	char copy[64];
	struct in6_addr addr;

	if (len >= sizeof(copy) || memchr(s, '\0', len) != NULL)
		return false;
	memcpy(copy, s, len);
	copy[len] = '\0';
	return inet_pton(family, copy, &addr) == 1;
}

/* Refuse an octet with a leading zero: some programs read it as octal. */
bool schema_is_ipv4(const char *s, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		if (s[i] == '0' && (i == 0 || s[i - 1] == '.') &&
		    isdigit((unsigned char)s[i + 1]))
			return false;
	return is_address(AF_INET, s, len);
}

bool schema_is_ipv6(const char *s, size_t len)
{
	size_t tail = len;

	while (tail > 0 && s[tail - 1] != ':')
		tail--;
	if (memchr(s + tail, '.', len - tail) != NULL &&
	    !schema_is_ipv4(s + tail, len - tail))
		return false;
	return is_address(AF_INET6, s, len);
}

/*
 * Is S a label: letters, digits and inner hyphens? "--" as third and fourth
 * character is only for A-labels (xn--).
 */
static bool is_label(const char *s, size_t len)
{
	if (len == 0 || len > LABEL_MAX || s[0] == '-' || s[len - 1] == '-')
		return false;
	if (len >= 4 && s[2] == '-' && s[3] == '-' &&
	    (strncasecmp(s, "xn", 2) != 0 || len == 4))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '-')
			return false;
	return true;
}

bool schema_is_hostname(const char *s, size_t len)
{
	size_t start = 0;

	if (len == 0 || len > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i <= len; i++)
		if (i == len || s[i] == '.') {
			if (!is_label(s + start, i - start))
				return false;
			start = i + 1;
		}
	return true;
}

static bool is_atext(char c, bool utf8)
{
	return isalnum((unsigned char)c) ||
	       (c != '\0' && strchr("!#$%&'*+-/=?^_`{|}~", c) != NULL) ||
	       (utf8 && (unsigned char)c >= 0x80);
}

static bool is_dot_atom(const char *s, size_t len, bool utf8)
{
	bool dot = true; /* a dot may not come now */

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '.' ? dot : !is_atext(s[i], utf8))
			return false;
		dot = s[i] == '.';
	}
	return !dot;
}

static bool is_quoted(const char *s, size_t len, bool utf8)
{
	if (len < 2 || s[0] != '"' || s[len - 1] != '"')
		return false;
	for (size_t i = 1; i + 1 < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '\\') {
			if (++i + 1 == len)
				return false;
			c = (unsigned char)s[i];
		} else if (c == '"') {
			return false;
		}
		if (c < ' ' || c == 0x7f || (c >= 0x80 && !utf8))
			return false;
	}
	return true;
}

/* Is S a host name (idn-email allows more), or an address in brackets? */
static bool is_domain(const char *s, size_t len, bool utf8)
{
	if (len > 2 && s[0] == '[' && s[len - 1] == ']') {
		if (len > 7 && strncasecmp(s + 1, "IPv6:", 5) == 0)
			return schema_is_ipv6(s + 6, len - 7);
		return schema_is_ipv4(s + 1, len - 2);
	}
	if (!utf8)
		return schema_is_hostname(s, len);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)s[i] < 0x80 && s[i] != '.' && s[i] != '-' &&
		    !isalnum((unsigned char)s[i]))
			return false;
	return len > 0 && s[0] != '.' && s[len - 1] != '.';
}

static bool is_mailbox(const char *s, size_t len, bool utf8)
{
	const char *at = memrchr(s, '@', len);
	size_t local;

	if (at == NULL)
		return false;
	local = (size_t)(at - s);
	if (local > LOCAL_MAX)
		return false;
	return (is_dot_atom(s, local, utf8) || is_quoted(s, local, utf8)) &&
	       is_domain(at + 1, len - local - 1, utf8);
}

bool schema_is_email(const char *s, size_t len)
{
	return is_mailbox(s, len, false);
}

bool schema_is_idn_email(const char *s, size_t len)
{
	return is_mailbox(s, len, true);
}
