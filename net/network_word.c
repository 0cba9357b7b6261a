/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_word.c - words of network permissions, for manifests, grants and the packets
 * to paddock-egress. A word with a fault covers nothing.
 */
#include "net/network_word.h"

#include <string.h>

#define SEPARATORS ",;\"#"

size_t network_word_host(const char *word, size_t n)
{
	const char *equals = memchr(word, '=', n);

	return equals != NULL ? (size_t)(equals - word) : n;
}

bool network_word_next(const char **at, const char *end,
		       char rule[PATH_RULE_MAX])
{
	const char *from = *at + 1, *comma;
	size_t n;
	char *colon;

	if (*at >= end)
		return false;
	comma = memchr(from, ',', (size_t)(end - from));
	n = (size_t)((comma != NULL ? comma : end) - from);
	*at = from + n;
	if (n >= PATH_RULE_MAX)
		n = 0; /* an empty rule is refused */
	memcpy(rule, from, n);
	rule[n] = '\0';
	colon = strchr(rule, ':');
	if (colon != NULL)
		*colon = ' ';
	return true;
}

const char *network_word_fault(const char *word, size_t n)
{
	size_t host = network_word_host(word, n);
	const char *at = word + host, *end = word + n;
	char rule[PATH_RULE_MAX];
	struct path_rule path;
	struct host_rule r;
	const char *fault;

	if (n > NETWORK_WORD_MAX)
		return "a word of at most 16384 bytes would pass";
	fault = host_rule_parse(&r, word, host);
	if (fault != NULL || host == n)
		return fault;
	if (r.n_git > 0)
		return "a host with git+https has no other rules";
	while (fault == NULL && network_word_next(&at, end, rule))
		fault = strpbrk(rule, SEPARATORS) != NULL
			    ? "a path has %2C, %3B, %22 and %23 for a comma, "
			      "a semicolon, a quotation mark and a number sign"
			    : path_rule_parse(&path, rule, strlen(rule));
	return fault;
}

bool network_word_ok(const char *word, size_t n)
{
	return network_word_fault(word, n) == NULL;
}

bool network_word_covers(const char *granted, size_t n, const char *asked)
{
	size_t len = strlen(asked), host = network_word_host(asked, len);
	struct host_rule have, want;

	if (n == len && memcmp(granted, asked, n) == 0)
		return true;
	if (network_word_host(granted, n) < n ||
	    host_rule_parse(&have, granted, n) != NULL || have.n_git > 0 ||
	    host_rule_parse(&want, asked, host) != NULL)
		return false;
	if (want.host.kind == HOST_NET || have.host.kind == HOST_NET)
		return n == host && memcmp(granted, asked, n) == 0;
	if (want.host.kind == HOST_BELOW && have.host.kind != HOST_BELOW)
		return false;
	/* names below a granted name, or the same names */
	return host_rule_matches(&have, want.host.name, want.host.port) ||
	       (want.host.kind == have.host.kind &&
		want.host.port == have.host.port &&
		strcmp(want.host.name, have.host.name) == 0);
}
