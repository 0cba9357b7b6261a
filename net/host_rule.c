/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_rule.c - parses and matches hosts, methods and paths of network permissions, for
 * the supervisor's checks and for paddock-egress. A text that is not understood has a
 * fault, and a path that is not understood matches nothing.
 */
#include "net/host_rule.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define GIT "git+https://"
#define GIT_PORT "443"

/* ---- paths ---- */

static int hex_of(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_unreserved(unsigned char c)
{
	return isalnum(c) || (c != '\0' && strchr("-._~", c) != NULL);
}

/* Does the segment at P lead nowhere or elsewhere, for some servers with ";..."? */
static bool is_dots(const char *p)
{
	size_t n = strcspn(p, "/;");

	return (n == 1 && p[0] == '.') ||
	       (n == 2 && p[0] == '.' && p[1] == '.');
}

/* Copy the byte at PATH[*I], or the escape, to TO; moves *I. False: refused. */
static bool copy_byte(char *to, size_t *len, const char *path, size_t n,
		      size_t *i)
{
	unsigned char c = (unsigned char)path[(*i)++];
	int high, low;

	if (c <= ' ' || c >= 0x7f || c == '\\' || c == '?' || c == '#')
		return false;
	if (c == '%') {
		high = *i + 1 < n ? hex_of(path[*i]) : -1;
		low = high < 0 ? -1 : hex_of(path[*i + 1]);
		if (low < 0 || high * 16 + low < ' ' || high * 16 + low == 0x7f)
			return false;
		*i += 2;
		c = (unsigned char)(high * 16 + low);
		if (!is_unreserved(c)) {
			*len += (size_t)snprintf(to + *len, 4, "%%%02X", c);
			return true;
		}
	}
	to[(*len)++] = (char)c;
	return true;
}

bool host_rule_canon(char to[HOST_RULE_PATH_MAX], const char *path, size_t n)
{
	size_t len = 0, i = 0;

	if (n == 0 || path[0] != '/' || n > HOST_RULE_PATH_MAX - 4)
		return false;
	while (i < n)
		if (!copy_byte(to, &len, path, n, &i))
			return false;
	to[len] = '\0';
	if (strstr(to, "//") != NULL)
		return false;
	for (const char *p = to; p != NULL; p = strchr(p + 1, '/'))
		if (is_dots(p + 1))
			return false;
	return true;
}

/* Has the text at P, N bytes, an escaped slash, backslash or percent sign? */
static bool has_hidden(const char *p, size_t n)
{
	for (size_t i = 0; i + 2 < n; i++)
		if (memcmp(p + i, "%2F", 3) == 0 ||
		    memcmp(p + i, "%5C", 3) == 0 ||
		    memcmp(p + i, "%25", 3) == 0)
			return true;
	return false;
}

/* RULE and PATH begin within a segment. */
static bool match_path(const char *rule, const char *path)
{
	for (;; rule++, path++) {
		size_t n = strcspn(path, "/");

		if (*rule == '*' && rule[1] == '\0')
			return !has_hidden(path, strlen(path));
		if (*rule == '*') {
			if (n == 0 || has_hidden(path, n))
				return false;
			path += n;
			rule++;
		}
		if (*rule != *path)
			return false;
		if (*rule == '\0')
			return true;
	}
}

bool path_rule_matches(const struct path_rule *r, const char *method,
		       const char *path)
{
	return (strcmp(r->method, "*") == 0 ||
		strcmp(r->method, method) == 0) &&
	       match_path(r->path, path);
}

/* Is each * of the canonical PATH a whole segment, or the last byte? */
static bool stars_ok(const char *path)
{
	for (const char *p = strchr(path, '*'); p != NULL;
	     p = strchr(p + 1, '*'))
		if (p[1] != '\0' && (p[-1] != '/' || p[1] != '/'))
			return false;
	return true;
}

const char *path_rule_parse(struct path_rule *r, const char *text, size_t n)
{
	const char *space = memchr(text, ' ', n);
	size_t len = space == NULL ? 0 : (size_t)(space - text);
	char path[HOST_RULE_PATH_MAX];

	*r = (struct path_rule){0};
	if (len == 0 || len >= sizeof(r->method))
		return "a method, a space and a path would pass";
	for (size_t i = 0; i < len; i++)
		if (!isupper((unsigned char)text[i]) &&
		    !(text[i] == '*' && len == 1))
			return "a method is in capitals, or is *";
	memcpy(r->method, text, len);
	if (!host_rule_canon(path, space + 1, n - len - 1))
		return "a path begins with a slash, and has no empty or dot "
		       "segment, no query, no space and no backslash";
	if (strlen(path) >= sizeof(r->path))
		return "a path of at most 511 bytes would pass";
	if (!stars_ok(path))
		return "in a path * is a whole segment, or the last character";
	memcpy(r->path, path, strlen(path) + 1);
	return NULL;
}

/* ---- hosts ---- */

/* Has a name a byte beyond ASCII, in which case an A-label would pass? */
static bool is_unicode(const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)word[i] >= 0x80)
			return true;
	return false;
}

static const char *parse_host(struct host_pattern *p, const char *word,
			      size_t n)
{
	if (is_unicode(word, n))
		return "a name beyond ASCII is written as xn--...";
	if (host_pattern_parse(p, word, n) < 0)
		return "a name or an address, a colon and a port would pass";
	if (p->kind == HOST_ANY)
		return "* alone is no host; name the hosts";
	if (p->kind == HOST_NET && memchr(word, '/', n) != NULL)
		return "a network of addresses is no host";
	if (p->kind == HOST_BELOW && strchr(p->name, '.') == NULL)
		return "all names of a top-level domain are too many";
	if (p->port == 0)
		return "a port is missing, as in example.org:443";
	return NULL;
}

static const char *parse_git(struct host_rule *r, const char *rest, size_t n)
{
	static const char *const calls[HOST_RULE_GIT_RULES] = {
	    "GET %.*s/info/refs", "POST %.*s/git-upload-pack"};
	const char *slash = memchr(rest, '/', n), *errmsg;
	size_t host = slash == NULL ? n : (size_t)(slash - rest);
	char text[HOST_RULE_WORD_MAX + 32];

	if (slash == NULL || host == 0 || n - host < 2)
		return "the path of a repository is missing";
	errmsg = memchr(rest, ':', host) != NULL
		     ? parse_host(&r->host, rest, host)
		     : parse_host(&r->host, text,
				  (size_t)snprintf(text, sizeof(text),
						   "%.*s:" GIT_PORT, (int)host,
						   rest));
	for (size_t i = 0; errmsg == NULL && i < ARRAY_LEN(calls); i++) {
		int len = snprintf(text, sizeof(text), calls[i], /* NOLINT */
				   (int)(n - host), slash);

		errmsg = path_rule_parse(&r->git[i], text, (size_t)len);
	}
	r->n_git = ARRAY_LEN(calls);
	return errmsg;
}

const char *host_rule_parse(struct host_rule *r, const char *word, size_t n)
{
	*r = (struct host_rule){0};
	if (n == 0 || n > HOST_RULE_WORD_MAX || memchr(word, '\0', n) != NULL)
		return "a host of 1 to 600 bytes would pass";
	if (n > strlen(GIT) && memcmp(word, GIT, strlen(GIT)) == 0)
		return parse_git(r, word + strlen(GIT), n - strlen(GIT));
	return parse_host(&r->host, word, n);
}

bool host_rule_matches(const struct host_rule *r, const char *host,
		       unsigned port)
{
	return host_pattern_matches(&r->host, host, port);
}
